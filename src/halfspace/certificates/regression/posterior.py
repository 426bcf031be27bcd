"""The posterior certificate: a Gaussian belief about weights, every number of it recomputed from the data.

With a prior N(0, I/α) on the weights and Gaussian noise of variance 1/β the posterior is N(m, Σ) with  Σ⁻¹ = P = αI + βX̃ᵀSX̃
and  P m = βX̃ᵀSy. The log evidence is  ½ (D log α - log|P| + n log(β/2π) - β‖y - X̃m‖² - α‖m‖²); where α or β maximise it,
α‖m‖² = γ  or  β‖y - X̃m‖² = n - γ,  with  γ = D - α tr Σ  the effective number of weights (MacKay 1992, section 4).

Where the variance of the noise is integrated over, with ν degrees of freedom (the examples, less one for a free constant), β is
1/s²: β‖y - X̃m‖² + α‖m‖² = ν. The evidence is then that of λ = α/β alone,  Γ(ν/2) (π ν/β)^(-ν/2) |λ P⁻¹β|^½,  over √n if the
constant is free; where λ maximises it at the best variance,  α‖m‖² n/ν = γ.

The checker never forms P, whose condition number is that of the data squared: with the triangle of a QR factorisation of
√(βS) (X̃, y) above √α (I, 0), P = TᵀT, and mean, covariance and determinant follow from T. What rounding of the data does to
them grows with the condition number of T, and with the ratio of the targets to the noise; a claim gives that away.

Where columns are many and examples few, all that they say is in the span of the examples: with  X̃ = LQᵀ  the same is done
for the few coordinates Qᵀw, and along all other directions the posterior is the prior:  Σ = I/α + Q (Σ_L - I/α) Qᵀ.
"""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from scipy import linalg, sparse
from scipy.special import gammaln

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, held, some_weight
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.predictor import line
from halfspace.certificates.regression.ridge import fits, line_residuals, read_targets

__all__ = ["GaussianPosterior", "Sums", "is_wide"]

BLOCK = 1 << 20
WIDE = 1024
"""Columns from which the span of the examples is taken, where that has at most half as many dimensions."""
FINEST = 1e-9
"""No claim is finer than this: sums in another order must confirm it."""
COARSEST = 0.1
"""Numbers that are right only to this are no posterior."""


def is_wide(k: int, D: int) -> bool:
    """Tell whether a span of k dimensions is small among D weights, and these are very many."""
    return bool(D > WIDE and 2 * k <= D)


class Sums(NamedTuple):
    """What a posterior depends on: a triangle over all examples, less their means if the constant is free."""

    triangle: FloatArray
    """R of √S (X̃, y) = QR, shape (k, D + 1) with k <= D + 1."""
    total: float
    """Σ s."""
    x_mean: FloatArray
    """Mean that was subtracted, shape (d,); 0 if the constant is not free."""
    y_mean: float

    @property
    def wide(self) -> bool:
        """Whether the span of the examples is small among very many weights."""
        return is_wide(self.triangle.shape[0], self.triangle.shape[1] - 1)


class _Posterior(NamedTuple):
    """The posterior that belongs to two precisions."""

    T: FloatArray
    """Triangle with TᵀT = P; of wide sums, of P along Q."""
    mean: FloatArray
    covariance: FloatArray
    least: float
    """β‖y - X̃m‖² + α‖m‖²."""
    alpha: float
    Q: FloatArray | None = None
    """Orthonormal directions that span the examples, shape (D, k), of wide sums."""

    def length(self, v: FloatArray) -> float:
        """Return √(vᵀPv)."""
        if self.Q is None:
            return float(np.linalg.norm(self.T @ v))
        along = self.Q.T @ v
        return float(np.hypot(np.linalg.norm(self.T @ along), np.sqrt(self.alpha) * np.linalg.norm(v - self.Q @ along)))

    @classmethod
    def of(cls, sums: Sums, alpha: float, beta: float) -> Self:
        D = sums.triangle.shape[1] - 1
        if sums.wide:
            Q, L = np.linalg.qr(sums.triangle[:, :D].T)
            part = cls.of(sums._replace(triangle=np.column_stack([L.T, sums.triangle[:, D]])), alpha, beta)
            covariance = Q @ (part.covariance - np.eye(Q.shape[1]) / alpha) @ Q.T
            covariance[np.diag_indices(D)] += 1.0 / alpha
            return cls(part.T, Q @ part.mean, covariance, part.least, alpha, Q)
        stacked = np.vstack([np.sqrt(beta) * sums.triangle, np.sqrt(alpha) * np.eye(D, D + 1)])
        R = np.asarray(np.linalg.qr(stacked, mode="r"))
        T = R[:D, :D]
        inverse = linalg.solve_triangular(T, np.eye(D), check_finite=False)
        return cls(T, inverse @ R[:D, D], inverse @ inverse.T, float(R[D, D] ** 2), alpha)


