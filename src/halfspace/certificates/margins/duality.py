"""The duality gap: how far a large-margin plane is from the best one, between two numbers.

Problem    P(w) = ½‖w‖² + Σ C s_i max(0, 1 - E_i),   E_i = y_i (w·x_i + bias);   C = inf demands E_i >= 1.
Upper side The value P(w) of any weights; for C = inf of the weights scaled so that the least potential is 1.
Lower side For strengths 0 <= alpha_i <= C s_i and v = Σ alpha_i y_i x_i:  Σ alpha_i - ½‖v‖² <= P(w) for every w, because
           max(0, 1 - E_i) C s_i >= alpha_i (1 - E_i)  and  ½‖w‖² - v·w >= -½‖v‖².  For C = inf any multiple of the strengths
           will do, the best giving  ½ (Σ alpha_i / ‖v‖)²;  then  kappa* = 1/‖w*‖  and the gap is a margin bracket.
           A clamped input counts in w and v. A free bias is in neither, and Σ alpha_i y_i = 0 is demanded instead: what
           rounding leaves of that sum is paid for in full.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import (
    EPS,
    as_rows,
    is_array,
    is_label,
    is_number,
    norm,
    potentials_and_sums,
    radius,
    rounding,
    signs,
    unit_scale,
)
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.margins.enclosure import Enclosure
from halfspace.certificates.margins.margin import SLACK, both_signs, matching, rebuilt, sound_witnesses

__all__ = ["DualityGap"]


class _Sums(NamedTuple):
    """What both values are made of, each with a bound on its rounding."""

    square: float  # ‖w‖²
    loss: float
    least: float  # least potential
    total: float  # Σ alpha_i
    size: float  # ‖v‖
    primal_error: float
    least_error: float
    dual_error: float
    size_error: float
    spare: float  # relative rounding of sums over the examples

    def values(self, slack: float, *, hard: bool) -> tuple[float, float]:
        """Return primal and dual value, moved apart by `slack` rounding errors."""
        if not hard:
            primal, dual = 0.5 * self.square + self.loss, self.total - 0.5 * self.size**2
            return primal + slack * self.primal_error, dual - slack * self.dual_error
        least, total = self.least - slack * self.least_error, self.total * (1.0 - slack * self.spare)
        primal = 0.5 * self.square * (1.0 + slack * self.spare) / least**2 if least > 0.0 else np.inf
        longest = np.float64(self.size + slack * self.size_error)
        return float(primal), float(0.5 * (total / longest) ** 2) if total > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class DualityGap(Enclosure, Certificate):
    """Primal and dual value of a large-margin problem, with the weights and strengths that prove them.

    Parameters
    ----------
    primal, dual : float
        `dual <= optimum <= primal`, rounding allowed for; `primal` is the value of the weights, infinite if C is and some
        example is on the wrong side.
    C : float
        Cap; inf for no errors.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i that multiply the caps, if not all 1; an example of weight 0 is not there.
    weights : ndarray, shape (D,)
        The plane, clamped weight last.
    rows, strengths : ndarray, shape (m,)
        The examples of positive strength, and their strengths.
    bias : float
        Free bias; 0 if there is none.
    free : bool
        Whether the bias is free, so that Σ strengths_i y_i = 0 is demanded.
    clamp : float
        Value of the clamped input; 0 for none.
    positive : label
        The label that counts as +1.

    Examples
    --------
    >>> X, y = np.array([[2.0], [-2.0]]), np.array([1, 0])
    >>> gap = DualityGap.measure(X, y, weights=np.array([0.5]), strengths=np.array([0.125, 0.125]), C=1.0, positive=1)
    >>> print(gap)
    0.125 <= optimum <= 0.125, relative gap 0
    >>> bool(gap.verify(X, y))
    True
    """

    primal: float
    dual: float
    C: float
    sample_weight: FloatArray | None
    weights: FloatArray
    rows: IntArray
    strengths: FloatArray
    bias: float
    free: bool
    clamp: float
    positive: Label

    def __str__(self) -> str:
        gap = 0.0 if self.relative_gap < 1e-12 else self.relative_gap
        return f"{self.dual:.6g} <= optimum <= {self.primal:.6g}, relative gap {gap:.2g}"

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        weights: FloatArray,
        strengths: FloatArray,
        C: float,
        sample_weight: FloatArray | None = None,
        bias: float | None = None,
        clamp: float = 0.0,
        positive: Label,
    ) -> Self:
        """Measure the values of these weights (D,) and strengths (n,); a `bias` that is given is a free one."""
        X, y = as_rows(X, y)
        draft = cls.draft(weights, strengths, C, sample_weight, bias, clamp, positive)
        with np.errstate(all="ignore"):
            return draft._claiming(draft._sums(X, y))  # noqa: SLF001  (its own kind)

    @classmethod
    def draft(
        cls,
        weights: FloatArray,
        strengths: FloatArray,
        C: float,
        sample_weight: FloatArray | None,
        bias: float | None,
        clamp: float,
        positive: Label,
    ) -> Self:
        """Return the certificate that claims nothing yet."""
        rows = np.flatnonzero(strengths > 0)
        free = bias is not None
        return cls(
            np.inf, 0.0, float(C), sample_weight, weights.copy(), rows, strengths[rows], bias or 0.0, free, clamp, positive
        )

    def claim(self, E: FloatArray, v: FloatArray, R: float, sign: FloatArray) -> Self:
        """Claim what follows from numbers that a solver has at hand; `verify` will not take its word for any of them.

        Parameters
        ----------
        E : ndarray, shape (n,)
            Potentials of the weights.
        v : ndarray, shape (D,)
            Σ strengths_i y_i x_i.
        R : float
            Length of the longest example.
        sign : ndarray, shape (n,)
            Labels, ±1.
        """
        strengths = np.zeros(E.size)
        strengths[self.rows] = self.strengths
        with np.errstate(all="ignore"):
            return self._claiming(self._collected(E, v, R, sign, (self.weights, strengths, np.float64(self.bias))))

    def _claiming(self, sums: _Sums) -> Self:
        """Return this certificate with the values of these sums, several rounding errors given away."""
        primal, dual = sums.values(SLACK, hard=np.isinf(self.C))
        return replace(self, primal=float(primal), dual=float(min(max(dual, 0.0), primal)))

    def well_formed(self) -> Verdict:
        """Check types, shapes and ranges of the fields."""
        sides = is_number(self.primal, least=0.0, infinite=True) and is_number(self.dual, least=0.0)
        s = self.sample_weight
        weighted = s is None or (is_array(s, 1) and bool((s >= 0).all()) and bool(s.any()))
        nothing = is_array(self.rows, 1, "i") and is_array(self.strengths, 1) and self.rows.size == self.strengths.size == 0
        witnessed = nothing or (sound_witnesses(self) and np.unique(self.rows).size == self.rows.size)
        return Verdict.of(
            (sides, "the primal and dual values are not numbers >= 0"),
            (not sides or self.dual <= self.primal, "the dual value is above the primal one"),
            (is_number(self.C, infinite=True) and self.C > 0.0, "the cap is not a positive number"),
            (weighted, "the sample weights are not numbers >= 0, some positive"),
            (is_array(self.weights, 1), "the weights are not a row of finite numbers"),
            (witnessed, "rows and strengths are not matching different rows >= 0 and strengths >= 0"),
            (isinstance(self.free, bool), "free is neither true nor false"),
            (
                is_number(self.bias) and (self.free is True or self.bias == 0.0),
                "the bias is not a number, or not free and not 0",
            ),
            (is_number(self.clamp), "the clamped input is not a number"),
            (not (self.free is True and self.clamp), "a bias cannot be both free and clamped"),
            (is_label(self.positive), f"{self.positive!r} cannot be a label"),
        )

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both values and the bounds on the strengths."""
        s = self.sample_weight
        shaped = Verdict.of(
            *matching(self, X),
            (s is None or s.shape == y.shape, "one sample weight per example expected"),
            (both_signs(y, self.positive), f"not both {self.positive!r} and others in y"),
        )
        if not shaped:
            return shaped
        caps = np.full(y.size, self.C) if s is None else np.where(s > 0, self.C * s, 0.0)
        sums, hard = self._sums(X, y), np.isinf(self.C)
        primal, dual = sums.values(1.0, hard=hard)
        highest, lowest = sums.values(64.0, hard=hard)
        same = self.primal == primal == np.inf or (np.isfinite(primal) and primal <= self.primal <= highest * (1 + 1e-9))
        true = np.isfinite(dual) and max(lowest, 0.0) * (1 - 1e-9) <= self.dual <= max(dual, 0.0)
        return Verdict.of(
            (bool((self.strengths <= caps[self.rows]).all()), "a strength is above its cap"),
            (bool(same), f"the weights cost {primal:.12g}, not {self.primal:.12g}"),
            (bool(true), f"the strengths prove {dual:.12g}, not {self.dual:.12g}"),
        )

    def _sums(self, X: Matrix, y: Labels) -> _Sums:
        """Compute from checked data what the values are made of."""
        sign, strengths = signs(y, self.positive), np.zeros(y.size)
        strengths[self.rows] = self.strengths
        scaled = self._scaled(strengths)
        outputs, sums = potentials_and_sums(X, scaled[0][None], (scaled[1] * sign)[None], self.clamp)
        return self._collected(sign * (outputs[:, 0] + scaled[2]), sums[0], radius(X, self.clamp), sign, scaled)

    def _scaled(self, strengths: FloatArray) -> tuple[FloatArray, FloatArray, Any]:
        """Return weights, strengths and bias; for C = inf, where only directions matter, safe from underflow."""
        w, bias = self.weights, np.float64(self.bias)
        if np.isfinite(self.C) or not w.any():
            return w, strengths if np.isfinite(self.C) else unit_scale(strengths), bias
        return unit_scale(w), unit_scale(strengths), bias * norm(unit_scale(w)) / norm(w)

    def _collected(self, E: FloatArray, v: FloatArray, R: float, sign: FloatArray, scaled: tuple[Any, Any, Any]) -> _Sums:
        """Put together potentials and the signed sum of the examples, with bounds on the rounding of each."""
        (w, strengths, bias), n, s = scaled, E.size, self.sample_weight
        total, spare = strengths.sum(), 2 * (n + w.size + 8) * EPS
        square, size = np.float64(norm(w)) ** 2, np.float64(norm(v))
        least_error = rounding(w.size, R) * np.sqrt(square) + 8 * EPS * abs(bias)
        size_error = rounding(n, R) * total
        loss = exposed = np.float64(0.0)
        if np.isfinite(self.C):
            near = 1.0 + least_error > E
            slack, caps = np.maximum(0.0, 1.0 - E[near]), self.C if s is None else self.C * s[near]
            loss, exposed = np.float64((caps * slack).sum()), np.float64((caps * np.ones(slack.size)).sum())
        dual_error = spare * (total + size**2) + size_error * (size + size_error)
        if self.free:  # strengths that do not quite balance can be made to by taking the rest away from the stronger class
            rest = abs((strengths * sign).sum()) + spare * total
            dual_error += rest * (1 + size * R + rest * R * R)
            size_error, spare = size_error + rest * R, spare + rest / max(total, 1e-300)
        primal_error = spare * (square + loss) + least_error * exposed
        least = np.float64((E if s is None else E[s > 0]).min())
        return _Sums(square, loss, least, total, size, primal_error, least_error, dual_error, size_error, spare)

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        s = body["sample_weight"]
        return cls(**rebuilt({**body, "sample_weight": None if s is None else np.asarray(s, dtype=np.float64)}))
