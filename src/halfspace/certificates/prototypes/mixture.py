"""The certificate of a mixture of isotropic Gaussians: its log-likelihood, and what one more step of EM would add.

Three claims, the first two recomputed from the data:

- the log-likelihood  L = Σ_i s_i log Σ_k π_k N(x_i; w_k, σ_k² I)  is as stated;
- one more step of expectation and maximisation would raise it by at most the gain stated: how far the mixture is from standing
  still. It says nothing about other maxima, of which there are many;
- the course of L, as the solver recorded it, never falls and ends in L.

Rounding: a row's logarithm is a sum of q/2σ², log π and d log σ, each off by (d + 8) eps of itself, so L with all its rows by
less than  8 max(n, d + 16) eps S,  S the sum of the absolute values of those parts, weighted by responsibility. A claim about
the gain gives away four times that, the checker demands one.
"""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, in_range, one_weight_each
from halfspace.certificates.base import Unlabelled, Verdict, apart
from halfspace.certificates.prototypes.quantisation import dense_blocks

__all__ = ["MixtureLikelihood"]


class _Parts(NamedTuple):
    """Weights π (K,), centres w (K, d) and deviations σ (K,)."""

    weights: FloatArray
    prototypes: FloatArray
    sigmas: FloatArray


class _Found(NamedTuple):
    """What a pass finds: L, and per centre N = Σ s r, M = Σ s r (x - w), Q = Σ s r ‖x - w‖²."""

    log_likelihood: float
    N: FloatArray
    M: FloatArray
    Q: FloatArray


@dataclass(frozen=True, eq=False)
class MixtureLikelihood(Unlabelled):
    """Log-likelihood of a mixture of isotropic Gaussians, and the gain of one more EM step.

    Parameters
    ----------
    log_likelihood : float
        L, summed over the rows with their weights.
    gain : float
        What one more step would add to L, an upper bound by rounding.
    rows : float
        Number of rows, or the sum of their weights.
    weights : ndarray, shape (K,)
        Mixing weights π, which sum to 1.
    prototypes : ndarray, shape (K, d)
        Centres w.
    sigmas : ndarray, shape (K,)
        Deviations σ.
    rule : {"common", "each", "fixed"}
        How a step sets the deviations.
    floor : float
        Smallest σ that a step may set.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i of the rows, if not all 1.
    course : tuple of float
        L at the start and after every step, as the run reports it; the last one is `log_likelihood`.

    Examples
    --------
    >>> X = np.array([[-1.0], [1.0]])
    >>> proof = MixtureLikelihood.measure(X, weights=np.ones(1), prototypes=np.zeros((1, 1)), sigmas=np.ones(1))
    >>> print(proof)
    log-likelihood -2.838 (-1.419 a row) with 1 centre, one more step gains 0
    >>> bool(proof.verify(X)), bool(proof.verify(X + 0.1))
    (True, False)
    """

    log_likelihood: float
    gain: Annotated[float, "finite >= 0"]
    rows: Annotated[float, "finite > 0"]
    weights: Annotated[FloatArray, "finite(K) >= 0"]
    prototypes: Annotated[FloatArray, "finite(K,d)"]
    sigmas: Annotated[FloatArray, "finite(K) > 0"]
    rule: Annotated[str, "str", "asked"]
    floor: Annotated[float, "finite >= 0", "asked"]
    sample_weight: Annotated[FloatArray | None, "finite(n) >= 0 | none", "asked"]
    course: Annotated[tuple[float, ...], "tuple(t) of finite", "reported"] = ()

    def __str__(self) -> str:
        K, a_row = self.weights.size, self.log_likelihood / self.rows
        gain = 0.0 if self.gain <= 1e-12 * abs(self.log_likelihood) else self.gain
        centres = "1 centre" if K == 1 else f"{K} centres"
        level = f"log-likelihood {self.log_likelihood:.4g} ({a_row:.4g} a row)"
        return apart(f"{level} with {centres}, one more step gains {gain:.2g}", self)

    @classmethod
    def measure(
        cls,
        X: Matrix,
        *,
        weights: FloatArray,
        prototypes: FloatArray,
        sigmas: FloatArray,
        rule: str = "each",
        floor: float = 0.0,
        sample_weight: FloatArray | None = None,
    ) -> Self:
        """Measure a mixture of weights (K,), prototypes (K, d) and sigmas (K,) on examples X (n, d)."""
        X, _ = as_rows(X, np.zeros(X.shape[0]))
        s = np.ones(X.shape[0]) if sample_weight is None else sample_weight
        parts = _Parts(weights, prototypes, sigmas)
        with np.errstate(divide="ignore"):  # a centre of weight 0
            found = _passed(X, s, parts)
            ahead = _passed(X, s, _step(found, parts, rule, floor))
        gain = ahead.log_likelihood - found.log_likelihood
        return cls.of(parts, found, gain, n=X.shape[0], sigma=(rule, floor), s=sample_weight)

    @classmethod
    def of(
        cls, parts: Any, found: Any, gain: float, *, n: int, sigma: tuple[str, float], s: FloatArray | None, course: Any = ()
    ) -> Self:
        """Claim what a solver found on n rows weighted by s: its (weights, centres, sigmas) and its sums (L, N, M, Q) there.

        `sigma` is the rule for the deviations and their floor. The gain of one more step is claimed with four times the
        rounding that the checker demands.
        """
        parts, found = _Parts(*parts), _Found(*found)
        total = float(n) if s is None else float(s.sum())
        spare = 4.0 * _noise(n, parts, found)
        pi, W, sigmas = (np.asarray(part, dtype=np.float64) for part in parts)
        return cls(found.log_likelihood, max(gain, 0.0) + spare, total, pi, W, sigmas, *sigma, s, tuple(map(float, course)))

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that there are centres, that their weights sum to 1, and that the rule exists."""
        K = self.weights.size
        return [
            (self.prototypes.size > 0, "there are no centres"),
            (abs(float(self.weights.sum()) - 1.0) <= (K + 8) * EPS, "the weights do not sum to 1"),
            (self.rule in ("common", "each", "fixed"), f"{self.rule!r} is no rule for sigma"),
        ]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the Gaussians."""
        return {"prototypes": self.prototypes, "shares": self.weights, "deviations": self.sigmas}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:  # noqa: ARG002  (there are no labels)
        """Recompute the log-likelihood and one more step."""
        n, d = X.shape
        shaped = Verdict.of(
            (self.prototypes.shape[1] == d, f"prototypes of {self.prototypes.shape[1]} features, but X has {d}"),
            one_weight_each(self.sample_weight, n),
            in_range(X, self.prototypes, self.sigmas.min()),  # differences far below every sigma do not count
            (
                self.rule == "each" or bool((self.sigmas == self.sigmas[0]).all()),
                f"{self.rule} sigma, but not the same for all",
            ),
            (self.rule == "fixed" or bool((self.sigmas >= self.floor).all()), "a sigma is below the floor"),
        )
        if not shaped:
            return shaped
        s = np.ones(n) if self.sample_weight is None else self.sample_weight
        parts = _Parts(self.weights, self.prototypes, self.sigmas)
        found = _passed(X, s, parts)
        gain = _passed(X, s, _step(found, parts, self.rule, self.floor)).log_likelihood - found.log_likelihood
        noise, total = _noise(n, parts, found), float(s.sum())
        course = np.array([*self.course, self.log_likelihood])
        L, claimed = found.log_likelihood, self.log_likelihood
        return Verdict.of(
            (abs(self.rows - total) <= 2.0 * n * EPS * total, f"the rows weigh {total:.6g}, not {self.rows:.6g}"),
            (
                bool(abs(L - claimed) <= 2.0 * noise),
                f"the log-likelihood is {L:.9g}, not {claimed:.9g}",
            ),
            (bool(gain + noise <= self.gain <= max(gain, 0.0) + 8.0 * noise), f"a step gains {gain:.3g}, not {self.gain:.3g}"),
            (bool((np.diff(course) >= -4.0 * noise).all()), "the log-likelihood falls in its course"),
            (self.course in ((), (*self.course[:-1], self.log_likelihood)), "the course does not end in the log-likelihood"),
        )


