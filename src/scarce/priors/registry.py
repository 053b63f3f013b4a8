"""Prior estimators by name."""

from dataclasses import fields
from typing import Any

from scarce._validation import check_option, check_renamed, shorten
from scarce.errors import MethodError
from scarce.priors.base import PriorEstimator
from scarce.priors.best_bin import BestBin
from scarce.priors.dedpul import Dedpul
from scarce.priors.elkan_noto import ElkanNoto
from scarce.priors.kernel_mean import KernelMean
from scarce.priors.tice import Tice

PRIOR_ESTIMATORS: dict[str, type[PriorEstimator]] = {
    estimator.name: estimator for estimator in (BestBin, Dedpul, ElkanNoto, KernelMean, Tice)
}


def make_estimator(name: str, /, **params: Any) -> PriorEstimator:
    """Make a prior estimator by its name.

    Parameters
    ----------
    name : {"best-bin", "dedpul", "elkan-noto", "kernel-mean", "tice"}
        The name, a key of ``PRIOR_ESTIMATORS``.
    **params
        Parameters of the estimator, such as ``bootstrap=0``.

    Returns
    -------
    PriorEstimator
        A new estimator.

    See Also
    --------
    BestBin, Dedpul, ElkanNoto, KernelMean, Tice : The estimators.

    Examples
    --------
    >>> make_estimator("best-bin", scorer="linear").scorer
    'linear'
    >>> make_estimator("best-bin", colour="red")
    Traceback (most recent call last):
    scarce.errors.MethodError: best-bin has no parameter 'colour'; it takes bootstrap, shrink, seed, scorer, ... gamma.
    """
    kind = PRIOR_ESTIMATORS[check_option("estimator", name, PRIOR_ESTIMATORS)]
    check_renamed(name, kind, params)
    known = [field.name for field in fields(kind)]
    for param in params:
        if param not in known:
            raise MethodError(f"{name} has no parameter {shorten(param)}; it takes {', '.join(known)}.")
    return kind(**params)
