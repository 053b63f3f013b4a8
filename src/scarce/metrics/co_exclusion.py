"""A test of SCAR: pairs of classes should be excluded together as often as if they were excluded independently."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from scarce._validation import check_priors
from scarce.errors import LabelError
from scarce.labels import ComplementaryLabels

_MIN_RATE = 0.005  # classes with rates closer to 0 or 1 are left out: their z is far from normal
_MAX_C = 0.98
_MIN_STATISTIC = 6.0  # in experiments, Z was below 3 for SCAR labels with estimated priors, and above 14 for real candidate sets
_MIN_EXCESS = 0.005  # with many examples even a negligible dependence is significant


@dataclass(frozen=True)
class CoExclusion:
    """The result of `co_exclusion_test`: how much the exclusions of pairs of classes depend on each other.

    Attributes
    ----------
    statistic : float
        Z, the mean of z² over pairs; about 1 under SCAR.
    excess : float
        (Z − 1) / n, the strength of the dependence; unlike Z, it does not grow with n.
    n_pairs : int
        The number of pairs of classes that were compared.
    rejects_scar : bool
        Whether Z > 6 and (Z − 1) / n > 0.005.

    See Also
    --------
    co_exclusion_test : Returns it.

    Examples
    --------
    >>> CoExclusion(statistic=1.1, excess=0.0001, n_pairs=45, rejects_scar=False).n_pairs
    45
    """

    statistic: float
    excess: float
    n_pairs: int
    rejects_scar: bool


def co_exclusion_test(labels: ComplementaryLabels, priors: Any) -> CoExclusion:
    """Test whether classes are excluded independently given the true class, as under SCAR.

    Let N_k be 1 if class k is excluded and 0 otherwise, r_k its mean over the n examples, and c_k = r_k / (1 − π_k). Under SCAR
    two classes are excluded together with probability c_k c_l (1 − π_k − π_l), so the covariance of N_k and N_l is
    −c_k π_k c_l π_l, and

        z_kl = √n ( cov(N_k, N_l) + c_k π_k c_l π_l ) / √( r_k (1 − r_k) r_l (1 − r_l) )

    is approximately standard normal. Z is the mean of z² over all pairs of classes with rates in (0.005, 0.995). Examples with
    a confirmed class but no exclusions (ordinary labels) are ignored.

    Parameters
    ----------
    labels : ComplementaryLabels
        Labels with zero or more exclusions per example. SCAR cannot be tested if every example has exactly one by design.
    priors : array of shape (q,)
        π; the test needs good estimates or the true priors.

    Returns
    -------
    CoExclusion
        Z, the strength of the dependence, and whether SCAR is rejected.

    Raises
    ------
    LabelError
        If no example excludes two classes.
    PriorError
        If `priors` is not a distribution over the classes.

    See Also
    --------
    complementary_report : Uses the test to raise the alarm ``scar-violated``.

    Examples
    --------
    >>> from scarce.simulate import scar, from_transition
    >>> y = np.arange(2000) % 4
    >>> co_exclusion_test(scar(y, c=[0.2, 0.4, 0.6, 0.4]), [0.25] * 4).rejects_scar
    False
    >>> either_two_or_none = ComplementaryLabels.from_lists([[0, 1], []] * 1000, classes=4)
    >>> co_exclusion_test(either_two_or_none, [0.25] * 4).rejects_scar
    True
    """
    pi = check_priors(priors, labels.classes)
    if not len(labels) or labels.per_example.max() < 2:
        raise LabelError(
            "no example excludes two classes, so there are no pairs to compare; expected some examples with several exclusions: "
            "SCAR cannot be tested on one label per example; pass other labels."
        )
    excluded = labels.to_csr().astype(np.float64)[(labels.per_example > 0) | (labels.confirmed < 0)]
    n = excluded.shape[0]
    rates = np.asarray(excluded.mean(axis=0)).ravel()
    is_testable = (rates > _MIN_RATE) & (rates < 1 - _MIN_RATE)
    joint_rates = np.asarray((excluded.T @ excluded).todense()) / n
    c_pi = np.minimum(rates / np.maximum(1 - pi, _MIN_RATE), _MAX_C) * pi
    deviations = np.sqrt(np.maximum(rates * (1 - rates), 0))  # rounding may make a rate exceed 1
    covariance_excess = joint_rates - np.outer(rates, rates) + np.outer(c_pi, c_pi)
    pairs = np.triu(np.outer(is_testable, is_testable), k=1)
    z = np.sqrt(n) * covariance_excess[pairs] / np.outer(deviations, deviations)[pairs]
    statistic = float((z**2).mean()) if len(z) else 1.0
    excess = (statistic - 1) / n
    return CoExclusion(statistic, excess, len(z), statistic > _MIN_STATISTIC and excess > _MIN_EXCESS)
