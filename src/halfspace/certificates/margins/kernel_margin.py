"""The margin bracket in a kernel's space: how far apart the classes are there, between two numbers.

Lower side. The margin of any function f = Σ_j c_j (k(x_j, ·) + clamp²) is at most the best:  min_i y_i f(x_i) / ‖f‖ <= kappa*.
Upper side. For any strengths lambda >= 0 with sum 1:  kappa* <= ‖Σ lambda_i y_i φ(x_i)‖ = sqrt(lambdaᵀ Q lambda)  with
            Q_ij = y_i y_j (k(x_i, x_j) + clamp²): the theorem for planes (`margin.py`) in another space.
Free bias.  As for planes: the lower side has y_i (f(x_i) + bias), the upper side needs Σ lambda_i y_i = 0, and what is left of
            that sum is multiplied by 2R and added.

Norms are roots of sums here, so an upper side below about 1e-8 R cannot be told from 0, and inseparability is never proved.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from halfspace import kernels
from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, is_array, is_label, shares, signs, unit_scale
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.expansion import Scales, indefiniteness, outputs, scales, squares_of
from halfspace.certificates.margins.kernel_sums import sound_bias, sound_kernel
from halfspace.certificates.margins.margin import SLACK, both_signs, rebuilt, sound_bracket
from halfspace.errors import InputError
from halfspace.kernels import Kernel

__all__ = ["KernelBracket"]

LOOSE = 1e-7
"""A claim may be looser than the truth by this share of the radius."""


class _Sides(NamedTuple):
    """What both sides are made of, each with a bound on its rounding."""

    E: FloatArray  # potentials of the function, (n,)
    error: FloatArray  # (n,)
    squares: tuple[float, float]  # ‖f‖² and ‖Σ lambda_i y_i φ(x_i)‖²
    square_errors: tuple[float, float]
    rest: float  # 2R |Σ lambda_i y_i|, with a free bias
    radius: float

    def outward(self, slack: float) -> tuple[float, float]:
        """Return both sides moved apart by `slack` rounding errors; no function has margin minus infinity."""
        least = float((self.E - slack * self.error).min())
        held, error = self.squares[0], slack * self.square_errors[0]
        size = np.sqrt(held + error if least > 0.0 else max(held - error, 0.0))
        lower = least / float(size) if size > 0.0 else -np.inf
        upper = float(np.sqrt(self.squares[1] + slack * self.square_errors[1])) + slack * self.rest
        return lower, upper


@dataclass(frozen=True, eq=False)
class KernelBracket(Certificate):
    """Two-sided bound on the best margin of two classes in a kernel's space, with the witnesses of both sides.

    Parameters
    ----------
    lower, upper : float
        `lower <= kappa* <= upper`. A positive lower side proves the classes separable in the kernel's space.
    radius : float
        Length R of the longest example there, sqrt(k(x, x) + clamp²).
    kernel : Kernel
        The kernel, every parameter a number. For `Precomputed` the examples are the rows of the kernel matrix, shape (n, n).
    support, coefficients : ndarray, shape (p,)
        The function of the lower side: examples, and their coefficients of any sign (strengths times labels ±1).
    rows, strengths : ndarray, shape (m,)
        The examples of the upper side and their strengths (any positive multiple).
    clamp : float
        Value of the clamped input, whose square is added to the kernel; 0 for none.
    positive : label
        The label that counts as +1.
    bias : float
        Free bias; 0 if there is none.
    free : bool
        Whether the bias is free: not counted in the length of the function.

    Examples
    --------
    >>> from halfspace.kernels import Polynomial
    >>> X, y = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0]]), np.array([1, 1, 0, 0])  # XOR
    >>> square = Polynomial(degree=2, coef0=1.0)
    >>> bracket = KernelBracket.measure(X, y, kernel=square, strengths=np.ones(4), positive=1)
    >>> print(bracket)
    1.414 <= kappa* <= 1.414
    >>> bool(bracket.verify(X, y)), bracket.separable
    (True, True)
    """

    lower: float
    upper: float
    radius: float
    kernel: Kernel
    support: IntArray
    coefficients: FloatArray
    rows: IntArray
    strengths: FloatArray
    clamp: float
    positive: Label
    bias: float = 0.0
    free: bool = False

    def __str__(self) -> str:
        return f"{self.lower:.4g} <= kappa* <= {self.upper:.4g}"

    @property
    def separable(self) -> bool | None:
        """True if the function separates the classes, None if the bracket cannot tell."""
        return True if self.lower > 0.0 else None

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        kernel: Kernel,
        strengths: FloatArray,
        coefficients: FloatArray | None = None,
        clamp: float = 0.0,
        positive: Label,
        bias: float | None = None,
    ) -> Self:
        """Measure the bracket of these strengths (n,), and of the function they make or that other `coefficients` (n,) make.

        Raises
        ------
        InputError
            If the kernel is not positive semi-definite on these examples, or that could not be found out.
        """
        X, y = as_rows(X, y)
        sign = signs(y, positive)
        kernel = kernel.resolved(X)
        draft = cls.draft(kernel, sign, strengths, coefficients=coefficients, clamp=clamp, positive=positive, bias=bias)
        with np.errstate(all="ignore"):
            shift, objection = indefiniteness(kernel, X)
            if objection:
                raise InputError(objection)
            return draft._claiming(draft._sides(X, sign, shift))  # noqa: SLF001  (its own kind)

    @classmethod
    def draft(
        cls,
        kernel: Kernel,
        sign: FloatArray,
        strengths: FloatArray,
        *,
        coefficients: FloatArray | None = None,
        clamp: float = 0.0,
        positive: Label,
        bias: float | None = None,
    ) -> Self:
        """Return the bracket that claims nothing yet, for labels ±1 in `sign`; a `bias` that is given is a free one."""
        c = np.asarray(strengths * sign if coefficients is None else coefficients, dtype=np.float64)
        held, rows = np.flatnonzero(c), np.flatnonzero(strengths > 0)
        alpha, free = np.asarray(strengths, dtype=np.float64)[rows], bias is not None
        return cls(-np.inf, np.inf, 0.0, kernel, held, c[held], rows, alpha, clamp, positive, float(bias or 0.0), free)

    def claim(
        self,
        scales: Scales,
        sign: FloatArray,
        E: FloatArray,
        square: float,
        *,
        witness_square: float | None = None,
        error: FloatArray | float = 0.0,
    ) -> Self:
        """Make the bracket of numbers that a solver has at hand; `verify` will not take its word for any of them.

        Parameters
        ----------
        scales : Scales
            What `halfspace.certificates.expansion.scales` said of the examples, once for all claims about them.
        sign : ndarray, shape (n,)
            Labels, ±1.
        E : ndarray, shape (n,)
            Potentials y_i (f(x_i) + bias) of the function.
        square : float
            ‖f‖², as exact as one sum in double precision.
        witness_square : float, optional
            ‖Σ strengths_i y_i φ(x_i)‖², if it is not `square`.
        error : ndarray, shape (n,), or float
            Bound on the error of each potential beyond that of one sum in double precision.
        """
        with np.errstate(all="ignore"):
            e = self._exponent()
            total = float(self.strengths.sum())
            other = (square if witness_square is None else witness_square) / total / total
            extra = np.broadcast_to(np.ldexp(np.asarray(error, dtype=np.float64), -e), E.shape)
            potentials = np.ldexp(np.asarray(E, dtype=np.float64), -e)
            return self._claiming(
                self._collected(potentials, extra, (float(np.ldexp(square, -2 * e)), float(other)), sign, scales)
            )

    def _claiming(self, sides: _Sides) -> Self:
        """Return this bracket with these sides, several rounding errors given away."""
        lower, upper = sides.outward(SLACK)
        return replace(self, lower=float(lower), upper=float(upper), radius=sides.radius)

    def well_formed(self) -> Verdict:
        """Check types, shapes and ranges of the fields."""
        p, c = self.support, self.coefficients
        function = is_array(p, 1, "i") and is_array(c, 1) and p.shape == c.shape and bool((p >= 0).all())
        distinct = function and is_array(self.rows, 1, "i") and all(np.unique(r).size == r.size for r in (p, self.rows))
        return Verdict.of(
            *sound_bracket(self),
            (sound_kernel(self.kernel), "the kernel is not a kernel whose parameters are numbers"),
            (function, "support and coefficients are not matching rows >= 0 and finite numbers"),
            (not function or distinct, "a row is named twice"),
            *sound_bias(self),
            (is_label(self.positive), f"{self.positive!r} cannot be a label"),
        )

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both sides and the radius."""
        n = X.shape[0]
        shaped = Verdict.of(
            (bool((self.rows < n).all() and (self.support < n).all()), f"a row outside 0..{n - 1}"),
            (both_signs(y, self.positive), f"not both {self.positive!r} and others in y"),
        )
        if not shaped:
            return shaped
        try:
            shift, objection = indefiniteness(self.kernel, X)
            sides = None if objection else self._sides(X, signs(y, self.positive), shift)
        except InputError as error:  # the kernel was made for other data
            return Verdict.of((False, str(error)))
        return Verdict.of((False, str(objection))) if sides is None else self._judged(sides)

    def _judged(self, sides: _Sides) -> Verdict:
        """Compare the claims with sides computed anew; NaN and infinity confirm nothing."""
        R = sides.radius
        (lower, upper), (lowest, highest) = sides.outward(1.0), sides.outward(64.0)
        finite = bool(np.isfinite(R) and np.isfinite(upper) and (np.isfinite(lower) or lower == -np.inf))
        low_side = finite and lowest - LOOSE * R <= self.lower <= lower
        high_side = finite and upper <= self.upper <= highest + LOOSE * R
        return Verdict.of(
            (low_side, f"the function has margin {lower:.12g}, not {self.lower:.12g}"),
            (high_side, f"the strengths allow a margin of {upper:.12g}, not {self.upper:.12g}"),
            (finite and abs(self.radius - R) <= 1e-9 * R, f"the radius is {R:.6g}, not {self.radius:.6g}"),
        )

    def _exponent(self) -> int:
        """Return the power of 2 that the coefficients are divided by, so that none underflows."""
        return int(np.frexp(np.abs(self.coefficients).max(initial=0.0))[1])

    def _sides(self, X: Matrix, sign: FloatArray, shift: float) -> _Sides:
        """Compute from checked data what both sides are made of, in one pass over the kernel's columns."""
        rows = np.union1d(self.support, self.rows)
        c = np.zeros((rows.size, 2))
        c[np.searchsorted(rows, self.support), 0] = unit_scale(self.coefficients)
        c[np.searchsorted(rows, self.rows), 1] = shares(self.strengths) * sign[self.rows]
        F = outputs(self.kernel, X, rows, c, self.clamp)
        first, second = squares_of(F, rows, c)
        bias = float(np.ldexp(self.bias, -self._exponent()))
        squares, measured = (float(first), float(second)), scales(self.kernel, X, self.clamp, shift)
        return self._collected(sign * (F[:, 0] + bias), np.zeros(sign.size), squares, sign, measured)

    def _collected(
        self, E: FloatArray, extra: FloatArray, squares: tuple[float, float], sign: FloatArray, scales: Scales
    ) -> _Sides:
        """Put together potentials and squared lengths with bounds on the rounding of each; `extra` errors are added."""
        c, share = unit_scale(self.coefficients), shares(self.strengths)
        error, first = scales.errors(self.support, c[:, None])
        second = scales.errors(self.rows, share[:, None])[1]
        bias = float(np.ldexp(self.bias, -self._exponent()))
        left = abs(float((share * sign[self.rows]).sum())) + 2 * (share.size + 8) * EPS
        return _Sides(
            E=E,
            error=error[:, 0] + 8 * EPS * abs(bias) + extra,
            squares=squares,
            square_errors=(float(first[0]), float(second[0])),
            rest=2.0 * scales.radius * left if self.free else 0.0,
            radius=scales.radius,
        )

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        whole = rebuilt({"rows": body["support"], "strengths": body["coefficients"]})
        function = {"support": whole["rows"], "coefficients": whole["strengths"]}
        return cls(**rebuilt({**body, **function, "kernel": kernels.from_dict(body["kernel"])}))
