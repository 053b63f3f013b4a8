"""Baselines: classifiers that learn from candidate sets."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from scarce.bench.baselines.base import Baseline
from scarce.bench.baselines.em_lr import EMLogisticRegression
from scarce.bench.baselines.kernel_em import KernelEM
from scarce.bench.baselines.pl_knn import PLkNN
from scarce.bench.baselines.rf_soft import SoftForest

__all__ = [
    "BASELINES",
    "BASELINES_REVISION",
    "EMLogisticRegression",
    "KernelEM",
    "PLkNN",
    "Baseline",
    "SoftForest",
]

BASELINES: Mapping[str, Callable[[int], Baseline]] = MappingProxyType(
    {
        "pl-knn": lambda seed: PLkNN(),
        "em-lr": lambda seed: EMLogisticRegression(),
        "rf-soft": SoftForest,
        "kernel-em": lambda seed: KernelEM(),
    }
)
"""The function that makes each baseline from a seed, by name."""

BASELINES_REVISION = 1
"""Increase it when a change of a baseline changes its predictions; the trials are then run again."""
