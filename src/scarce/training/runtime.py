"""Where to compute."""

import torch

from scarce.errors import MethodError

__all__ = ["usable_device"]


def usable_device(device: str | torch.device) -> torch.device:
    """Return the device of that name, after making sure that it can compute here.

    Examples
    --------
    >>> usable_device("cpu")
    device(type='cpu')
    """
    try:
        torch.zeros(1, device=device).item()
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise MethodError(
            f"device={str(device)!r} cannot be used: {reason}; try device='cpu' (--device)."
        ) from error
    return torch.device(device)
