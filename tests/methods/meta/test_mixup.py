"""Training on mixtures of rows."""

import numpy as np
import pytest
import torch
from helpers.methods import UNIFORM_PRIORS, random_labels
from torch import nn

from scarce.methods import make_method
from scarce.training import Callback, Recipe, train


@pytest.mark.parametrize(("name", "params"), [("meta-vpu", {}), ("meta-dist-pu", {"warm_up": 2})])
def test_mixup_training_on_images_resumes_exactly(name, params, tmp_path):
    images = np.random.default_rng(0).random((24, 1, 6, 6)).astype(np.float32)
    _, labels = random_labels(24)

    class Stop(Callback):
        def on_epoch_end(self, run, record):
            if run.epoch == 3:
                raise KeyboardInterrupt

    def run(checkpoint, callbacks=()):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(32, 3))
        train(model, make_method(name, **params), images, labels, Recipe(epochs=5, batch_size=8), priors=UNIFORM_PRIORS,
              checkpoint=checkpoint, callbacks=callbacks)  # fmt: skip
        return model.state_dict()

    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "run", [Stop()])
    resumed, uninterrupted = run(tmp_path / "run"), run(None)
    assert all(torch.equal(resumed[key], uninterrupted[key]) for key in uninterrupted)
