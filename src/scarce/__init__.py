"""Multi-class classification from complementary labels, which say what an example is *not*.

Start with `ComplementaryLabels` (or `read_labels` for files) and `ScarceClassifier`, a scikit-learn estimator.

Examples
--------
>>> from scarce import ComplementaryLabels
>>> ComplementaryLabels.from_lists([["cat"], ["cow", "dog"]], classes=["cat", "cow", "dog"])
ComplementaryLabels(n_examples=2, n_classes=3, n_exclusions=3)
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from scarce import functional as functional
    from scarce.estimators import ElkanNotoClassifier as ElkanNotoClassifier
    from scarce.estimators import EMComplementaryClassifier as EMComplementaryClassifier
    from scarce.estimators import MetaComplementaryClassifier as MetaComplementaryClassifier
    from scarce.estimators import ScarceClassifier as ScarceClassifier
    from scarce.estimators import load as load
    from scarce.labels import ComplementaryLabels as ComplementaryLabels
    from scarce.labels import read_labels as read_labels

# Import on first use, so that `import scarce` and `scarce --help` do not wait for torch.
_MODULES = {
    "ComplementaryLabels": "scarce.labels",
    "EMComplementaryClassifier": "scarce.estimators",
    "ElkanNotoClassifier": "scarce.estimators",
    "MetaComplementaryClassifier": "scarce.estimators",
    "ScarceClassifier": "scarce.estimators",
    "load": "scarce.estimators",
    "read_labels": "scarce.labels",
}

__all__ = ["__version__", "functional", *_MODULES]


def __getattr__(name: str) -> Any:
    if name == "functional":
        return import_module("scarce.functional")
    if name not in _MODULES:
        raise AttributeError(f"module 'scarce' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
