"""Predicting logits in evaluation mode without changing the model."""

import numpy as np
import pytest
import torch
from helpers.training import D, Q, make_data, make_net, same_state
from torch import nn

from scarce.training import map_logits, predict_logits

INPUTS, _ = make_data()


@pytest.mark.parametrize("training", [True, False])
def test_predict_logits_keeps_mode_and_statistics(training):
    model = make_net().train(training)
    model[3].eval()  # a layer that the user keeps in another mode
    before = {name: value.clone() for name, value in model.state_dict().items()}
    predict_logits(model, INPUTS)
    assert model.training is training
    assert model[0].training is training
    assert not model[3].training
    assert same_state(model.state_dict(), before)


def test_predict_logits_uses_evaluation_mode():
    model = make_net().train()
    logits = predict_logits(model, INPUTS)
    expected = model.eval()(torch.from_numpy(INPUTS))
    torch.testing.assert_close(logits, expected.detach())
    assert not logits.requires_grad


@pytest.mark.parametrize("batch_size", [1, 7, 50, 1000])
def test_predict_logits_does_not_depend_on_batch_size(batch_size):
    model = make_net()
    torch.testing.assert_close(
        predict_logits(model, INPUTS, batch_size=batch_size), predict_logits(model, INPUTS)
    )


def test_predict_logits_restores_mode_after_error():
    model = make_net().train()
    with pytest.raises(RuntimeError):
        predict_logits(model, np.zeros((3, D + 1), np.float32))
    assert model.training


def test_predict_logits_of_no_rows_is_empty():
    assert predict_logits(nn.Linear(D, Q), INPUTS[:0]).shape == (0, Q)


@pytest.mark.parametrize("batch_size", [1, 7, 50, 1000])
def test_map_logits_passes_one_batch_at_a_time(batch_size):
    model, seen = make_net().train(), []

    def best(logits):
        seen.append(len(logits))
        assert not logits.requires_grad
        return logits.argmax(dim=1)

    found = map_logits(model, INPUTS, best, batch_size=batch_size)
    assert found.tolist() == predict_logits(model, INPUTS).argmax(dim=1).tolist()
    assert sum(seen) == len(INPUTS)
    assert max(seen) <= batch_size
    assert model.training


def test_map_logits_restores_mode_after_error_in_function():
    model = make_net().train()
    with pytest.raises(ZeroDivisionError):
        map_logits(model, INPUTS, lambda logits: logits / (1 // 0))
    assert model.training
    assert torch.is_grad_enabled()
