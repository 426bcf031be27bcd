"""The posterior certificate: a Gaussian belief about weights, every equation of it recomputed from the data.

With a prior N(0, I/α) on the weights and Gaussian noise of variance 1/β the posterior is N(m, Σ) with  P = αI + βX̃ᵀSX̃,
P m = βX̃ᵀSy  and  ΣP = I. The log evidence is  ½ (D log α - log|P| + n log(β/2π) - β‖y - X̃m‖² - α‖m‖²); where α or β maximise
it,  α‖m‖² = γ  or  β‖y - X̃m‖² = n - γ,  with  γ = D - α tr Σ  the effective number of weights (MacKay 1992, section 4).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.arithmetic import is_array, is_number
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.ridge import read_targets

__all__ = ["GaussianPosterior", "Sums"]

BLOCK = 1 << 20
ROUNDED = 1e-5
"""Share of β Σ s y² that counts as size of an equation's terms: at a precision of 1e-9 that allows 1e-14 of it."""
COARSEST = 1e-2
"""Equations that hold only to this are no posterior."""


class Sums(NamedTuple):
    """What a posterior depends on: sums over examples, less their means if the constant is free."""

    normal: FloatArray
    """X̃ᵀSX̃, shape (D, D)."""
    cross: FloatArray
    """X̃ᵀSy, shape (D,)."""
    square: float
    """Σ s y²."""
    total: float
    """Σ s."""
    x_mean: FloatArray
    """Mean that was subtracted, shape (d,); 0 if the constant is not free."""
    y_mean: float


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
        Largest relative error of the equations, with room for rounding.
    clamp : float
        Value of the clamped input; 0 for none.
    sample_weight : ndarray, shape (n,), or None
        Weights of the examples, if not all 1.

    Examples
    --------
    >>> X, y = np.array([[1.0]]), np.array([2.0])
    >>> sums = Sums(np.array([[1.0]]), np.array([2.0]), 4.0, 1.0, np.zeros(1), 0.0)
    >>> proof = GaussianPosterior.of(sums, alpha=1.0, beta=1.0, weights=np.array([1.0]), covariance=np.array([[0.5]]))
    >>> print(proof, bool(proof.verify(X, y)), bool(proof.verify(X, y + 1)))
    posterior of 1 weight, log evidence -2.26551, to 1e-09 True False
    """

    alpha: float
    beta: float
    maximised: tuple[str, ...]
    weights: FloatArray
    covariance: FloatArray
    constant: float
    free: bool
    gamma: float
    log_evidence: float
    precision: float
    clamp: float
    sample_weight: FloatArray | None

    def __str__(self) -> str:
        count = f"{self.weights.size} weight{'' if self.weights.size == 1 else 's'}"
        return f"posterior of {count}, log evidence {self.log_evidence:.6g}, to {self.precision:.1g}"

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
    ) -> Self:
        """Claim a posterior from the sums it was made of; what rounding can have changed in them is given away."""
        d = sums.x_mean.size
        constant = float(sums.y_mean - sums.x_mean @ weights[:d]) if free else 0.0
        error = float(sums.square - 2.0 * weights @ sums.cross + weights @ sums.normal @ weights)
        gamma = float(weights.size - alpha * np.trace(covariance))
        evidence = _log_evidence(sums, alpha, beta, weights, max(error, 0.0))
        fields = (alpha, beta, maximised, weights.copy(), covariance.copy(), constant, free, gamma, evidence)
        claim = cls(*fields, 0.0, clamp, sample_weight)
        found = max(value for value, _ in claim._errors(sums, max(error, 0.0)))
        return cls(*fields, max(1e-9, 8.0 * found), clamp, sample_weight)

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:
        """Check what is handed in: finite examples, and one real target each."""
        return read_targets(X, y, type(self).__name__)

    def well_formed(self) -> Verdict:
        """Check types, shapes and ranges of the fields."""
        s = self.sample_weight
        weighted = s is None or (is_array(s, 1) and bool((s >= 0).all()) and bool(s.any()))
        rows = is_array(self.weights, 1) and is_array(self.covariance, 2)
        named = isinstance(self.maximised, tuple) and all(isinstance(name, str) for name in self.maximised)
        fitted = is_number(self.constant) and isinstance(self.free, bool) and (self.free or self.constant == 0.0)
        precise = is_number(self.precision, least=0.0) and self.precision <= COARSEST
        return Verdict.of(
            (all(is_number(v, least=1e-300) for v in (self.alpha, self.beta)), "the precisions are not positive numbers"),
            (named and {*self.maximised} <= {"alpha", "beta"}, "what was maximised is neither alpha nor beta"),
            (rows and self.covariance.shape == (self.weights.size,) * 2, "mean and covariance do not belong together"),
            (fitted, "the constant is not a number, or not 0 though it was not fitted"),
            (is_number(self.gamma) and is_number(self.log_evidence), "the evidence is not a number"),
            (precise, f"the equations are not claimed to hold to {COARSEST:g}"),
            (is_number(self.clamp), "the clamped input is not a number"),
            (weighted, "the sample weights are not numbers >= 0"),
        )

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute the sums, and every equation."""
        D = X.shape[1] + bool(self.clamp)
        shaped = Verdict.of(
            (self.weights.shape == (D,), f"weights for {self.weights.size} inputs, but the data have {D}"),
            (self.sample_weight is None or self.sample_weight.shape == y.shape[:1], "one sample weight per example expected"),
            (y.shape[1] == 1, f"the certificate is about one target, but y has {y.shape[1]}"),
        )
        if not shaped:
            return shaped
        s = np.ones(y.shape[0]) if self.sample_weight is None else self.sample_weight
        sums, error = _sums(X, y[:, 0], s, self)
        return Verdict.of(*((bool(value <= self.precision), text) for value, text in self._errors(sums, error)))

    def _errors(self, sums: Sums, error: float) -> list[tuple[float, str]]:
        """Return the relative error of each equation, with what to say if it is too large."""
        m, S, D = self.weights, self.covariance, self.weights.size
        P = self.beta * sums.normal + self.alpha * np.eye(D)
        right = self.beta * sums.cross
        size = np.linalg.norm(P)
        constant = float(sums.y_mean - sums.x_mean @ m[: sums.x_mean.size]) if self.free else 0.0
        scale = abs(sums.y_mean) + float(np.abs(sums.x_mean * m[: sums.x_mean.size]).sum()) or 1.0
        evidence = _log_evidence(sums, self.alpha, self.beta, m, error)
        rounded = ROUNDED * self.beta * sums.square  # residuals far below the targets are known only to the targets' rounding
        spread = sums.total * (1.0 + abs(np.log(self.beta))) + self.beta * error + D * (1.0 + abs(np.log(self.alpha))) + rounded
        found = [
            (_ratio(np.linalg.norm(P @ m - right), size * np.linalg.norm(m) + np.linalg.norm(right)), "mean"),
            (_ratio(np.linalg.norm(S @ P - np.eye(D)), np.linalg.norm(S) * size), "covariance"),
            (abs(constant - self.constant) / scale, "constant"),
            (abs(self.gamma - (D - self.alpha * np.trace(S))) / D, "effective number of weights"),
            (abs(evidence - self.log_evidence) / spread, "log evidence"),
        ]
        if "alpha" in self.maximised:
            found.append((abs(self.gamma - self.alpha * (m @ m)) / D, "largest evidence by alpha"))
        if "beta" in self.maximised:
            off = abs(sums.total - self.gamma - self.beta * error) / (sums.total + rounded)
            found.append((off, "largest evidence by beta"))
        return [(float(value), f"the equation of the {name} is off by {value:.2g}") for value, name in found]

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        weighted = body["sample_weight"]
        arrays = {
            "weights": np.asarray(body["weights"], dtype=np.float64),
            "covariance": np.asarray(body["covariance"], dtype=np.float64),
            "sample_weight": None if weighted is None else np.asarray(weighted, dtype=np.float64),
            "maximised": tuple(body["maximised"]),
        }
        return cls(**{**body, **arrays})