@dataclass(frozen=True, eq=False)
class GaussianPosterior(Certificate):
    """Posterior mean and covariance of weights, precisions of prior and noise, and the evidence.

    Parameters
    ----------
    alpha, beta : float
        Precision of the prior on each weight, and of the noise.
    maximised : tuple of str
        Which of "alpha" and "beta" maximise the evidence.
    weights : ndarray, shape (D,)
        Posterior mean, the clamped weight last if there is one.
    covariance : ndarray, shape (D, D)
        Posterior covariance.
    constant : float
        The unpenalised constant; 0 if there is none.
    free : bool
        Whether the constant was fitted, at the mean of the examples.
    gamma : float
        Effective number of weights.
    log_evidence : float
        Log probability of the targets.
    precision : float
        Largest relative error of any of these, rounding included: of the mean in posterior standard deviations, of an entry
        of the covariance relative to its two variances, of the log evidence relative to the sum of its parts.
    clamp : float
        Value of the clamped input; 0 for none.
    sample_weight : ndarray, shape (n,), or None
        Weights of the examples, if not all 1.
    means : ndarray, shape (d + 2,), or None
        What doubts are measured from: the means of the features and of the targets, if the constant is free, else 0; and the
        sum of the weights of the examples. None in files of earlier versions.
    freedom : float or None
        Degrees of freedom of an unknown variance of the noise, which is integrated over; None if β is taken as known.

    Examples
    --------
    >>> X, y = np.array([[1.0]]), np.array([2.0])
    >>> sums = Sums(np.array([[1.0, 2.0]]), 1.0, np.zeros(1), 0.0)
    >>> proof = GaussianPosterior.of(sums, alpha=1.0, beta=1.0, weights=np.array([1.0]), covariance=np.array([[0.5]]))
    >>> print(proof, bool(proof.verify(X, y)), bool(proof.verify(X, y + 1)))
    posterior of 1 weight, log evidence -2.26551, to 1e-09 True False
    """

    alpha: Annotated[float, "finite >= 1e-300"]
    beta: Annotated[float, "finite >= 1e-300"]
    maximised: Annotated[tuple[str, ...], "tuple(k) of str", "asked"]
    weights: Annotated[FloatArray, "finite(D)"]
    covariance: Annotated[FloatArray, "finite(D,D)"]
    constant: float
    free: Annotated[bool, "bool", "asked"]
    gamma: float
    log_evidence: float
    precision: Annotated[float, "finite >= 0"]
    clamp: Annotated[float, "finite", "asked"]
    sample_weight: Annotated[FloatArray | None, "finite(n) >= 0 | none", "asked"]
    means: Annotated[FloatArray | None, "finite(e) | none"] = None
    freedom: Annotated[float | None, "finite > 0 | none"] = None

    def __str__(self) -> str:
        count = f"{self.weights.size} weight{'' if self.weights.size == 1 else 's'}"
        noise = "" if self.freedom is None else f" and the noise ({self.freedom:.6g} degrees of freedom)"
        return f"posterior of {count}{noise}, log evidence {self.log_evidence:.6g}, to {self.precision:.1g}"

    @classmethod
    def of(
        cls,
        sums: Sums,
        *,
        alpha: float,
        beta: float,
        weights: FloatArray,
        covariance: FloatArray,
        maximised: tuple[str, ...] = (),
        free: bool = False,
        clamp: float = 0.0,
        sample_weight: FloatArray | None = None,
        freedom: float | None = None,
    ) -> Self:
        """Claim a posterior from the sums it was made of; what rounding can have changed in them is given away."""
        d = sums.x_mean.size
        constant = float(sums.y_mean - sums.x_mean @ weights[:d]) if free else 0.0
        with np.errstate(all="ignore"):  # a claim that is not finite is refused
            truth = _Posterior.of(sums, alpha, beta)
            gamma = float(weights.size - alpha * np.trace(truth.covariance))
            evidence = _log_evidence(sums, (alpha, beta), truth, freedom, free=free)
            fields = (alpha, beta, maximised, held(weights), held(covariance), constant, free, gamma, evidence)
            about = clamp, sample_weight, np.append(sums.x_mean, [sums.y_mean, sums.total]), freedom
            claim = cls(*fields, 0.0, *about)
            found = max(value for value, _ in claim._errors(sums, truth))
            precision = max(FINEST, 8.0 * (found + _lost(sums, beta, truth)))
        return cls(*fields, precision, *about)

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:
        """Check what is handed in: finite examples, and one real target each."""
        return read_targets(X, y, type(self).__name__)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check what was maximised and fitted, how precise it is, and that some example has weight."""
        return [
            ({*self.maximised} <= {"alpha", "beta"}, "what was maximised is neither alpha nor beta"),
            (self.freedom is None or "beta" not in self.maximised, "beta is both integrated over and maximised"),
            (self.free or self.constant == 0.0, "the constant is not 0 though it was not fitted"),
            (self.precision <= COARSEST, f"the equations are not claimed to hold to {COARSEST:g}"),
            some_weight(self.sample_weight),
        ]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the posterior."""
        means = {} if self.means is None else {"means": self.means}
        doubt = {"covariance": self.covariance, "noise precision": self.beta, "clamp": self.clamp, "free constant": self.free}
        freedom = {} if self.freedom is None else {"degrees of freedom": self.freedom}
        return {**line(self), **doubt, **means, **freedom}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute the sums, and every equation."""
        shaped = fits(X, y, self.weights, self.clamp, self.sample_weight)
        if not shaped:
            return shaped
        s = np.ones(y.shape[0]) if self.sample_weight is None else self.sample_weight
        sums = _sums(X, y[:, 0], s, self)
        truth = _Posterior.of(sums, self.alpha, self.beta)
        errors, lost = self._errors(sums, truth), _lost(sums, self.beta, truth)
        loosest = max(FINEST, 64.0 * (max(value for value, _ in errors) + lost))
        return Verdict.of(
            *((bool(value + lost <= self.precision), text) for value, text in errors),
            (bool(self.precision <= loosest), f"all numbers are right to {loosest:.2g}, not only to {self.precision:.2g}"),
        )

    def residuals(self, X: Matrix, y: Labels) -> tuple[FloatArray, FloatArray]:
        """Return the residuals of targets y (n, 1), and how far rounding may have moved each, shape (n,)."""
        return line_residuals(self, X, y)

    def _errors(self, sums: Sums, truth: _Posterior) -> list[tuple[float, str]]:
        """Return the relative error of each number, with what to say if it is too large."""
        m, D = self.weights, self.weights.size
        constant = float(sums.y_mean - sums.x_mean @ m[: sums.x_mean.size]) if self.free else 0.0
        scale = abs(sums.y_mean) + float(np.abs(sums.x_mean * m[: sums.x_mean.size]).sum()) or 1.0
        gamma = D - self.alpha * np.trace(truth.covariance)
        evidence = _log_evidence(sums, (self.alpha, self.beta), truth, self.freedom, free=self.free)
        spread = sums.total * (1.0 + abs(np.log(self.beta))) + truth.least + D * (1.0 + abs(np.log(self.alpha)))
        deviations = np.sqrt(np.diag(truth.covariance))
        off = truth.length(m - truth.mean)
        signal = np.sqrt(self.beta) * np.linalg.norm(sums.triangle[:, D])
        seen = min(signal, np.sqrt(D) + truth.length(truth.mean))
        found = [
            (np.divide(off, seen) if off else 0.0, "mean"),
            (np.abs((self.covariance - truth.covariance) / np.outer(deviations, deviations)).max(), "covariance"),
            (abs(constant - self.constant) / scale, "constant"),
            (abs(self.gamma - gamma) / D, "effective number of weights"),
            (abs(evidence - self.log_evidence) / spread, "log evidence"),
        ]
        if self.means is not None:
            true, spread = np.append(sums.x_mean, [sums.y_mean, sums.total]), np.linalg.norm(sums.triangle, axis=0)
            size = np.append(np.abs(true[:-1]) + np.delete(spread, np.s_[sums.x_mean.size : D]) / np.sqrt(sums.total), true[-1])
            away = np.abs(self.means - true) if self.means.shape == true.shape else np.full(1, np.inf)
            found.append(((away / np.where(size > 0.0, size, 1.0)).max(), "means"))
        share = 1.0
        if self.freedom is not None:
            share = sums.total / self.freedom
            found.append((abs(self.freedom - (sums.total - self.free)) / sums.total, "number of degrees of freedom"))
            found.append((abs(truth.least - self.freedom) / self.freedom, "variance of the noise"))
        if "alpha" in self.maximised:
            found.append((abs(gamma - share * self.alpha * (m @ m)) / D, "largest evidence by alpha"))
        if "beta" in self.maximised:
            error = np.square(sums.triangle[:, D] - sums.triangle[:, :D] @ m).sum()
            found.append((abs(sums.total - gamma - self.beta * error) / sums.total, "largest evidence by beta"))
        return [(float(value), f"the {name} is off by {value:.2g}") for value, name in found]


def _lost(sums: Sums, beta: float, truth: _Posterior) -> float:
    """Return what rounding of the data can change in the posterior, relative to its numbers; infinite if there is none."""
    if not np.isfinite(truth.T).all():
        return float("inf")
    singular, D = np.linalg.svd(truth.T, compute_uv=False), sums.triangle.shape[1] - 1
    spare = 0.0
    if truth.Q is not None:  # a variance below that of the prior is a difference
        singular = np.append(singular, np.sqrt(truth.alpha))
        spare = 4.0 * np.sqrt(D) * EPS / (truth.alpha * float(np.diag(truth.covariance).min()))
    scale = np.sqrt(beta * sums.total)
    x, y = scale * np.linalg.norm(sums.x_mean), scale * abs(sums.y_mean) + np.sqrt(beta) * np.linalg.norm(sums.triangle[:, -1])
    return spare + float(np.sqrt(D) * EPS * ((singular[0] + x) / singular[-1] + y / np.sqrt(sums.total)))


def _log_evidence(
    sums: Sums, precisions: tuple[float, float], truth: _Posterior, freedom: float | None, *, free: bool
) -> float:
    """Return the log probability of the targets, for known precisions α and β or with that of the noise integrated over."""
    alpha, beta = precisions
    determinant = float(np.log(np.abs(np.diag(truth.T) / np.sqrt(alpha))).sum())  # of T, α taken out
    if freedom is None:
        return float(0.5 * (sums.total * np.log(beta / (2 * np.pi)) - truth.least) - determinant)
    constant = 0.5 * np.log(sums.total) if free else 0.0
    return float(gammaln(freedom / 2) - 0.5 * freedom * np.log(np.pi * truth.least / beta) - determinant - constant)


def _sums(X: Matrix, y: FloatArray, s: FloatArray, claim: GaussianPosterior) -> Sums:
    """Return the triangle over the examples, block by block."""
    d, D, total = X.shape[1], claim.weights.size, float(s.sum())
    x_mean = np.asarray(X.T @ s).ravel() / total if claim.free else np.zeros(d)
    y_mean = float(s @ y) / total if claim.free else 0.0
    R = np.zeros((0, D + 1))
    step = max(2 * D, BLOCK // D)
    for first in range(0, y.size, step):
        rows = slice(first, first + step)
        block = X[rows].toarray() if sparse.issparse(X) else X[rows]
        A = np.full((block.shape[0], D + 1), float(claim.clamp))
        A[:, :d] = block
        A[:, :d] -= x_mean
        A[:, D] = y[rows] - y_mean
        R = np.asarray(np.linalg.qr(np.vstack([R, np.sqrt(s[rows])[:, None] * A]), mode="r"))
    return Sums(R, total, x_mean, y_mean)
