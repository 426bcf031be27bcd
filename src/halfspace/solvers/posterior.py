"""The posterior of linear regression, from sums that can be gathered in any number of batches.

Problem    w ~ N(0, I/α), y_i = w·x̃_i + noise of variance 1/β: the distribution of w given the examples.
Method     P = αI + βX̃ᵀSX̃,  Σ = P⁻¹,  m = βΣ X̃ᵀSy,  by the eigenvalues of X̃ᵀSX̃, which also give the evidence. The posterior of a
           batch is the prior of the next: precisions and precision-weighted means add up, that is, the sums do. Sums about
           different means are joined exactly (Chan, Golub and LeVeque 1983).
Guarantee  Batches give what all examples at once give, to rounding. `GaussianPosterior` recomputes every equation.
Reference  Bishop 2006, sections 3.3 and 3.5; Chan, Golub and LeVeque 1983, equation 2.1.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from halfspace._typing import FloatArray
from halfspace.certificates.posterior import Sums
from halfspace.data.design import Design
from halfspace.solvers.evidence import Found, Problem, log_evidence, maximise, precisions

__all__ = ["Posterior", "gathered", "infer", "joined"]

EPS = float(np.finfo(np.float64).eps)


class Posterior(NamedTuple):
    """What the examples say about the weights."""

    mean: FloatArray
    covariance: FloatArray
    alpha: float
    beta: float
    gamma: float
    log_evidence: float
    at_edge: str
    n_iter: int


def gathered(design: Design, y: FloatArray, y_mean: float) -> Sums:
    """Return the sums over the examples of a design with targets y, shape (n,), from which `y_mean` was subtracted.

    Examples
    --------
    >>> gathered(Design(np.array([[1.0], [2.0]]), np.ones(2), 0.0, np.zeros(1)), np.array([1.0, 3.0]), 0.0).cross
    array([7.])
    """
    s = design.s
    if design.tall:
        normal = design.normal()
    else:
        A = design.root * design.rows(0, design.n)
        normal = A.T @ A
    cross = design.combine((s * y)[:, None])[:, 0]
    return Sums(normal, cross, float(s @ y**2), float(s.sum()), design.centre, y_mean)


def joined(old: Sums, new: Sums) -> Sums:
    """Return the sums over two batches from those of each.

    Examples
    --------
    >>> one = Sums(np.zeros((1, 1)), np.zeros(1), 0.0, 1.0, np.array([1.0]), 2.0)
    >>> two = Sums(np.zeros((1, 1)), np.zeros(1), 0.0, 1.0, np.array([3.0]), 6.0)
    >>> joined(one, two).cross  # x = 1, 3 and y = 2, 6 about their means
    array([4.])
    """
    total = old.total + new.total
    share = old.total * new.total / total
    x, y = np.zeros(old.cross.size), new.y_mean - old.y_mean
    x[: old.x_mean.size] = new.x_mean - old.x_mean
    part = new.total / total
    return Sums(
        old.normal + new.normal + share * np.outer(x, x),
        old.cross + new.cross + share * y * x,
        old.square + new.square + share * y * y,
        total,
        old.x_mean + part * x[: old.x_mean.size],
        old.y_mean + part * y,
    )


def infer(sums: Sums, floor: float, alpha: float | None = None, beta: float | None = None) -> Posterior:
    """Return the posterior from sums; precisions that are not given maximise the evidence.

    Parameters
    ----------
    sums : Sums
        Over all examples.
    floor : float
        Sum of squares that is the rounding of the targets.
    alpha, beta : float, optional
        Precision of prior and noise.

    Examples
    --------
    >>> found = infer(Sums(np.array([[3.0]]), np.array([2.0]), 4.0, 1.0, np.zeros(1), 0.0), 0.0, 1.0, 1.0)
    >>> found.mean, found.covariance
    (array([0.5]), array([[0.25]]))
    """
    values, V = linalg.eigh(sums.normal)
    kept = values > values.size * EPS * values[-1]
    along = V.T @ sums.cross
    b2 = (along[kept] ** 2 / values[kept])[:, None]
    rest = max(sums.square - float(b2.sum()), floor, 4.0 * EPS * sums.square)
    task = Problem(values[kept], b2, np.array([rest]), sums.total)
    given = alpha is not None and beta is not None
    found = Found(alpha / beta, "", 1) if given else maximise(task, alpha, beta)  # type: ignore[operator]
    noise = precisions(task, found.ridge, alpha, beta)
    prior = float(noise[0] * found.ridge)
    damped = prior + noise[0] * np.where(kept, values, 0.0)
    return Posterior(
        V @ (noise[0] * np.where(kept, along, 0.0) / damped),
        (V / damped) @ V.T,
        prior,
        float(noise[0]),
        task.terms(found.ridge)[0],
        float(log_evidence(task, found.ridge, noise)[0]),
        found.at_edge,
        found.n_iter,
    )
