"""Margin brackets: how far apart the classes are, between two numbers that are theorems at every moment.

Lower side. The margin of any weights is at most the best:  min_i y_i w·x_i / ‖w‖ <= kappa*.
Upper side. For any strengths lambda >= 0 with sum 1:  kappa* <= ‖Σ lambda_i y_i x_i‖,  because a unit vector with margin
            kappa* has inner product at least kappa* with every y_i x_i, so also with their mean, whose length is at least that.
Free bias.  With outputs w·x + b the lower side is  min_i y_i (w·x_i + b) / ‖w‖,  and the upper side needs  Σ lambda_i y_i = 0,
            which cancels b; what is left of that sum is multiplied by 2R, the most a sensible bias can be, and added.
Kernels.    The same theorem in the kernel's space: a function f = Σ_j c_j (k(x_j, ·) + clamp²) has outputs f(x) and length
            ‖f‖, and the upper side is sqrt(lambdaᵀ Q lambda) with Q_ij = y_i y_j (k(x_i, x_j) + clamp²). Norms are roots of
            sums there, so an upper side below about 1e-8 R cannot be told from 0, and inseparability is never proved.
Classes.    Several classes learnt together, by Kesler's construction: "the truth beats every rival",  w_y·x > w_v·x,  is a
            two-class statement about the vector (e_y - e_v) ⊗ x and the long weight vector W, one for each example and rival.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import (
    EPS,
    as_rows,
    both_signs,
    held,
    matching,
    norm,
    potentials_and_sums,
    radius,
    rounding,
    shares,
    signs,
    squares,
    unit_scale,
    vanishes_exactly,
    visible,
)
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.expansion import Scales, outputs, proved_scales, squares_of
from halfspace.certificates.predictor import one_function
from halfspace.errors import InputError
from halfspace.kernels import Kernel

__all__ = ["SLACK", "KernelBracket", "KeslerBracket", "MarginBracket", "Sides", "consistent_bias", "rivals_only"]

SLACK = 4.0
"""A claim gives away this many rounding errors; a checker demands that one is left."""
LOOSE = 1e-7
"""A claim in a kernel's space may be looser than the truth by this share of the radius."""


def consistent_bias(certificate: Any) -> list[tuple[bool, str]]:
    """Return the conditions on bias and clamped input that every plane or function with a bias has."""
    c = certificate
    return [
        (c.free or c.bias == 0.0, "the bias is neither free nor 0"),
        (not (c.free and c.clamp), "a bias cannot be both free and clamped"),
    ]


def different(rows: IntArray) -> tuple[bool, str]:
    """Return the claim that no row is named twice."""
    return np.unique(rows).size == rows.size, "a row is named twice"


def within(rows: IntArray, n: int) -> tuple[bool, str]:
    """Return the claim that all rows are among n."""
    return bool((rows < n).all()), f"a row outside 0..{n - 1}"


class Sides(NamedTuple):
    """Both sides of a bracket of planes as computed, before rounding is allowed for."""

    lower: float
    upper: float
    radius: float
    terms: int  # longest chain of additions behind either side

    def outward(self) -> tuple[float, float]:
        """Return both sides moved apart by several rounding errors, and within what the radius, itself rounded, allows."""
        sound, problem = visible(self.radius)
        if not sound:
            msg = f"{problem}, e.g. with StandardScaler."
            raise InputError(msg)
        error = rounding(self.terms, self.radius)
        edge = self.radius + error  # who checks may sum the squares of the same rows in another order
        return max(self.lower - SLACK * error, -edge), max(min(self.upper + SLACK * error, edge), 0.0)


class Bracket(Certificate, abstract=True):
    """`lower <= kappa* <= upper` on examples of length at most `radius`, with the witnesses of both sides."""

    lower: float
    upper: float
    radius: float
    strengths: FloatArray

    def __str__(self) -> str:
        return f"{self.lower:.4g} <= kappa* <= {self.upper:.4g}"

    @property
    def separable(self) -> bool | None:
        """True or False if the bracket proves it, None if it is too wide to tell."""
        return True if self.lower > 0 else False if self.upper <= 0 else None

    def consistent(self) -> list[tuple[bool, str]]:
        """Check the order of the sides, and that the upper one has a witness."""
        return [
            (self.lower <= self.upper, "the lower side is above the upper one"),
            (bool(self.strengths.any()), "no strength is positive"),
        ]

    def _confirmed(self, sides: Sides, *, exactly_zero: bool = False) -> Verdict:
        """Judge a bracket of planes by sides computed anew; NaN and infinity confirm nothing."""
        error, R = rounding(sides.terms, sides.radius), sides.radius
        finite = bool(np.isfinite(R) and np.isfinite(sides.upper) and (np.isfinite(sides.lower) or sides.lower == -np.inf))
        low_side = finite and self.lower <= max(sides.lower - error, -R)
        # A float residual proves no zero: the error is positive, unless there is nothing but zeros.
        high_side = exactly_zero or (finite and self.upper >= min(sides.upper + error, R))
        return Verdict.of(
            (low_side, f"the weights have margin {sides.lower:.6g}, not {self.lower:.6g}"),
            (high_side, f"the strengths allow a margin of {sides.upper:.6g}, not only {self.upper:.6g}"),
            (finite and abs(self.radius - R) <= 1e-9 * R, f"the radius is {R:.6g}, not {self.radius:.6g}"),
            visible(R),
        )


