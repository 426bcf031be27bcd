"""The duality gap of a machine on landmarks: functions f = Σ_j beta_j k(l_j, ·) of m chosen examples, not of all.

Problem    P(f) = ½ (betaᵀ A beta + c²) + Σ C s_i max(0, 1 - E_i),   E_i = y_i (f(x_i) + clamp c + bias),   A = K_LL + ridge,
           K_LL the kernel matrix of the landmarks: the linear problem of the features (B⁻¹ k(L, x), clamp), A = B Bᵀ (Nyström).
Upper side P(f).
Lower side For strengths 0 <= alpha_i <= C s_i and g = Σ alpha_i y_i k(L, x_i): Σ alpha_i - ½ gᵀA⁻¹g - ½ (clamp Σ alpha_i y_i)².
           No inverse is trusted: for any u,  gᵀA⁻¹g <= 2 gᵀu - uᵀAu + ‖g - Au‖²/ridge,  as K_LL is positive semi-definite.
           A free bias demands Σ alpha_i y_i = 0: what rounding leaves of that sum is paid for in full.

It says nothing about the problem without landmarks, whose optimum may be lower.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from halfspace import kernels
from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, signs
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.fields import is_label
from halfspace.certificates.margins.bracket import SLACK
from halfspace.certificates.margins.checks import both_signs, is_array, is_number, rebuilt, sound_bias, sound_kernel
from halfspace.certificates.margins.gap import Enclosure
from halfspace.errors import InputError
from halfspace.kernels import Kernel

__all__ = ["LandmarkGap"]

BLOCK_ENTRIES = 1 << 22
LOOSE = 1e-7
"""A claim may be looser than the truth by this share."""


class _Values(NamedTuple):
    """Both values, and bounds on their rounding."""

    primal: float
    primal_error: float
    dual: float
    dual_error: float

    def apart(self, slack: float) -> tuple[float, float]:
        """Return both values, moved apart by `slack` rounding errors."""
        return self.primal + slack * self.primal_error, self.dual - slack * self.dual_error


@dataclass(frozen=True, eq=False)
class LandmarkGap(Enclosure, Certificate):
    """Primal and dual value of a large-margin problem on landmarks, with the numbers that prove them.

    Parameters
    ----------
    primal, dual : float
        `dual <= optimum of the problem on landmarks <= primal`, rounding allowed for.
    C : float
        Cap.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i that multiply the caps, if not all 1.
    kernel : Kernel
        A kernel that is positive semi-definite by construction, every parameter a number.
    landmarks : ndarray, shape (m,)
        Rows of the examples that are landmarks.
    ridge : float
        What is added to the diagonal of their kernel matrix.
    coefficients : ndarray, shape (m,)
        The function: beta.
    clamped : float
        Weight of the clamped input.
    rows, strengths : ndarray
        The examples of positive strength, and their strengths.
    bias : float
        Free bias; 0 if there is none.
    free : bool
        Whether the bias is free.
    clamp : float
        Value of the clamped input; 0 for none.
    positive : label
        The label that counts as +1.

    Examples
    --------
    >>> from halfspace.kernels import Linear
    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    >>> gap = LandmarkGap.measure(
    ...     X, y, kernel=Linear(), landmarks=[0], ridge=1e-9, coefficients=[1.0], strengths=[0.5, 0.5], C=1.0, positive=1
    ... )
    >>> print(gap)
    0.5 <= optimum on 1 landmarks <= 0.5, relative gap 0
    >>> bool(gap.verify(X, y)), bool(gap.verify(2 * X, y))
    (True, False)
    """

    primal: float
    dual: float
    C: float
    sample_weight: FloatArray | None
    kernel: Kernel
    landmarks: IntArray
    ridge: float
    coefficients: FloatArray
    clamped: float
    rows: IntArray
    strengths: FloatArray
    bias: float
    free: bool
    clamp: float
    positive: Label

    def __str__(self) -> str:
        m, gap = self.landmarks.size, 0.0 if self.relative_gap < 1e-10 else self.relative_gap
        return f"{self.dual:.6g} <= optimum on {m} landmarks <= {self.primal:.6g}, relative gap {gap:.2g}"

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        kernel: Kernel,
        landmarks: Any,
        ridge: float,
        coefficients: Any,
        strengths: Any,
        C: float,
        sample_weight: FloatArray | None = None,
        clamped: float = 0.0,
        bias: float | None = None,
        clamp: float = 0.0,
        positive: Label,
    ) -> Self:
        """Measure the values of a function and of strengths (n,); a `bias` that is given is a free one.

        Raises
        ------
        InputError
            If the kernel is not positive semi-definite by construction.
        """
        X, y = as_rows(X, y)
        strengths, beta = np.asarray(strengths, dtype=np.float64), np.asarray(coefficients, dtype=np.float64)
        rows, free, kernel = np.flatnonzero(strengths > 0), bias is not None, kernel.resolved(X)
        landmarks, own = np.asarray(landmarks), (float(bias or 0.0), free, float(clamp), positive)
        numbers = (float(C), sample_weight, kernel, landmarks, float(ridge), beta, float(clamped))
        draft = cls(np.inf, 0.0, *numbers, rows, strengths[rows], *own)
        if kernel.reason() is None:
            msg = f"the kernel {kernel} is not positive semi-definite by construction, which a machine on landmarks needs"
            raise InputError(msg)
        with np.errstate(all="ignore"):
            primal, dual = draft._values(X, signs(y, positive)).apart(SLACK)
        return replace(draft, primal=float(primal), dual=float(min(max(dual, 0.0), primal)))

    def well_formed(self) -> Verdict:
        """Check types, shapes and ranges of the fields."""
        sides = is_number(self.primal, least=0.0) and is_number(self.dual, least=0.0)
        s, whole = self.sample_weight, is_array(self.landmarks, 1, "i") and self.landmarks.size > 0
        weighted = s is None or (is_array(s, 1) and bool((s >= 0).all()) and bool(s.any()))
        held = is_array(self.rows, 1, "i") and is_array(self.strengths, 1) and self.rows.shape == self.strengths.shape
        different = held and np.unique(self.rows).size == self.rows.size and bool((self.rows >= 0).all())
        return Verdict.of(
            (sides, "the primal and dual values are not numbers >= 0"),
            (not sides or self.dual <= self.primal, "the dual value is above the primal one"),
            (is_number(self.C) and self.C > 0.0, "the cap is not a positive number"),
            (weighted, "the sample weights are not numbers >= 0, some positive"),
            (sound_kernel(self.kernel) and self.kernel.reason() is not None, "the kernel has no proof, or unknown parameters"),
            (whole and bool((self.landmarks >= 0).all()), "the landmarks are not row numbers"),
            (whole and is_array(self.coefficients, 1) and self.coefficients.shape == self.landmarks.shape, "no beta_j each"),
            (is_number(self.ridge) and self.ridge > 0.0, "the ridge is not a positive number"),
            (is_number(self.clamped), "the weight of the clamped input is not a number"),
            (different and bool((self.strengths >= 0).all()), "rows and strengths are not matching rows and strengths >= 0"),
            *sound_bias(self),
            (is_label(self.positive), f"{self.positive!r} cannot be a label"),
        )

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both values and the bounds on the strengths."""
        n, s = X.shape[0], self.sample_weight
        known = bool((self.rows < n).all() and (self.landmarks < n).all())
        shaped = Verdict.of(
            (known, f"a row outside 0..{n - 1}"),
            (s is None or s.shape == y.shape, "one sample weight per example expected"),
            (both_signs(y, self.positive), f"not both {self.positive!r} and others in y"),
        )
        if not shaped:
            return shaped
        try:
            values = self._values(X, signs(y, self.positive))
        except (InputError, np.linalg.LinAlgError) as error:  # made for other data
            return Verdict.of((False, str(error)))
        (primal, dual), (highest, lowest) = values.apart(1.0), values.apart(64.0)
        true = max(lowest - LOOSE * abs(dual), 0.0) <= self.dual <= max(dual, 0.0)
        return Verdict.of(
            (bool((self.strengths <= self._caps(n)[self.rows]).all()), "a strength is above its cap"),
            (primal <= self.primal <= highest * (1 + LOOSE), f"the function costs {primal:.12g}, not {self.primal:.12g}"),
            (true, f"the strengths prove {dual:.12g}, not {self.dual:.12g}"),
        )

    def _caps(self, n: int) -> FloatArray:
        s = self.sample_weight
        return np.full(n, self.C) if s is None else np.where(s > 0, self.C * s, 0.0)

    def _values(self, X: Matrix, sign: FloatArray) -> _Values:
        """Compute both values from checked data, in blocks of rows."""
        kernel, beta, caps, n, m = self.kernel, self.coefficients, self._caps(sign.size), sign.size, self.landmarks.size
        L, a = X[self.landmarks], np.zeros(n)
        a[self.rows] = self.strengths
        largest = float(kernel.exact_diagonal(X).max()) * (1.0 + 8 * EPS)
        entry = float(kernel.rounding(X, L)) + 2 * (m + 8) * EPS * (largest + self.ridge)
        A = kernel.exact(L, L) + self.ridge * np.eye(m)
        step, g, loss, near = max(1, min(n, BLOCK_ENTRIES // m)), np.zeros(m), 0.0, 0.0
        fixed = self.clamp * self.clamped + self.bias
        size, slack = float(np.abs(beta).sum()), 8 * EPS * abs(fixed)
        for first in range(0, n, step):
            part = slice(first, min(first + step, n))
            K = kernel.exact(X[part], L)
            away = 1.0 - sign[part] * (K @ beta + fixed)
            loss += float((caps[part] * np.maximum(0.0, away)).sum())
            near += float(caps[part][away > -SLACK * (entry * size + slack)].sum())
            g += K.T @ (a[part] * sign[part])
        spare = 2 * (step + n // step + 8) * EPS
        square = max(float(beta @ (A @ beta)), 0.0) + self.clamped**2
        primal_error = near * (entry * size + slack) + spare * (loss + square) + entry * size**2
        total, rest = float(a.sum()), abs(float((a * sign).sum()))
        shadow, shadow_error = self._shadow(A, g, entry, total * (entry + spare * largest))
        shadow += (self.clamp * rest) ** 2
        left = rest + spare * total if self.free else 0.0
        radius = np.sqrt(largest + self.clamp**2)
        moved = left * (1.0 + np.sqrt(max(shadow, 0.0)) * radius + left * radius**2)
        clamped_error = spare * self.clamp**2 * total * (2.0 * rest + spare * total)
        dual_error = 0.5 * (shadow_error + clamped_error) + spare * (total + abs(shadow)) + moved
        return _Values(0.5 * square + loss, primal_error, total - 0.5 * shadow, dual_error)

    def _shadow(self, A: FloatArray, g: FloatArray, entry: float, error: float) -> tuple[float, float]:
        """Return an upper bound on gᵀA⁻¹g, and its rounding; entries of A are off by `entry`, those of g by `error`."""
        u = np.linalg.solve(A, g)
        Au, size = A @ u, float(np.abs(u).sum())
        rest = float(np.linalg.norm(g - Au)) + np.sqrt(g.size) * (error + size * entry)
        return float(2.0 * (g @ u) - u @ Au + rest**2 / self.ridge), 2.0 * size * error + size**2 * entry

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        s = body["sample_weight"]
        arrays = {
            "sample_weight": None if s is None else np.asarray(s, dtype=np.float64),
            "landmarks": np.asarray(body["landmarks"]),
            "coefficients": np.asarray(body["coefficients"], dtype=np.float64),
            "kernel": kernels.from_dict(body["kernel"]),
        }
        return cls(**rebuilt({**body, **arrays, "ridge": float(body["ridge"]), "clamped": float(body["clamped"])}))
