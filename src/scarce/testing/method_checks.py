"""Contract tests for methods: properties that every loss must have."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import Tensor, nn

from scarce.labels import ComplementaryLabels
from scarce.methods import Batch, Method, Problem, make_method
from scarce.models import make_model
from scarce.testing._blobs import three_blobs
from scarce.training import Callback, Recipe, TrainingState, predict_logits, train
from scarce.training._runtime import seeded

MakeMethod = Callable[[], Method]
Check = Callable[[MakeMethod], None]

_N_ROWS, _N_CLASSES = 6, 4
_PRIORS = torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=torch.float64)


def _labels(method: Method) -> ComplementaryLabels:
    """Return one label per row, with every class excluded; two or none on some rows if the method accepts that."""
    rows = [[0], [1], [2], [3], [1], [0]]
    if "multiple" in method.facts.accepts:
        rows[0] = [0, 3]
    if "unlabeled" in method.facts.accepts:
        rows[5] = []
    return _as_accepted(ComplementaryLabels.from_lists(rows, classes=_N_CLASSES), method)


def _as_accepted(labels: ComplementaryLabels, method: Method) -> ComplementaryLabels:
    """Return the labels as the method accepts them: as "no" answers if it needs a table of answers."""
    if not method.facts.needs_answers:
        return labels
    answers = np.where(labels.indicator(), 0.0, np.nan)
    return ComplementaryLabels.from_answer_matrix(answers, labels.classes)


def _prepared(make: MakeMethod, labels: ComplementaryLabels, priors: Tensor = _PRIORS) -> Method:
    method = make()
    q = labels.n_classes
    transition = (1 - torch.eye(q, dtype=torch.float64)) / (q - 1)
    method.prepare(Problem(labels, priors, transition, lambda: make_model("linear", (2,), q)))
    return method.double()


def _batch(labels: ComplementaryLabels, logits: Tensor) -> Batch:
    excluded = torch.from_numpy(labels.indicator(dtype=float)).to(logits)
    return Batch(torch.zeros(len(labels), 2, dtype=logits.dtype), excluded, torch.arange(len(labels)))


def _random_logits() -> Tensor:
    return torch.randn(_N_ROWS, _N_CLASSES, generator=torch.Generator().manual_seed(7), dtype=torch.float64)


def _linear() -> nn.Module:
    """Return the same linear model of three classes every time."""
    with seeded(0):
        return make_model("linear", (2,), 3)


def check_facts(make: MakeMethod) -> None:
    """The facts are complete: name, title, paper, assumption, and the kinds of rows that are accepted."""
    facts = make().facts
    assert facts.name
    assert facts.title
    assert facts.paper
    assert facts.assumes
    assert set(facts.accepts) <= {"single", "multiple", "unlabeled"}
    assert "single" in facts.accepts


def check_gradient(make: MakeMethod) -> None:
    """The loss is a scalar, and its gradient agrees with finite differences in float64."""
    labels = _labels(make())
    logits = _random_logits().requires_grad_(True)
    method = _prepared(make, labels)
    assert method.loss(logits, _batch(labels, logits)).shape == ()
    assert torch.autograd.gradcheck(lambda f: method.loss(f, _batch(labels, f)), (logits,))


def check_row_order(make: MakeMethod) -> None:
    """Permuting the rows does not change the loss."""
    labels, logits = _labels(make()), _random_logits()
    order = torch.tensor([3, 0, 5, 1, 4, 2])
    one = _prepared(make, labels).loss(logits, _batch(labels, logits))
    moved = labels[order.numpy()]
    other = _prepared(make, moved).loss(logits[order], _batch(moved, logits[order]))
    torch.testing.assert_close(one, other)


def check_class_order(make: MakeMethod) -> None:
    """Permuting the classes does not change the loss."""
    labels, logits = _labels(make()), _random_logits()
    order = torch.tensor([2, 0, 3, 1])
    renumbered = _as_accepted(
        ComplementaryLabels.from_indicator(labels.indicator()[:, order.numpy()]), make()
    )
    one = _prepared(make, labels).loss(logits, _batch(labels, logits))
    other = _prepared(make, renumbered, _PRIORS[order]).loss(
        logits[:, order], _batch(renumbered, logits[:, order])
    )
    torch.testing.assert_close(one, other)


def check_extreme_logits(make: MakeMethod) -> None:
    """Logits up to ±80 give finite losses, gradients and probabilities in float32."""
    labels = _as_accepted(ComplementaryLabels.from_single([0, 1, 2], classes=3), make())
    method = _prepared(make, labels, torch.full((3,), 1 / 3, dtype=torch.float64)).float()
    logits = torch.tensor([[60.0, -60.0, 0.0], [-80.0, 40.0, 39.0], [0.0, 1.0, 70.0]], requires_grad=True)
    loss = method.loss(logits, _batch(labels, logits))
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.isfinite()
    assert logits.grad is not None
    assert logits.grad.isfinite().all()
    assert method.probabilities(logits).isfinite().all()


def check_probabilities(make: MakeMethod) -> None:
    """Probabilities sum to one, and the class with the highest probability has the highest score."""
    labels, logits = _labels(make()), _random_logits()
    method = _prepared(make, labels)
    probabilities = method.probabilities(logits)
    torch.testing.assert_close(probabilities.sum(dim=1), torch.ones(_N_ROWS, dtype=torch.float64))
    assert torch.equal(probabilities.argmax(dim=1), method.scores(logits).argmax(dim=1))


def check_state(make: MakeMethod) -> None:
    """The state is complete: a prepared copy that loads it has the same loss, and an unprepared copy the same scores."""
    labels, logits = _labels(make()), _random_logits()
    batch = _batch(labels, logits)
    method = _prepared(make, labels)
    copy, reader = _prepared(make, labels), make()
    copy.load_state_dict(method.state_dict())
    reader.restore(method.prediction_state())
    torch.testing.assert_close(copy.loss(logits, batch), method.loss(logits, batch))
    torch.testing.assert_close(reader.scores(logits), method.scores(logits))
    torch.testing.assert_close(reader.probabilities(logits), method.probabilities(logits))


def check_inputs_unused(make: MakeMethod) -> None:
    """A method without `uses_inputs` works without inputs, since other processes hold them in distributed training."""
    labels, logits = _labels(make()), _random_logits()
    method, blind = _prepared(make, labels), _prepared(make, labels)
    if method.uses_inputs:
        return
    batch = _batch(labels, logits)
    without_inputs = replace(batch, inputs=batch.inputs[:0])
    torch.testing.assert_close(blind.loss(logits, without_inputs), method.loss(logits, batch))
    for each, rows in ((method, batch), (blind, without_inputs)):
        each.after_step(nn.Identity(), rows)
    torch.testing.assert_close(blind.state_dict(), method.state_dict())


class _Interrupt(Callback):
    """Interrupt a run after three epochs, as Ctrl-C would."""

    def on_epoch_end(self, run: TrainingState, record: dict[str, float]) -> None:
        if run.epoch == 3:
            raise KeyboardInterrupt


def check_resume(make: MakeMethod) -> None:
    """An interrupted and resumed run ends with the same weights as an uninterrupted one."""
    X, _, labels = three_blobs(60)

    def run(checkpoint: str | None, callbacks: tuple[Callback, ...] = ()) -> dict[str, Tensor]:
        model, method = _linear(), make()
        recipe = Recipe(epochs=5, batch_size=16, learning_rate=0.02)
        with suppress(KeyboardInterrupt):
            train(model, method, X, _as_accepted(labels, method), recipe, priors=[1 / 3] * 3, transition=(1 - torch.eye(3)) / 2,
                  make_model=lambda: make_model("linear", (2,), 3), checkpoint=checkpoint, callbacks=callbacks)  # fmt: skip
        return {
            **model.state_dict(),
            **{f"method.{name}": value for name, value in method.state_dict().items()},
        }

    with TemporaryDirectory() as folder:
        path = f"{folder}/run.safetensors"
        run(path, (_Interrupt(),))
        resumed, whole = run(path), run(None)
    assert resumed.keys() == whole.keys()
    for name, value in whole.items():
        assert torch.equal(resumed[name], value), f"{name} differs after an interruption"


def check_learns(make: MakeMethod) -> None:
    """Three blobs are learned from one uniform complementary label per point."""
    X, y, labels = three_blobs()
    model, method = _linear(), make()
    transition = (1 - torch.eye(3)) / 2
    recipe = Recipe(epochs=60, batch_size=100, learning_rate=0.02)
    train(model, method, X, _as_accepted(labels, method), recipe, priors=[1 / 3] * 3, transition=transition,
          make_model=lambda: make_model("linear", (2,), 3))  # fmt: skip
    predicted = labels.classes[method.scores(predict_logits(model, X)).argmax(dim=1).numpy()]
    accuracy = (predicted == y).mean()
    assert accuracy > 0.9, f"accuracy {accuracy:.3f} on three blobs"


_CHECKS: tuple[Check, ...] = (
    check_facts,
    check_gradient,
    check_row_order,
    check_class_order,
    check_extreme_logits,
    check_probabilities,
    check_state,
    check_inputs_unused,
    check_resume,
    check_learns,
)


def method_checks() -> list[tuple[str, Check]]:
    """Return the name and the function of every check, for `pytest.mark.parametrize`; a check takes a function that makes a method.

    Returns
    -------
    list of (str, callable)
        The checks.

    See Also
    --------
    check_method : Run all of them.
    complementary_estimator_checks : Return the checks of estimators.

    Examples
    --------
    >>> [name for name, _ in method_checks()][:2]
    ['check_facts', 'check_gradient']
    """
    return [(check.__name__, check) for check in _CHECKS]


def check_method(method: str | MakeMethod) -> None:
    """Run all checks on a method, and raise the error of the first that fails.

    Parameters
    ----------
    method : str or callable
        The name of a method, or a function without arguments that makes it.

    See Also
    --------
    method_checks : Return the checks one by one.
    check_complementary_estimator : Check an estimator.

    Examples
    --------
    >>> check_method("scarce")
    """
    make = (lambda: make_method(method)) if isinstance(method, str) else method
    for _, check in method_checks():
        check(make)