@dataclass(frozen=True, eq=False)
class MarginBracket(Bracket):
    """Two-sided bound on the best margin of two classes, with the witnesses of both sides.

    Parameters
    ----------
    lower, upper : float
        `lower <= kappa* <= upper`. A positive lower side proves the classes separable; an upper side of exactly 0 was
        confirmed in rational arithmetic and proves them inseparable (Gordan's theorem).
    radius : float
        Length R of the longest example, clamped input included.
    weights : ndarray, shape (D,)
        The plane of the lower side, clamped weight last.
    rows, strengths : ndarray, shape (m,)
        The examples of the upper side and their strengths (any positive multiple).
    clamp : float
        Value of the clamped input; 0 for none.
    positive : label
        The label that counts as +1.
    bias : float
        Free bias; 0 if there is none.
    free : bool
        Whether the bias is free: not counted in the length of the weights.

    Examples
    --------
    >>> X, y = np.array([[2.0], [-2.0]]), np.array([1, 0])
    >>> bracket = MarginBracket.measure(X, y, weights=np.array([1.0]), strengths=np.array([1.0, 1.0]), positive=1)
    >>> print(bracket)
    2 <= kappa* <= 2
    >>> bool(bracket.verify(X, y))
    True
    """

    lower: Annotated[float, "real"]
    upper: Annotated[float, "real >= 0"]
    radius: Annotated[float, "finite >= 0"]
    weights: Annotated[FloatArray, "finite(D)"]
    rows: Annotated[IntArray, "int(m) >= 0"]
    strengths: Annotated[FloatArray, "finite(m) >= 0"]
    clamp: Annotated[float, "finite", "asked"]
    positive: Annotated[Label, "label", "asked"]
    bias: float = 0.0
    free: Annotated[bool, "bool", "asked"] = False

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        weights: FloatArray,
        strengths: FloatArray | None = None,
        clamp: float = 0.0,
        positive: Label,
        bias: float | None = None,
    ) -> Self:
        """Measure the bracket of these weights (D,) and strengths (n,) on examples X (n, d) with labels y (n,).

        Without usable strengths the shortest example is the upper side's witness. A `bias` that is given is a free one.
        """
        X, y = as_rows(X, y)
        strengths = np.zeros(X.shape[0]) if strengths is None else np.maximum(np.nan_to_num(strengths), 0.0)
        if not strengths.any():
            strengths[np.argmin(squares(X))] = 1.0
        rows = np.flatnonzero(strengths)
        draft = cls(-np.inf, np.inf, 0.0, weights, rows, strengths[rows], clamp, positive, bias or 0.0, bias is not None)
        sides = draft._sides(X, y)
        bracket = cls.claim(sides, weights=weights, strengths=strengths, clamp=clamp, positive=positive)
        bracket = replace(bracket, bias=draft.bias, free=draft.free)
        if sides.upper <= 2 * rounding(sides.terms, sides.radius) and draft._gordan(X, y):
            return replace(bracket, upper=0.0)
        return bracket

    @classmethod
    def claim(cls, sides: Sides, *, weights: FloatArray, strengths: FloatArray, clamp: float = 0.0, positive: Label) -> Self:
        """Make the bracket of numbers that a solver has at hand; `verify` will not take its word for any of them."""
        rows = np.flatnonzero(strengths > 0)
        lower, upper = sides.outward()
        return cls(lower, upper, sides.radius, held(weights), rows, strengths[rows], clamp, positive)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check sides and witnesses, and the bias."""
        return [*super().consistent(), *consistent_bias(self), different(self.rows)]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the plane."""
        return {"weights": self.weights[None], "bias": np.array([self.bias]), "clamp": self.clamp, "positive": [self.positive]}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both sides and the radius."""
        fits = Verdict.of(matching(self.weights, self.clamp, X), within(self.rows, X.shape[0]), both_signs(y, self.positive))
        if not fits:
            return fits
        return self._confirmed(self._sides(X, y), exactly_zero=self.upper == 0.0 and self._gordan(X, y))

    def _sides(self, X: Matrix, y: Labels) -> Sides:
        """Return min_i y_i (w·x_i + bias) / ‖w‖ (minus infinity for w = 0) and the length of the mean Σ lambda_i y_i x_i."""
        w, sign, R = unit_scale(self.weights), signs(y, self.positive), radius(X, self.clamp)
        scale = norm(self.weights) / norm(w) if norm(w) > 0 else 1.0
        c = np.zeros(X.shape[0])
        c[self.rows] = shares(self.strengths)
        outputs, sums = potentials_and_sums(X, w[None], (c * sign)[None], self.clamp)
        lower = float((sign * (outputs[:, 0] + self.bias / scale)).min()) / norm(w) if norm(w) > 0 else -np.inf
        rest = 2.0 * R * abs(float((c * sign).sum())) if self.free else 0.0
        return Sides(lower, norm(sums) + rest, R, sum(X.shape))

    def _gordan(self, X: Matrix, y: Labels) -> bool:
        """Tell whether the strengths are an exact Gordan certificate: not all zero, none negative, signed sum zero."""
        c = np.zeros(X.shape[0])
        c[self.rows] = self.strengths
        clamp = 1.0 if self.free else self.clamp
        return bool((self.strengths >= 0).all()) and vanishes_exactly(X, c * signs(y, self.positive), clamp)


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
class KernelBracket(Bracket):
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

    lower: Annotated[float, "real"]
    upper: Annotated[float, "real >= 0"]
    radius: Annotated[float, "finite >= 0"]
    kernel: Annotated[Kernel, "kernel", "asked"]
    support: Annotated[IntArray, "int(p) >= 0"]
    coefficients: Annotated[FloatArray, "finite(p)"]
    rows: Annotated[IntArray, "int(m) >= 0"]
    strengths: Annotated[FloatArray, "finite(m) >= 0"]
    clamp: Annotated[float, "finite", "asked"]
    positive: Annotated[Label, "label", "asked"]
    bias: float = 0.0
    free: Annotated[bool, "bool", "asked"] = False

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
            return draft._claiming(draft._sides(X, sign))  # noqa: SLF001  (its own kind)

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

        `scales` measures the examples, `sign` holds the labels ±1, and E, shape (n,), the potentials y_i (f(x_i) + bias) of the
        function. `square` is ‖f‖² and `witness_square` ‖Σ strengths_i y_i φ(x_i)‖², if that is another; both are as exact as
        one sum in double precision. `error` bounds what each potential is off beyond that.
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

    def consistent(self) -> list[tuple[bool, str]]:
        """Check sides, witnesses, rows and the bias."""
        return [*super().consistent(), *consistent_bias(self), different(self.support), different(self.rows)]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the function of the lower side."""
        return one_function(self, self.support, self.coefficients)

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both sides and the radius; NaN and infinity confirm nothing."""
        fits = Verdict.of(within(np.append(self.rows, self.support), X.shape[0]), both_signs(y, self.positive))
        if not fits:
            return fits
        try:
            sides = self._sides(X, signs(y, self.positive))
        except InputError as error:  # the kernel is indefinite, or was made for other data
            return Verdict.of((False, str(error)))
        (lower, upper), (lowest, highest), R = sides.outward(1.0), sides.outward(64.0), sides.radius
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

    def _sides(self, X: Matrix, sign: FloatArray) -> _Sides:
        """Compute from checked data what both sides are made of, in one pass over the kernel's columns."""
        proved = proved_scales(self.kernel, X, self.clamp)
        rows = np.union1d(self.support, self.rows)
        c = np.zeros((rows.size, 2))
        c[np.searchsorted(rows, self.support), 0] = unit_scale(self.coefficients)
        c[np.searchsorted(rows, self.rows), 1] = shares(self.strengths) * sign[self.rows]
        F = outputs(self.kernel, X, rows, c, self.clamp)
        first, second = squares_of(F, rows, c)
        bias = float(np.ldexp(self.bias, -self._exponent()))
        return self._collected(sign * (F[:, 0] + bias), np.zeros(sign.size), (float(first), float(second)), sign, proved)

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


