"""The nearest weighted mean of given points to a signed mean of them, in the space of a kernel."""

import numpy as np

from scarce._arrays import FloatArray

__all__ = ["nearest_mean"]

_CHECK_EVERY = 50  # steps between two looks at how far from optimal the weights may be


def nearest_mean(
    kernel: FloatArray,
    signed: FloatArray,
    start: FloatArray,
    *,
    negligible: float,
    tolerance: float,
    max_steps: int = 20_000,
) -> FloatArray:
    """Return the weights v ≥ 0 summing to one that minimise (u − v)ᵀ K (u − v), for u of any signs summing to one.

    Each step moves weight between two points, exactly as far as is best: to the point i where the objective falls
    most, from the point j whose pair with i gains most (sequential minimal optimisation). It ends when the gap

        vᵀg − min_i g_i,    g = K(v − u),

    which bounds the excess of half the squared distance, is below `tolerance` times the squared distance.

    Parameters
    ----------
    kernel : array of shape (n, n)
        K, positive semi-definite.
    signed : array of shape (n,)
        u.
    start : array of shape (n,)
        Weights to start from.
    negligible : float
        A squared distance below which smaller ones need not be told apart.
    tolerance : float
        Relative error.
    max_steps : int
        When to give up: only distances of nearly zero get there.

    Examples
    --------
    The nearest point of the segment from (0, 0) to (1, 0) to their signed mean (2, 0) is (1, 0):

    >>> points = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> nearest_mean(points @ points.T, np.array([-1.0, 2.0]), np.array([1.0, 0.0]), negligible=0, tolerance=0).tolist()
    [0.0, 1.0]
    """
    weights, diagonal = start.astype(float), np.diag(kernel)
    pull = kernel @ signed
    length = float(signed @ pull)
    gradient = kernel @ weights - pull
    for step in range(max_steps):
        to = int(np.argmin(gradient))
        if step % _CHECK_EVERY == 0:
            along = float(weights @ gradient)
            distance = length - float(weights @ pull) + along  # squared
            if along - gradient[to] <= tolerance * max(distance, negligible):
                break
        gains = np.where(weights > 0, gradient - gradient[to], 0.0)
        curvatures = np.maximum(diagonal[to] + diagonal - 2 * kernel[to], 1e-12)
        source = int(np.argmax(gains * gains / curvatures))
        moved = min(gains[source] / curvatures[source], weights[source])
        weights[to] += moved
        weights[source] -= moved
        gradient += moved * (kernel[to] - kernel[source])
    return weights
