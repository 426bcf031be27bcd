"""Separable or not: a plane, or the examples that forbid one, each checked without rounding.

Gordan's theorem. Of the two statements exactly one is true:

    some (w, b) has  y_i (w·x_i + b) > 0  for all i;
    some λ >= 0, λ != 0, has  Σ λ_i y_i (x_i, 1) = 0.

The second says that the convex hulls of the classes intersect: Σ λ_i x_i over the one equals Σ λ_i x_i over the other; without
an intercept, that the hull of the examples y_i x_i contains the origin. By Carathéodory's theorem D + 1 examples are enough,
with D = d + 1 inputs (d without an intercept). Reference: Gordan 1873; Schrijver 1986, section 7.8.

Why a float residual is not a proof. A sum such as 1e-17 may be the rounding of 0 or of 1e-17, and between the two lies the
verdict: hulls that touch, or a plane through a gap that thin. Floats are fractions, so both statements can be checked in
rational arithmetic, and only that is accepted here.
"""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, both_signs, held, signs
from halfspace.certificates.base import Certificate, Verdict, _plain, from_plain
from halfspace.certificates.fields import revived
from halfspace.certificates.margins.bracket import MarginBracket
from halfspace.certificates.rational import CLEAR, combination_vanishes, dense_rows, exact_potentials, margin_holds, potentials

__all__ = ["Separability", "certain_margin"]

VERDICTS = ("separable", "inseparable", "undecided")
DIGITS = 1 << 17
"""Longest numerator or denominator that is read: about 60,000 are needed with 1000 features."""
BITS = 1 << 20
"""Longest common denominator of multipliers that is computed with."""