@dataclass(frozen=True, eq=False)
class KeslerBracket(Bracket):
    """Two-sided bound on the best margin of several classes learnt together (truth against its strongest rival).

    Parameters
    ----------
    lower, upper : float
        `lower <= kappa* <= upper` for the margin min over i, v of (w_y - w_v)·x_i / ‖W‖.
    radius : float
        Length of the longest vector (e_y - e_v) ⊗ x: √2 times that of the longest example.
    weights : ndarray, shape (K, D)
        The planes of the lower side.
    rows, rivals, strengths : ndarray, shape (m,)
        Example, rival class number and strength of each term of the upper side.
    clamp : float
        Value of the clamped input; 0 for none.
    classes : tuple
        The labels, in the order of the rows of `weights`.

    Examples
    --------
    >>> X, y = np.eye(3), np.array(["a", "b", "c"])
    >>> alpha = np.ones((3, 3)) - np.eye(3)
    >>> print(KeslerBracket.measure(X, y, weights=np.eye(3), strengths=alpha, classes=y))
    0.5774 <= kappa* <= 0.7071
    """

    lower: Annotated[float, "real"]
    upper: Annotated[float, "real >= 0"]
    radius: Annotated[float, "finite >= 0"]
    weights: Annotated[FloatArray, "finite(K,D)"]
    rows: Annotated[IntArray, "int(m) >= 0"]
    rivals: Annotated[IntArray, "int(m) in 0..K"]
    strengths: Annotated[FloatArray, "finite(m) >= 0"]
    clamp: Annotated[float, "finite", "asked"]
    classes: Annotated[tuple[Label, ...], "classes(K)"]

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        weights: FloatArray,
        strengths: FloatArray,
        clamp: float = 0.0,
        classes: Labels,
    ) -> Self:
        """Measure the bracket of planes (K, D) and strengths (K, n); the strengths of the true classes are not read."""
        X, y = as_rows(X, y)
        truth = np.searchsorted(classes, y)
        alpha = rivals_only(strengths, truth)
        if not alpha.any():
            i = int(np.argmin(squares(X)))
            alpha[0 if truth[i] else 1, i] = 1.0
        rivals, rows = np.nonzero(alpha)
        sides = _kesler_sides(X, truth, weights, (rows, rivals, alpha[rivals, rows]), clamp)
        return cls.claim(sides, weights=weights, strengths=alpha, clamp=clamp, classes=classes)

    @classmethod
    def claim(cls, sides: Sides, *, weights: FloatArray, strengths: FloatArray, clamp: float = 0.0, classes: Labels) -> Self:
        """Make the bracket of numbers that a solver has at hand, with strengths (K, n) of the rivals only."""
        rivals, rows = np.nonzero(strengths > 0)
        lower, upper = sides.outward()
        labels = tuple(np.asarray(classes).tolist())
        return cls(lower, upper, sides.radius, held(weights), rows, rivals, strengths[rivals, rows], clamp, labels)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check sides and witnesses."""
        pairs = set(zip(self.rows.tolist(), self.rivals.tolist(), strict=True))
        return [*super().consistent(), (len(pairs) == self.rows.size, "a row is named twice with the same rival")]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the plane of each class."""
        nothing, classes = np.zeros(len(self.weights)), list(self.classes)
        return {"weights": self.weights, "bias": nothing, "clamp": self.clamp, "positive": classes}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute both sides and the radius."""
        numbers = {label: k for k, label in enumerate(self.classes)}
        truth = np.array([numbers.get(label, -1) for label in y.tolist()])
        fits = Verdict.of(
            matching(self.weights, self.clamp, X),
            within(self.rows, X.shape[0]),
            (bool((truth >= 0).all()), "y has a label the certificate does not know"),
        )
        if not fits:
            return fits
        if (truth[self.rows] == self.rivals).any():
            return Verdict.of((False, "a rival is the truth itself"))
        terms = self.rows, self.rivals, self.strengths
        return self._confirmed(_kesler_sides(X, truth, self.weights, terms, self.clamp))


def rivals_only(strengths: FloatArray, truth: IntArray) -> FloatArray:
    """Copy strengths (K, n) without those of the true classes, and without negative ones."""
    alpha = np.maximum(strengths, 0.0)
    alpha[truth, np.arange(truth.size)] = 0.0
    return alpha


def _kesler_sides(
    X: Matrix, truth: IntArray, W: FloatArray, pairs: tuple[IntArray, IntArray, FloatArray], clamp: float
) -> Sides:
    """Return both sides for the vectors (e_y - e_v) ⊗ x."""
    rows, rivals, strengths = pairs
    W, share = unit_scale(W), shares(strengths)
    c = np.zeros((W.shape[0], truth.size))
    np.add.at(c, (rivals, rows), -share)
    np.add.at(c, (truth[rows], rows), share)
    scores, sums = potentials_and_sums(X, W, c, clamp)
    own = scores[np.arange(truth.size), truth].copy()
    scores[np.arange(truth.size), truth] = -np.inf
    length = norm(W.ravel())
    lower = float((own - scores.max(axis=1)).min()) / length if length > 0 else -np.inf
    return Sides(lower, norm(sums.ravel()), np.sqrt(2.0) * radius(X, clamp), 2 * sum(X.shape))
