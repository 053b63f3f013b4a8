"""One epoch of L-BFGS: a deterministic iteration over all rows, for linear models and losses that are likelihoods."""

import torch
from torch import nn

from scarce.errors import MethodError
from scarce.methods import Method
from scarce.models import Linear, Standardize
from scarce.training._batches import BatchReader
from scarce.training._epoch import check_finite_loss
from scarce.training.state import TrainingState

_CHUNK_ROWS = 1024
_CONVERGENCE_EPOCHS, _MAX_RELATIVE_CHANGE = 10, 1e-6  # of the loss over these epochs
_OTHER_LIKELIHOOD_METHODS = ("cc", "scar-likelihood")  # besides methods with `loss_is_likelihood`


def full_batch_epoch(state: TrainingState, reader: BatchReader) -> float:
    """Run one iteration and return the objective before it: the mean loss plus λ/2 ‖W‖².

    If the method has an `after_step` hook, it is then called for all rows, with the new weights.
    """
    n = len(reader.source)
    indices = list(torch.arange(n).split(_CHUNK_ROWS))  # type: ignore[no-untyped-call]
    model, method = state.model, state.method
    weights = [weight for weight in model.parameters() if weight.dim() > 1 and weight.requires_grad]

    def objective() -> float:
        state.optimizer.zero_grad()
        total = 0.0
        for batch in reader.read(indices):
            loss = method.loss(model(batch.inputs), batch) * (len(batch.index) / n)
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.item()
        for weight in weights:
            penalty = state.recipe.weight_decay / 2 * weight.square().sum()
            penalty.backward()  # type: ignore[no-untyped-call]
            total += penalty.item()
        return total

    model.train()
    value = float(state.optimizer.step(objective))
    if type(method).after_step is not Method.after_step:
        with torch.no_grad():
            for batch in reader.read(indices):
                method.loss(model(batch.inputs), batch)
                method.after_step(model, batch)
    method.after_epoch(state.epoch)
    check_finite_loss(torch.tensor([value]), state)
    return value


def has_converged(state: TrainingState, loss: float) -> bool:
    """Return whether the loss has hardly changed over the last ten epochs of the stage."""
    stage_records = state.history.records[sum(state.stages[:-1]) :]
    if len(stage_records) < _CONVERGENCE_EPOCHS:
        return False
    change = abs(stage_records[-_CONVERGENCE_EPOCHS]["loss"] - loss)
    return bool(change <= _MAX_RELATIVE_CHANGE * abs(loss))


def check_full_batch(state: TrainingState) -> None:
    """Raise a `MethodError` if method, model or processes do not support L-BFGS."""
    name = state.method.facts.name
    if not (state.method.loss_is_likelihood or name in _OTHER_LIKELIHOOD_METHODS):
        raise MethodError(
            f"optimizer='lbfgs' is for methods whose loss is a likelihood, and the loss of {name} is not; choose 'adam', or a "
            "method such as 'cc'."
        )
    if not _is_linear(state.model):
        raise MethodError(
            "optimizer='lbfgs' is for module='linear', and this model is not linear; choose 'adam', or module='linear'."
        )
    if state.is_distributed:
        raise MethodError("optimizer='lbfgs' is for one process; leave out distributed, or choose 'adam'.")


def _is_linear(model: nn.Module) -> bool:
    if isinstance(model, nn.Sequential) and len(model) == 2 and isinstance(model[0], Standardize):
        model = model[1]
    return isinstance(model, Linear)