def _ratio(part: Any, whole: Any) -> float:
    """Return part / whole; 0 where nothing is compared with nothing."""
    return float(part / whole) if whole > 0.0 else float(part)


def _log_evidence(sums: Sums, alpha: float, beta: float, m: FloatArray, error: float) -> float:
    """Return the log probability of the targets, for their squared residuals at the posterior mean."""
    D = m.size
    sign, determinant = np.linalg.slogdet(np.eye(D) + (beta / alpha) * sums.normal)  # |P| = α^D times this
    if sign <= 0:
        return float("nan")
    return float(0.5 * (sums.total * np.log(beta / (2 * np.pi)) - determinant - beta * error - alpha * (m @ m)))


def _sums(X: Matrix, y: FloatArray, s: FloatArray, claim: GaussianPosterior) -> tuple[Sums, float]:
    """Return the sums over the examples, block by block, and the squared residuals at the posterior mean."""
    d, D, total = X.shape[1], claim.weights.size, float(s.sum())
    x_mean = np.asarray(X.T @ s).ravel() / total if claim.free else np.zeros(d)
    y_mean = float(s @ y) / total if claim.free else 0.0
    normal, cross, error = np.zeros((D, D)), np.zeros(D), 0.0
    step = max(1, BLOCK // D)
    for first in range(0, y.size, step):
        rows = slice(first, first + step)
        block = X[rows].toarray() if sparse.issparse(X) else X[rows]
        A = np.full((block.shape[0], D), claim.clamp)
        A[:, :d] = block
        A[:, :d] -= x_mean
        centred = y[rows] - y_mean
        normal += (A.T * s[rows]) @ A
        cross += A.T @ (s[rows] * centred)
        error += float(s[rows] @ (centred - A @ claim.weights) ** 2)
    return Sums(normal, cross, float(s @ (y - y_mean) ** 2), total, x_mean, y_mean), error
