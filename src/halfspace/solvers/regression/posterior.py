"""The posterior of linear regression, from a triangle that can be gathered in any number of batches.

Problem    w ~ N(0, I/α), y_i = w·x̃_i + noise of variance 1/β: the distribution of w given the examples.
Method     √S (X̃, y) = QR. With the singular values of R, those of the design,  Σ = (αI + βX̃ᵀSX̃)⁻¹  and  m = βΣ X̃ᵀSy  are
           sums over them, and so is the evidence. The posterior of a batch is the prior of the next: the triangle of two
           batches is that of both triangles, one below the other, and, if each was taken about its own mean, of one row more,
           the difference of the means (Chan, Golub and LeVeque 1983).
Noise      With a prior 1/σ² on an unknown variance σ² = 1/β, and the prior of the weights in units of it, λ = α/β, the variance
           integrates out: ν s²/σ² is chi-square with ν degrees of freedom, ν s² = ‖y - X̃m‖² + λ‖m‖², and weights and
           predictions are Student's t about the same means, with the scales that β = 1/s² gives.
Guarantee  Nothing is squared, so no digits are lost that the data have; batches give what all examples at once give, to
           rounding. `GaussianPosterior` recomputes every equation.
Reference  Bishop 2006, sections 3.3 and 3.5; of unknown noise Gelman et al. 2013, section 14.2. Golub and Van Loan 2013,
           section 6.5; Chan, Golub and LeVeque 1983, equation 2.1.
"""

from typing import NamedTuple

import numpy as np
from scipy import linalg

from halfspace._typing import FloatArray
from halfspace.certificates.regression.posterior import Sums, is_wide
from halfspace.rows.design import Design
from halfspace.solvers.regression.evidence import Found, Problem, least_ridge, log_evidence, maximise, precisions
from halfspace.solvers.regression.spectrum import triangle

__all__ = ["Posterior", "gathered", "infer", "integrated", "joined", "seconds"]

EPS = float(np.finfo(np.float64).eps)
LARGEST = 1e145
"""Sums beyond it have squares whose products overflow."""
PAIR, TRIPLE = 1.1e-7, 2e-10
"""Seconds of a pair of weights, its covariance and its proof, and of a pair of weights for one example more."""
SPANNED, WHOLE = 9e-10, 5e-10
"""Seconds of decompositions, over the cube of the examples where they span little, and of the weights where they do not."""


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
    """Return what the examples of a design say, with targets y, shape (n,), from which `y_mean` was subtracted."""
    targets = design.root * y[:, None]
    if design.tall:
        R = triangle(design, targets)
    else:
        R = np.asarray(np.linalg.qr(np.hstack([design.root * design.rows(0, design.n), targets]), mode="r"))
    return Sums(R, float(design.s.sum()), design.centre, y_mean)


def seconds(n: int, D: int) -> float:
    """Return about how many seconds a posterior of D weights takes from n examples, with its proof."""
    k = min(n, D + 1)
    if is_wide(k, D):
        return D * D * (PAIR + TRIPLE * k) + SPANNED * k * k * (0.4 * D + k)
    return D * D * (PAIR + TRIPLE * n + WHOLE * (D + k))


def joined(old: Sums, new: Sums) -> Sums:
    """Return what two batches say together."""
    total = old.total + new.total
    part, between = new.total / total, np.zeros((1, old.triangle.shape[1]))
    between[0, : old.x_mean.size], between[0, -1] = new.x_mean - old.x_mean, new.y_mean - old.y_mean
    R = np.asarray(np.linalg.qr(np.vstack([old.triangle, new.triangle, np.sqrt(old.total * part) * between]), mode="r"))
    x_mean = old.x_mean + part * between[0, : old.x_mean.size]
    return Sums(R, total, x_mean, float(old.y_mean + part * between[0, -1]))


def infer(sums: Sums, floor: float, alpha: float | None = None, beta: float | None = None) -> Posterior:
    """Return the posterior of the sums over all examples; precisions α and β that are not given maximise the evidence.

    `floor` is the sum of squares that is the rounding of the targets.
    """
    s, V, b, rest = _decomposed(sums)
    outside = np.array([rest if rest > floor else 0.0])
    task = Problem(s**2, b[:, None] ** 2, outside, sums.total, floor, least_ridge(sums.x_mean, sums.total))
    given = alpha is not None and beta is not None
    found = Found(alpha / beta, "", 1) if given else maximise(task, alpha, beta)  # type: ignore[operator]
    noise = precisions(task, found.ridge, alpha, beta)
    prior = float(noise[0] * found.ridge) if alpha is None else alpha
    damped = np.full(V.shape[1], prior)
    damped[: s.size] += noise[0] * s**2
    if V.shape[1] < V.shape[0]:  # along all other directions there is the prior
        covariance = (V * (1.0 / damped - 1.0 / prior)) @ V.T
        covariance[np.diag_indices(V.shape[0])] += 1.0 / prior
    else:
        covariance = (V / damped) @ V.T
    return Posterior(
        V[:, : s.size] @ (noise[0] * s * b / damped[: s.size]),
        covariance,
        prior,
        float(noise[0]),
        task.terms(found.ridge)[0],
        float(log_evidence(task, found.ridge, noise)[0]),
        found.at_edge,
        found.n_iter,
    )


def integrated(sums: Sums, found: Posterior, floor: float, freedom: float) -> Posterior:
    """Return the posterior with the same λ = α/β, and β = 1/s² for `freedom` degrees of freedom of the noise."""
    D, ridge = found.mean.size, found.alpha / found.beta
    error = float(np.square(sums.triangle[:, D] - sums.triangle[:, :D] @ found.mean).sum())
    beta = freedom / max(error + ridge * float(found.mean @ found.mean), floor)
    return found._replace(alpha=ridge * beta, beta=beta, covariance=found.covariance * (found.beta / beta))


def _decomposed(sums: Sums) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    """Return the singular values s (r,) above rounding, right vectors V, b = Uᵀy (r,) and what is outside them.

    All right vectors, shape (D, D); of wide sums those that span the examples, shape (D, k).
    """
    D = sums.triangle.shape[1] - 1
    if not np.abs(sums.triangle).max() < LARGEST:
        msg = "sums of squares overflow"
        raise np.linalg.LinAlgError(msg)
    U, s, Vt = linalg.svd(sums.triangle[:, :D], full_matrices=not sums.wide)
    subtracted = float(np.linalg.norm(sums.x_mean)) * np.sqrt(sums.total)
    s = s[s > max(sums.total, D) * EPS * max(s[0], subtracted)]
    along = U.T @ sums.triangle[:, D]
    return s, Vt.T, along[: s.size], float((along[s.size :] ** 2).sum())
