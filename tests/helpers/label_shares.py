"""Shares of labels among the examples of a class, compared with probabilities."""

import numpy as np


def exclusion_shares(labels, codes):
    """Return the share of examples of class y (row) that exclude class k (column)."""
    excluded = labels.indicator()
    return np.array([excluded[codes == y].mean(0) for y in range(labels.n_classes)])


def within_five_errors(got, expected, n):
    """Whether shares out of n agree with their probabilities within five standard errors."""
    return (np.abs(got - expected) <= 5 * np.sqrt(expected * (1 - expected) / n) + 1e-12).all()