def _noise(n: int, parts: _Parts, found: _Found) -> float:
    """Return a bound on the rounding of the log-likelihood, from the sums of a pass."""
    d = parts.prototypes.shape[1]
    logs = np.abs(np.log(np.where(parts.weights > 0.0, parts.weights, 1.0))) + d * np.abs(np.log(parts.sigmas)) + d
    size = found.Q @ (0.5 / parts.sigmas**2) + found.N @ logs
    return float(8.0 * max(n, d + 16) * EPS * size)


def _passed(X: Matrix, s: FloatArray, parts: _Parts) -> _Found:
    """Go over the rows once, in blocks."""
    (n, d), K = X.shape, parts.weights.size
    level, N, M, Q = np.empty(n), np.zeros(K), np.zeros((K, d)), np.zeros(K)
    for rows, block in dense_blocks(X, K + d):
        q = np.stack([np.einsum("ij,ij->i", block - w, block - w) for w in parts.prototypes], axis=1)
        a = np.log(parts.weights) - d * np.log(parts.sigmas) - q * (0.5 / parts.sigmas**2)
        top = a.max(axis=1, keepdims=True)
        terms = np.exp(a - top)
        total = terms.sum(axis=1, keepdims=True)
        level[rows] = (top + np.log(total))[:, 0]
        r = terms * (s[rows, None] / total)
        N += r.sum(axis=0)
        Q += (r * q).sum(axis=0)
        M += np.stack([r[:, k] @ (block - w) for k, w in enumerate(parts.prototypes)])
    return _Found(float(s @ level) - 0.5 * d * np.log(2.0 * np.pi) * float(s.sum()), N, M, Q)


def _step(found: _Found, parts: _Parts, rule: str, floor: float) -> _Parts:
    """Take one EM step."""
    d, alive = parts.prototypes.shape[1], found.N > 0.0
    N = np.where(alive, found.N, 1.0)
    move = found.M / N[:, None]
    scatter = np.maximum(found.Q - found.N * np.einsum("kj,kj->k", move, move), 0.0)
    if rule == "common":
        sigmas = np.full(N.size, max(float(np.sqrt(scatter.sum() / (d * found.N.sum()))), floor))
    elif rule == "each":
        sigmas = np.where(alive, np.maximum(np.sqrt(scatter / (d * N)), floor), parts.sigmas)
    else:
        sigmas = parts.sigmas
    return _Parts(found.N / found.N.sum(), parts.prototypes + move, sigmas)
