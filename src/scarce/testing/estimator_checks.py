"""Contract tests for estimators that learn from complementary labels, in addition to those of scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from scarce.labels import ComplementaryLabels
from scarce.testing._blobs import three_blobs

Check = Callable[[Any], None]


def _check_raises(action: Callable[[], object], *words: str) -> None:
    message = ""
    try:
        action()
    except ValueError as error:
        message = str(error)
    missing = [word for word in words if word not in message]
    assert not missing, f"expected a ValueError that mentions {missing}; it says: {message or 'nothing'}"


def check_label_formats_agree(estimator: Any) -> None:
    """`ComplementaryLabels`, a dense and a sparse indicator give the same predictions."""
    X, _, labels = three_blobs()
    numbered = ComplementaryLabels.from_indicator(labels.indicator())
    formats = [numbered, numbered.indicator(dtype=int), numbered.to_csr()]
    first, *others = [clone(estimator).fit(X, labels_in_format).predict(X) for labels_in_format in formats]
    for other in others:
        assert_array_equal(first, other)


def check_rejects_one_dimension(estimator: Any) -> None:
    """A one-dimensional `y` is rejected with an error that names both of its possible meanings."""
    X, y, _ = three_blobs()
    _check_raises(lambda: clone(estimator).fit(X, y), "from_single", "labels='ordinary'")


def check_rejects_invalid_rows(estimator: Any) -> None:
    """`X` and `y` of different lengths, NaN, and a row that excludes every class are rejected."""
    X, _, labels = three_blobs()
    _check_raises(lambda: clone(estimator).fit(X[:-1], labels), "299", "300")
    broken = X.copy()
    broken[7, 1] = np.nan
    _check_raises(lambda: clone(estimator).fit(broken, labels), "NaN")
    contradiction = labels.indicator(dtype=int)
    contradiction[3] = 1
    _check_raises(lambda: clone(estimator).fit(X, contradiction), "row 3", "every class")


def check_classes_and_predictions(estimator: Any) -> None:
    """`classes_` are the classes of the labels, and all predictions are among them."""
    X, _, labels = three_blobs()
    fitted = clone(estimator).fit(X, labels)
    assert_array_equal(fitted.classes_, labels.classes)
    assert np.isin(fitted.predict(X), labels.classes).all()


def check_probabilities(estimator: Any) -> None:
    """Probabilities have shape (n, q), sum to one and agree with the predictions."""
    X, _, labels = three_blobs()
    fitted = clone(estimator).fit(X, labels)
    probabilities = fitted.predict_proba(X)
    assert probabilities.shape == labels.shape
    assert_allclose(probabilities.sum(axis=1), 1, atol=1e-6)
    assert_array_equal(fitted.classes_[probabilities.argmax(axis=1)], fitted.predict(X))


def check_priors(estimator: Any) -> None:
    """`priors_` is a distribution over the classes."""
    X, _, labels = three_blobs()
    priors = clone(estimator).fit(X, labels).priors_
    assert priors.shape == (labels.n_classes,)
    assert priors.min() >= 0
    assert_allclose(priors.sum(), 1)


def check_deterministic(estimator: Any) -> None:
    """Two fits on the same data give the same probabilities."""
    X, _, labels = three_blobs()
    one, other = (clone(estimator).fit(X, labels).predict_proba(X) for _ in range(2))
    assert_array_equal(one, other)


def check_learns(estimator: Any) -> None:
    """Three blobs are learned from one complementary label per point, and `score` agrees with and without true classes."""
    X, y, labels = three_blobs()
    fitted = clone(estimator).fit(X, labels)
    assert fitted.score(X, y) > 0.9, f"accuracy {fitted.score(X, y):.3f} on three blobs"
    others, truth, fresh = three_blobs(seed=1)
    assert abs(fitted.score(others, fresh) - fitted.score(others, truth)) < 0.15


def check_zero_or_more_labels(estimator: Any) -> None:
    """Rows without a label are accepted, and so are rows that exclude all classes but one."""
    X, y, labels = three_blobs()
    excluded, turn = labels.indicator(), np.arange(len(X)) // 3 % 3  # the classes themselves alternate
    excluded[turn == 0] = False
    excluded[turn == 1] = y[turn == 1, None] != labels.classes
    fitted = clone(estimator).fit(X, ComplementaryLabels.from_indicator(excluded, labels.classes))
    assert fitted.score(X, y) > 0.8


_CHECKS: tuple[Check, ...] = (
    check_label_formats_agree,
    check_rejects_one_dimension,
    check_rejects_invalid_rows,
    check_classes_and_predictions,
    check_probabilities,
    check_priors,
    check_deterministic,
    check_learns,
    check_zero_or_more_labels,
)


def complementary_estimator_checks() -> list[tuple[str, Check]]:
    """Return the name and the function of every check, for `pytest.mark.parametrize`; a check takes an unfitted estimator.

    Returns
    -------
    list of (str, callable)
        The checks.

    See Also
    --------
    check_complementary_estimator : Run all of them.
    method_checks : Return the checks of methods.

    Examples
    --------
    >>> [name for name, _ in complementary_estimator_checks()][:2]
    ['check_label_formats_agree', 'check_rejects_one_dimension']
    """
    return [(check.__name__, check) for check in _CHECKS]


def check_complementary_estimator(estimator: Any) -> None:
    """Run all checks on an unfitted estimator, and raise the error of the first that fails.

    Parameters
    ----------
    estimator : estimator
        An unfitted classifier that takes `ComplementaryLabels` or an n × q indicator as `y`.

    See Also
    --------
    complementary_estimator_checks : Return the checks one by one.
    check_method : Check a method.

    Examples
    --------
    >>> from scarce import ScarceClassifier
    >>> check_complementary_estimator(ScarceClassifier(module="linear", epochs=60, learning_rate=0.02))
    """
    for _, check in complementary_estimator_checks():
        check(estimator)