@dataclass(frozen=True, eq=False)
class Separability(Certificate):
    """Whether some plane separates two classes, with the proof.

    Parameters
    ----------
    verdict : {"separable", "inseparable", "undecided"}
        What was found. Undecided means too thin to tell in the time given: the bracket says how thin.
    w : ndarray, shape (d,)
        Weights of the separating plane; of the bracket's plane if undecided; zero if inseparable.
    b : float
        Bias of that plane.
    margin : float
        Positive if separable: every example is at least this far on its side, y_i (w·x_i + b) >= margin·‖w‖ exactly.
    multipliers : dict of int to Fraction
        If inseparable, λ of at most d + 2 rows (d + 1 without intercept), with sum 1; otherwise empty.
    bracket : MarginBracket or None
        If undecided, the best margin known from both sides (of the clamped problem, if there is an intercept).
    intercept : bool
        Whether the plane may have a bias.
    positive : label
        The label that counts as +1.
    answer : MarginBracket or None
        Of a model on inseparable data: the plane that it predicts with all the same.
    one_class : bool
        Whether all examples have the positive label, and the question is whether they lie on one side of a plane.

    Examples
    --------
    >>> from halfspace.questions.separability import separability
    >>> XOR, y = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]), np.array([0, 0, 1, 1])
    >>> proof = separability(XOR, y)
    >>> print(proof)
    inseparable: the classes' convex hulls intersect (4 witness rows: 0, 1, 2, 3), in exact arithmetic
    >>> {row: str(share) for row, share in proof.multipliers.items()}
    {0: '1/4', 1: '1/4', 2: '1/4', 3: '1/4'}
    >>> bool(proof.verify(XOR, y)), bool(proof.verify(XOR, np.array([0, 1, 1, 1])))
    (True, False)
    """

    verdict: str
    w: Annotated[FloatArray, "finite(d)"]
    b: float
    margin: Annotated[float, "finite >= 0"]
    multipliers: Annotated[dict[int, Fraction], "dict"]
    bracket: MarginBracket | None
    intercept: Annotated[bool, "bool", "asked"]
    positive: Annotated[Label, "label", "asked"]
    answer: MarginBracket | None = None
    one_class: Annotated[bool, "bool", "asked"] = False

    @classmethod
    def by_plane(cls, weights: FloatArray, margin: float, *, intercept: bool, positive: Label) -> Self:
        """Claim separable, by a plane (D,), bias last if there is one, with a margin from `certain_margin`."""
        return cls("separable", *_plane(weights, intercept=intercept), margin, {}, None, intercept, positive)

    @classmethod
    def by_multipliers(cls, multipliers: dict[int, Fraction], width: int, *, intercept: bool, positive: Label) -> Self:
        """Claim inseparable, by multipliers of examples with `width` features."""
        ordered = dict(sorted(multipliers.items()))
        return cls("inseparable", np.zeros(width), 0.0, 0.0, ordered, None, intercept, positive)

    @classmethod
    def by_bracket(cls, bracket: MarginBracket, *, intercept: bool) -> Self:
        """Leave it undecided, with a bracket around 0."""
        plane = _plane(bracket.weights, intercept=intercept)
        return cls("undecided", *plane, 0.0, {}, bracket, intercept, bracket.positive)

    @property
    def obstacle(self) -> IntArray:
        """Witness rows: examples whose convex hulls, one per class, intersect, shape (m,); none unless inseparable."""
        return np.array(list(self.multipliers), dtype=np.int64)

    def __str__(self) -> str:
        if self.verdict == "separable":
            return f"separable: every example is at least {self.margin:.4g} on its side of a plane, in exact arithmetic"
        if self.verdict == "inseparable":
            rows = ", ".join(map(str, self.obstacle[:5])) + (", ..." if self.obstacle.size > 5 else "")
            if self.obstacle.size == 1:
                return f"inseparable: an example is zero (row {rows}), in exact arithmetic"
            origin = "the convex hull of the examples times ±1 contains the origin"
            hulls = "the classes' convex hulls intersect" if self.intercept else origin
            return f"inseparable: {hulls} ({self.obstacle.size} witness rows: {rows}), in exact arithmetic"
        return f"undecided: {self.bracket}"

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as plain values; multipliers become strings "p/q"."""
        from flint import fmpz  # noqa: PLC0415  (not at the first fit: only exact proofs need it)

        shares = {str(row): f"{fmpz(share.numerator)}/{fmpz(share.denominator)}" for row, share in self.multipliers.items()}
        names = ["verdict", "w", "b", "margin", "bracket", "intercept", "positive", *["answer"] * (self.answer is not None)]
        names += ["one_class"] * self.one_class
        return {"kind": type(self).__name__, "multipliers": shares, **{name: _plain(getattr(self, name)) for name in names}}

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        if not isinstance(body["multipliers"], dict):
            msg = "its multipliers are not a table of rows and fractions"
            raise TypeError(msg)
        multipliers = {_row(row): _fraction(text) for row, text in body.pop("multipliers").items()}
        return cls(multipliers=multipliers, **revived(cls, body, from_plain))

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that the fields belong to the verdict."""
        sound = all(
            type(row) is int and 0 <= row < 2**53 and isinstance(share, Fraction) and share > 0
            for row, share in self.multipliers.items()
        )
        if not sound:
            return [(False, "the multipliers are not positive fractions of rows >= 0")]
        most = self.w.size + self.intercept + 1
        undecided, separable, inseparable = (self.verdict == v for v in ("undecided", "separable", "inseparable"))
        return [
            (self.verdict in VERDICTS, f"the verdict is none of {', '.join(VERDICTS)}"),
            (self.intercept or self.b == 0, "there is a bias without an intercept"),
            (not self.one_class or self.bracket is None, "there is no bracket of a single class"),
            ((self.margin > 0) == separable, "a positive margin belongs to the verdict separable, and only to it"),
            (bool(self.multipliers) == inseparable, "multipliers belong to the verdict inseparable, and only to it"),
            (len(self.multipliers) <= most, f"{len(self.multipliers)} examples, but {most} are always enough"),
            (not inseparable or not (self.w.any() or self.b), "a plane belongs to no verdict of inseparable"),
            ((self.bracket is not None) == undecided, "a bracket belongs to the verdict undecided, and only to it"),
            *(_open_question(self, self.bracket) if self.bracket is not None else ()),
        ]

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return the plane of a model."""
        return {} if self.answer is None else self.answer.predictor(y)

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute the claim in rational arithmetic, and that about a model's plane."""
        verdict = self._confirmed(X, y)
        return verdict and (verdict if self.answer is None else Verdict.all_of([("answer", self.answer.confirm(X, y))]))

    def _confirmed(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute the claim about the examples."""
        shaped = Verdict.of(
            (self.w.size == X.shape[1], f"weights for {self.w.size} features, but the data have {X.shape[1]}"),
            _only(y, self.positive) if self.one_class else both_signs(y, self.positive),
        )
        if not shaped:
            return shaped
        if self.bracket is not None:
            return Verdict.all_of([("bracket", self.bracket.confirm(X, y))])
        clamp = float(self.intercept)
        if self.verdict == "separable":
            weights = np.append(self.w, self.b) if self.intercept else self.w
            short = margin_holds(X, signs(y, self.positive), weights, clamp, self.margin)
            return Verdict.of((not short.size, f"{short.size} rows are not {self.margin:.6g} on their side, e.g. {short[:3]}"))
        if self.obstacle.max() >= X.shape[0]:
            return Verdict.of((False, f"a row outside 0..{X.shape[0] - 1}"))
        zero = _signed_sum_vanishes(self.multipliers, X, signs(y, self.positive), clamp)
        return Verdict.of((zero, "the signed sum of the examples is not exactly zero, or the multipliers do not sum to 1"))


def certain_margin(X: Matrix, y: FloatArray, weights: FloatArray, clamp: float) -> tuple[float, IntArray]:
    """Return a margin that `verify` will confirm, or 0 and rows that are on the wrong side for certain; y holds signs."""
    found = potentials(X, y, weights, clamp)
    clear = CLEAR * found.error < found.E
    deep = np.flatnonzero(-CLEAR * found.error > found.E)
    if deep.size:
        return 0.0, deep
    thin = np.flatnonzero(~clear)
    exact = exact_potentials(dense_rows(X, thin, clamp) * y[thin, None], weights)
    wrong = thin[np.array([E <= 0 for E in exact], dtype=bool)]
    if wrong.size:
        return 0.0, wrong
    least = float((found.E - CLEAR / 2 * found.error)[clear].min(initial=np.inf)) / found.length * (1 - 8 * EPS)
    if exact:
        w = weights[: X.shape[1]]
        squared = min(exact) ** 2 / exact_potentials(w[None], w)[0]
        least = min(least, _root(squared))
    return least, wrong


def _root(value: Fraction) -> float:
    """Return the square root of a positive fraction, rounded down; down to 0 only below the smallest float."""
    shift = min(52 - (value.numerator.bit_length() - value.denominator.bit_length()) // 2, 1074)
    return math.ldexp(math.isqrt(int(value * Fraction(4) ** shift)), -shift)


def _plane(weights: FloatArray, *, intercept: bool) -> tuple[FloatArray, float]:
    """Cut a plane into w and b."""
    weights = held(weights)
    return (weights[:-1], float(weights[-1])) if intercept else (weights, 0.0)


def _only(y: Labels, positive: Label) -> tuple[bool, str]:
    """Return the claim that all labels are the positive one."""
    return bool(np.all(np.asarray(y) == positive)), f"y has other labels than {positive!r}"


def _row(text: str) -> int:
    """Read a row number."""
    if not re.fullmatch(r"0|[1-9][0-9]{0,15}", text, re.ASCII):
        msg = f"{text[:20]!r} is not a row number"
        raise ValueError(msg)
    return int(text)


def _fraction(text: Any) -> Fraction:
    """Read a positive fraction "p/q" in lowest terms, of any sensible length."""
    from flint import fmpz  # noqa: PLC0415  (not at the first fit: only exact proofs need it)

    parts = text.split("/") if isinstance(text, str) else []
    if len(parts) != 2 or not all(p.isascii() and p.isdigit() and p[0] != "0" and len(p) <= DIGITS for p in parts):
        msg = f"{str(text)[:20]!r} is not a positive fraction p/q"
        raise ValueError(msg)
    return Fraction(*(int(fmpz(part)) for part in parts))


def _open_question(proof: Separability, bracket: MarginBracket) -> list[tuple[bool, str]]:
    """Return the claims that a bracket is about the same problem and leaves it open."""
    plane = np.append(proof.w, proof.b) if proof.intercept else proof.w
    return [
        (bracket.lower <= 0.0 < bracket.upper, "the bracket does not leave the question open"),
        (bracket.clamp == float(proof.intercept), "the bracket is for another intercept"),
        (type(bracket.positive) is type(proof.positive) and bracket.positive == proof.positive, "another positive label"),
        (np.array_equal(plane, bracket.weights), "w and b are not the bracket's plane"),
    ]


def _signed_sum_vanishes(multipliers: dict[int, Fraction], X: Matrix, y: FloatArray, clamp: float) -> bool:
    """Tell whether Σ λ_i y_i x̃_i = 0 and Σ λ_i = 1 exactly, over a common denominator."""
    from flint import fmpz  # noqa: PLC0415  (not at the first fit: only exact proofs need it)

    least = fmpz(1)
    for share in multipliers.values():
        least = least.lcm(fmpz(share.denominator))
        if least.bit_length() > BITS:  # made up to keep the checker busy
            return False
    common = int(least)
    rows = np.array(list(multipliers), dtype=np.int64)
    shares = [share.numerator * (common // share.denominator) for share in multipliers.values()]
    return sum(shares) == common and combination_vanishes(
        X, rows, [int(y[row]) * share for row, share in zip(rows, shares, strict=True)], clamp
    )
