"""Shares of labels among the examples of a class, and distances between distributions of labels."""

import numpy as np

from scarce.simulate import uniform_transition


def exclusion_shares(labels, codes):
    """Return the share of examples of class y (row) that exclude class k (column)."""
    excluded = labels.indicator()
    return np.array([excluded[codes == y].mean(0) for y in range(labels.n_classes)])


def within_five_errors(got, expected, n):
    """Whether shares out of n agree with their probabilities within five standard errors."""
    return (np.abs(got - expected) <= 5 * np.sqrt(expected * (1 - expected) / n) + 1e-12).all()


def total_variation(transition):
    """The largest distance, over k, between p(y | k excluded) and p(y | y ≠ k), on balanced classes."""
    given_excluded = transition / transition.sum(0)
    given_wrong = uniform_transition(len(transition))
    return np.abs(given_excluded - given_wrong).sum(0).max() / 2
