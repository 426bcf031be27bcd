"""The certificate of a prototype classifier: its errors, its cost, how flat the cost is there, and how safe the rows are.

A row is given the label of its nearest prototype, d_k(x) = ‖Ω(x - w_k)‖². Claims, each recomputed from the data:

- errors: rows whose nearest prototype has another label; near ties may fall either way;
- radius: no row that is right becomes wrong by a move shorter than this, in the units of the inputs;
- cost: Σ s_i f(μ_i) of generalised LVQ, μ = (d+ - d-) / (d+ + d-), and the relative length of its gradient;
- costs: the course of a batch method never rises and ends in that cost; its other values are reported by the run.

Claims give away four times their rounding, the checker demands one.

Write d+ for the nearest prototype of the row's own label, d- for the nearest of any other, S = d+ + d-:
    μ = (d+ - d-) / S,        cost  E = Σ s_i f(μ_i),        ∂μ/∂d+ = 2 d- / S²,        ∂μ/∂d- = -2 d+ / S²,
    ∂d/∂w = -2 ΩᵀΩ (x - w),   ∂d/∂Ω = 2 Ω (x - w)(x - w)ᵀ    (Sato and Yamada 1996; Schneider, Biehl and Hammer 2009).

Radius  d_k - d+ is affine in x, with slope -2 Λ(w_k - w+), Λ = ΩᵀΩ: a row stays right under every move shorter than
        min over wrong k of (d_k - d+) / (2 ‖Λ(w_k - w+)‖), in the units of the inputs (Crammer et al. 2002 for Λ = I).
        Where each class has its own Ω,  √d changes by at most ‖Ω‖ times the move: (√d_k - √d+) / (‖Ω_k‖ + ‖Ω+‖).

Rounding  Distances come from ‖z‖² - 2 z·v + ‖v‖² with z = Ωx, v = Ωw about the prototypes' mean; each is off by at most
          slack_i = 4 (d + m + 8) eps ‖Ω‖² (‖x_i‖ + max ‖w‖)²  (Higham 2002, section 3.1). Distances that close count as equal,
          and among equals the first prototype counts as nearest.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import EPS, as_rows, block_squares, exponent, held, one_weight_each, scaled, some_weight
from halfspace.certificates.base import Certificate, Verdict, apart
from halfspace.errors import InputError

__all__ = ["PrototypeErrors", "Prototypes", "Survey", "survey"]

BLOCK_ENTRIES, BLOCK_ROWS = 1 << 16, 512
"""Entries or distances held at a time, so that they stay in cache; but no fewer rows than these, so that products are large."""
WIDE = 1024
"""Columns up to which rows are written out and moved to the prototypes' mean, whatever their storage: so that dense and sparse
rows are judged alike. Wider ones are taken as they are: most of a wide sparse matrix is zeros."""


POWERS = 20
"""Products by which the norm of a large metric is approached from below."""
TINY = float(np.finfo(np.float64).tiny)
"""A product that underflows is off by less than this."""


class Prototypes(NamedTuple):
    """Prototypes W, shape (P, d), their class numbers, shape (P,), and omega: None, (d,), (m, d) or (classes, m, d)."""

    W: FloatArray
    target: IntArray
    omega: FloatArray | None = None

    @property
    def per_class(self) -> bool:
        """Whether every class has a metric of its own."""
        return self.omega is not None and self.omega.ndim == 3

    def metrics(self) -> list[tuple[FloatArray | None, Any]]:
        """Return each metric with an index of the prototypes that measure by it."""
        if self.per_class:
            return [(omega, np.flatnonzero(self.target == number)) for number, omega in enumerate(np.asarray(self.omega))]
        return [(self.omega, slice(None))]


class Survey(NamedTuple):
    """What a pass over the rows found; numbers ending in `_slack` bound the rounding of the one before."""

    errors: int
    certain: int  # errors whatever the rounding
    possible: int  # errors if every near tie falls badly
    right: NDArray[np.bool_]  # (n,) whether the nearest prototype has the row's label
    radii: FloatArray  # (n,) how far a row may move and stay right, rounded down; 0 where it is wrong
    cost: float
    cost_slack: float
    gradient: float
    gradient_slack: float

    @property
    def radius(self) -> float:
        """The least radius of the rows that are right; 0 if none is."""
        return float(self.radii[self.right].min()) if self.right.any() else 0.0

    @property
    def median_radius(self) -> float:
        """At least half of the rows may move this far."""
        return float(np.sort(self.radii)[(self.radii.size - 1) // 2])


class _Found(NamedTuple):
    """A block of rows in each metric, distances to wrong prototypes (others inf), the nearest two, and what rounding may do."""

    images: list[Any]
    others: FloatArray  # (P, rows): minima over few prototypes of many rows are quicker this way
    plus: IntArray
    minus: IntArray
    d_plus: FloatArray
    d_minus: FloatArray
    slack: FloatArray


def survey(X: Matrix, target: IntArray, given: Prototypes, beta: float | None, s: FloatArray, *, give: float) -> Survey:
    """Look once at every row of X, shape (n, d), of the class numbers `target`, shape (n,); every class has a prototype.

    `beta` is the slope of the sigmoid f(μ) = 1 / (1 + exp(-βμ)), 0 for f(μ) = μ, None for no cost; s, shape (n,), are the
    weights of the rows in the cost; a radius gives away `give` times its rounding.
    """
    centre = _centre(given.W) if X.shape[1] <= WIDE else np.zeros(X.shape[1])
    e = exponent(*_reaches(X, centre), given.W - centre)  # distances are compared with each other: their units do not matter
    omega = None if given.omega is None else scaled(given.omega, exponent(given.omega))
    given = given._replace(W=scaled(given.W - centre, e), omega=omega)
    norms = [_norms(omega) for omega, _ in given.metrics()]
    inverse = 1.0 / np.where((lengths := _lengths(given, [most for _, most in norms])) > 0.0, lengths, 1.0)
    certain, possible, parts, pulls = 0, 0, [], _Pulls(given, max(least for least, _ in norms))
    for rows, block in _blocks(X, centre, given.target.size, e):
        found = _measure(block, target[rows], given)
        gap, tie = found.d_minus - found.d_plus, 2.0 * found.slack
        right = np.where(np.abs(gap) <= tie, found.plus < found.minus, gap > 0.0)
        certain, possible = certain + int((gap < -tie).sum()), possible + int((gap <= tie).sum())
        parts.append((right, np.where(right, _radii(found, given, inverse, give), 0.0)))
        if beta is not None:
            pulls.add(block, found, beta, s[rows])
    right, radii = (np.concatenate(part) for part in zip(*parts, strict=True))
    radii = np.ldexp(radii, e)
    radii[radii < 1e-300] = 0.0  # a radius too small to be rounded down is not claimed
    cost_slack = pulls.cost_slack + (target.size + 8) * EPS * float(s.sum())
    gradient = pulls.relative() if beta is not None else (0.0, 0.0)
    return Survey(int((~right).sum()), certain, possible, right, radii, pulls.cost, cost_slack, *gradient)


def _centre(W: FloatArray) -> FloatArray:
    """Return a point amid the prototypes: their mean, safe from overflow."""
    e = exponent(W)
    return np.asarray(scaled(scaled(W, e).mean(axis=0), -e))


def _reaches(X: Matrix, centre: FloatArray) -> list[Any]:
    """Return numbers whose largest is the largest coordinate about the centre: that of rows far away but close together."""
    if X.shape[1] > WIDE:
        return [X]
    ends = (X.max(axis=0), X.min(axis=0))
    return [(end.toarray().ravel() if sparse.issparse(X) else end).astype(np.float64) - centre for end in ends]


def _blocks(X: Matrix, centre: FloatArray, width: int, e: int) -> Iterator[tuple[slice, Any]]:
    """Yield rows about the centre over 2^e in float64, a block at a time; `width` numbers are held for each."""
    kept = sparse.issparse(X) and X.shape[1] > WIDE
    entries = X.nnz if kept else X.shape[0] * X.shape[1]
    step = max(BLOCK_ROWS, BLOCK_ENTRIES * X.shape[0] // max(entries, width * X.shape[0]))
    for begin in range(0, X.shape[0], step):
        rows = slice(begin, min(begin + step, X.shape[0]))
        if kept:
            yield rows, scaled(X[rows].astype(np.float64), e)
        else:
            yield rows, scaled((X[rows].toarray() if sparse.issparse(X) else X[rows]) - centre, e)


def _project(rows: Any, omega: FloatArray | None) -> Any:
    """Return Ωx for every row."""
    if omega is None:
        return rows
    if omega.ndim == 1:
        return rows.multiply(omega).tocsr() if sparse.issparse(rows) else rows * omega
    return rows @ omega.T


def _lambda(rows: Any, omega: FloatArray | None) -> Any:
    """Return Λx = ΩᵀΩx for every row."""
    image = _project(rows, omega)
    return image if omega is None else image * omega if omega.ndim == 1 else image @ omega


def _norms(omega: FloatArray | None) -> tuple[float, float]:
    """Return bounds from below and above on the largest factor by which Ω lengthens a row; equal but for a large matrix.

    Of a large one the singular values would take longer than all else: what it does to a row, and to that again, is below
    the factor, and the root of the largest row sum times the largest column sum is above.
    """
    if omega is None:
        return 1.0, 1.0
    if omega.ndim == 1 or min(omega.shape) <= WIDE:
        exact = float(np.abs(omega).max() if omega.ndim == 1 else np.linalg.norm(omega, 2))
        return exact, exact
    most = min(np.linalg.norm(omega), np.sqrt(np.abs(omega).sum(axis=0).max() * np.abs(omega).sum(axis=1).max()))
    v = omega[np.argmax(np.square(omega).sum(axis=1))]
    for _ in range(POWERS):
        v = omega.T @ (omega @ (v / (np.linalg.norm(v) or 1.0)))
    return float(np.sqrt(np.linalg.norm(v)) * (1.0 - 1e-9)), float(most * (1.0 + 1e-9))


def _measure(block: Any, target: IntArray, given: Prototypes) -> _Found:
    """Measure all distances of a block of rows, and find the nearest prototypes of the own and of other labels."""
    D, size, images = np.empty((given.target.size, target.size)), 0.0, []
    for omega, members in given.metrics():
        z, v = _project(block, omega), _project(given.W[members], omega)
        D[members] = block_squares(v)[:, None] - np.asarray(z @ (2.0 * v.T)).T + block_squares(z)
        images.append(z)
        size = max(size, _norms(omega)[1] if omega is None or omega.ndim == 1 else float(np.linalg.norm(omega)))
    np.maximum(D, 0.0, out=D)
    reach = size * (np.sqrt(block_squares(block)) + np.sqrt(block_squares(given.W).max()))
    terms = given.W.shape[1] + (0 if given.omega is None else given.omega.shape[0 if given.omega.ndim == 1 else -2]) + 8
    apart = given.W.any() | np.asarray(abs(block).sum(axis=1) > 0.0).ravel()  # where all is zero, nothing is lost
    slack = 4.0 * terms * (EPS * reach * reach + TINY * apart)
    own = given.target[:, None] == target
    others = np.where(own, np.inf, D)
    D[~own] = np.inf
    plus, d_plus = _nearest(D, slack)
    minus, d_minus = _nearest(others, slack)
    return _Found(images, others, plus, minus, d_plus, d_minus, slack)


def _nearest(D: FloatArray, slack: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the first of the nearest, up to rounding, and the least distance."""
    least = D.min(axis=0)
    return (least + 2.0 * slack >= D).argmax(axis=0), least


def _lengths(given: Prototypes, norms: list[float]) -> FloatArray:
    """Return 2 ‖Λ(w_j - w_k)‖ rounded up, shape (P, P); for a metric per class instead ‖Ω_j‖ + ‖Ω_k‖."""
    growth = 64.0 * (given.W.shape[1] + 16) * EPS
    if given.per_class:
        each = np.array(norms)[given.target]
        sums: FloatArray = (each[:, None] + each) * (1.0 + growth)
        return sums
    images = _lambda(given.W, given.omega)
    rounding = growth * norms[0] * norms[0] * float(np.sqrt(block_squares(given.W).max()))
    return 2.0 * np.array([np.sqrt(block_squares(images - image)) * (1.0 + growth) + rounding for image in images])


def _radii(found: _Found, given: Prototypes, inverse: FloatArray, give: float) -> FloatArray:
    """Return how far each row may move before a wrong prototype can be nearer than its own nearest, rounded down."""
    spare = give * found.slack
    if given.per_class:
        ahead = np.sqrt(np.maximum(found.others - spare, 0.0)) - np.sqrt(found.d_plus + spare)
    else:
        ahead = found.others - (found.d_plus + 2.0 * spare)
    ahead *= inverse.take(found.plus, axis=1)
    radii: FloatArray = np.maximum(ahead.min(axis=0), 0.0) * (1.0 - 8.0 * EPS)
    return radii


class _Pulls:
    """The cost and its gradient, summed over blocks of rows.

    With c_ik = s_i f'(μ_i) ∂μ_i/∂d_k (two entries a row), M = Cᵀ X and N_k = Σ_i c_ik everything follows from
        Σ_i  c_ik (x_i - w_k)               = M_k - N_k w_k,
        Σ_ik c_ik (x_i - w_k)(x_i - w_k)ᵀ = Σ_ik c_ik x_i x_iᵀ - Σ_k (M_k w_kᵀ + w_k M_kᵀ - N_k w_k w_kᵀ).
    """

    def __init__(self, given: Prototypes, norm: float) -> None:
        self.given, self.norm = given, norm
        self.cost = self.cost_slack = 0.0
        self.M, self.N = np.zeros_like(given.W), np.zeros(given.target.size)
        self.spread = [np.zeros(0 if omega is None else omega.shape) for omega, _ in given.metrics()]
        self.pull = self.stretch = self.noise = 0.0

    def add(self, block: Any, found: _Found, beta: float, s: FloatArray) -> None:
        """Add a block of rows."""
        S = found.d_plus + found.d_minus
        safe = np.where(S > 0.0, S, 1.0)
        mu = (found.d_plus - found.d_minus) / safe
        value = expit(beta * mu) if beta else mu
        slope = s * (beta * value * (1.0 - value) if beta else 1.0)
        self.cost += float(np.sum(s * value))
        blur = 4.0 * found.slack / np.maximum(S - 2.0 * found.slack, 2.0 * found.slack + 1e-300)  # at most 2
        self.cost_slack += float(np.sum(s * blur)) * (beta / 4.0 if beta else 1.0)
        c_plus, c_minus = (slope * 2.0 * (d / safe) / safe for d in (found.d_minus, found.d_plus))
        C, each = np.zeros(found.others.shape), np.arange(S.size)
        C[found.plus, each], C[found.minus, each] = c_plus, -c_minus
        self.M += np.asarray(block.T @ C.T).T
        self.N += C.sum(axis=1)
        for spread, z, (omega, members) in zip(self.spread, found.images, self.given.metrics(), strict=True):
            share = C[members].sum(axis=0)
            if omega is not None and omega.ndim == 1:
                spread[...] += np.asarray((block.multiply(block) if sparse.issparse(block) else block * block).T @ share)
            elif omega is not None:
                spread[...] += np.asarray(block.T @ (share[:, None] * z)).T
        self._weigh(c_plus, c_minus, found, blur)

    def _weigh(self, c_plus: FloatArray, c_minus: FloatArray, found: _Found, blur: FloatArray) -> None:
        """Add up how hard rows pull one by one, to compare the sum of all pulls with, and what rounding may add."""
        pulls = c_plus * np.sqrt(found.d_plus) + c_minus * np.sqrt(found.d_minus)
        self.pull += float(pulls.sum())
        self.stretch += float(np.sum(c_plus * found.d_plus + c_minus * found.d_minus))
        noise = (c_plus + c_minus) * np.sqrt(found.slack * found.slack.size * EPS)
        self.noise += float(np.sum(noise + 4.0 * blur * pulls))

    def relative(self) -> tuple[float, float]:
        """Return the length of the gradient over that of its parts (for W and for Ω the larger), and the rounding in it."""
        W, given = self.given.W, self.given
        moved, turned = 0.0, 0.0
        for spread, (omega, members) in zip(self.spread, given.metrics(), strict=True):
            M, N, V = self.M[members], self.N[members, None], W[members]
            image = _lambda(M - N * V, omega)
            moved += float(np.sum(image * image))
            if omega is None:
                continue
            if omega.ndim == 1:
                turn = omega * (spread - np.sum(2.0 * M * V - N * V * V, axis=0))
            else:
                turn = spread - (omega @ M.T) @ V - (omega @ V.T) @ (M - N * V)
            turned += float(np.sum(turn * turn))
        if self.pull == 0.0:
            return 0.0, 0.0
        size = 0.0 if given.omega is None else float(np.linalg.norm(given.omega))
        gradient = max(np.sqrt(moved) / (self.norm * self.pull), np.sqrt(turned) * size / self.stretch if size else 0.0)
        return float(gradient), 1e-9 + 4.0 * self.noise / self.pull


COST_ROUNDING = 1e-9
"""How far, relative to the sum of weights, a cost of the course may be off: solvers sum in their own order."""


@dataclass(frozen=True, eq=False)
class PrototypeErrors(Certificate):
    """Errors of the nearest prototype on labelled examples, with safe radii, and the cost with its slope.

    Parameters
    ----------
    errors : int
        Rows whose nearest prototype has another label; of prototypes equally near, the first counts.
    radius : float
        Rows that are right stay right under any move shorter than this, in the units of the inputs; 0 if none is right.
    median_radius : float
        The same for at least half of all rows (rows that are wrong have radius 0).
    cost : float or None
        Σ s_i f(μ_i), an upper bound that is larger by rounding only; None without `beta`.
    gradient : float or None
        Relative length of the cost's gradient, 0 where the cost is stationary, rounded up: with respect to the prototypes,
        over the sum of what the rows pull one by one; with respect to Ω, over the slope of stretching Ω as a whole if no
        pull cancelled another; the larger one. None without `beta`.
    prototypes : ndarray, shape (P, d)
        The prototypes.
    prototype_labels : tuple of length P
        Their labels.
    omega : ndarray or None
        The metric Ω: shape (m, d); (d,) for a diagonal, the square roots of relevances; (c, m, d) for one per class, in
        the sorted order of the labels; None for the Euclidean one.
    beta : float or None
        Slope of the sigmoid f(μ) = 1 / (1 + exp(-βμ)); 0 for f(μ) = μ; None where no cost is claimed.
    sample_weight : ndarray, shape (n,), or None
        Weights s_i of the rows in the cost, if not all 1.
    costs : ndarray, shape (steps,)
        The cost in the course of a batch method, as the run reports it; empty for other methods.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [4.0]]), np.array(["a", "a", "b"])
    >>> proof = PrototypeErrors.measure(X, y, prototypes=np.array([[0.0], [4.0]]), labels=["a", "b"])
    >>> print(proof, bool(proof.verify(X, y)), bool(proof.verify(X, y[::-1])))
    2 prototypes: 0 errors; rows that are right stay so within 1, half of all rows within 2 True False
    """

    errors: Annotated[int, "int >= 0"]
    radius: Annotated[float, "real >= 0"]
    median_radius: Annotated[float, "real >= 0"]
    cost: Annotated[float | None, "finite | none"]
    gradient: Annotated[float | None, "finite >= 0 | none"]
    prototypes: Annotated[FloatArray, "finite(P,d)"]
    prototype_labels: Annotated[tuple[Label, ...], "tuple(P) of label"]
    omega: Annotated[FloatArray | None, "finite(d) | finite(m,d) | finite(c,m,d) | none"]
    beta: Annotated[float | None, "finite >= 0 | none", "asked"]
    sample_weight: Annotated[FloatArray | None, "finite(n) >= 0 | none", "asked"]
    costs: Annotated[FloatArray, "finite(t)", "reported"]

    def __str__(self) -> str:
        count = f"{self.errors:,} error{'' if self.errors == 1 else 's'}"
        safe = f"rows that are right stay so within {self.radius:.3g}, half of all rows within {self.median_radius:.3g}"
        cost = "" if self.cost is None else f"; cost {self.cost:.6g}, relative gradient {self.gradient:.2g}"
        return apart(f"{len(self.prototype_labels):,} prototypes: {count}; {safe}{cost}", self)

    @classmethod
    def measure(
        cls,
        X: Matrix,
        y: Labels,
        *,
        prototypes: FloatArray,
        labels: Any,
        omega: FloatArray | None = None,
        beta: float | None = None,
        sample_weight: FloatArray | None = None,
        costs: Any = (),
    ) -> Self:
        """Measure what prototypes (P, d) with labels (P,) do on examples X (n, d) with labels y (n,).

        Arrays are taken in float64. Every label of y needs a prototype; a cost (`beta`) needs prototypes of two labels.
        """
        X, y = as_rows(X, y)
        about: dict[str, Any] = {
            "prototypes": np.asarray(prototypes, dtype=np.float64),  # the model's own memory: a changed model is not proved
            "prototype_labels": tuple(np.asarray(labels).tolist()),
            "omega": None if omega is None else np.asarray(omega, dtype=np.float64),
            "beta": None if beta is None else float(beta),
            "sample_weight": None if sample_weight is None else held(sample_weight),
            "costs": np.array(costs, dtype=np.float64),
        }
        none = None if beta is None else 0.0
        draft = cls(0, 0.0, 0.0, none, none, **about)
        sound = draft.well_formed() and draft.fits(X, y)
        if not sound:
            msg = f"PrototypeErrors.measure: {'; '.join(sound.reasons)}; hand in what one fitted model holds"
            raise InputError(msg)
        found = draft.survey(X, y, give=4.0)
        if beta is None:
            return cls(found.errors, found.radius, found.median_radius, None, None, **about)
        cost, gradient = found.cost + 4.0 * found.cost_slack, found.gradient + 4.0 * found.gradient_slack
        return cls(found.errors, found.radius, found.median_radius, cost, gradient, **about)

    def survey(self, X: Matrix, y: Labels, *, give: float) -> Survey:
        """Recompute everything from checked examples; radii give away `give` times their rounding."""
        classes, target = np.unique(np.asarray(self.prototype_labels), return_inverse=True)
        s = np.ones(y.size) if self.sample_weight is None else self.sample_weight
        given = Prototypes(self.prototypes, target, self.omega)
        with np.errstate(invalid="ignore", divide="ignore", under="ignore"):  # what is not finite is refused, not warned of
            return survey(X, np.searchsorted(classes, y), given, self.beta, s, give=give)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that there are prototypes, that a metric per class has all classes, and that a cost is claimed whole or not."""
        claimed = [value is not None for value in (self.beta, self.cost, self.gradient)]
        classes, omega = len(set(self.prototype_labels)), self.omega
        return [
            (self.prototypes.size > 0, "there are no prototypes"),
            (all(claimed) or not any(claimed), "beta, cost and gradient are not all there"),
            (not any(claimed) or classes > 1, "a cost needs prototypes of two labels"),
            (omega is None or omega.size > 0, "the metric is empty"),
            (omega is None or omega.ndim < 3 or omega.shape[0] == classes, "there is not one metric for each class"),
            (any(claimed) or not self.costs.size, "there is a course of the cost, but no cost"),
            some_weight(self.sample_weight),
        ]

    def fits(self, X: Matrix, y: Labels) -> Verdict:
        """Check that the claim is about data of this shape and these labels."""
        d = self.prototypes.shape[1]
        strangers = set(np.unique(y).tolist()) - set(self.prototype_labels)
        return Verdict.of(
            (X.shape[1] == d, f"the prototypes have {d} inputs, but the data {X.shape[1]}"),
            (not strangers, f"y has labels without a prototype: {sorted(map(str, strangers))}"),
            one_weight_each(self.sample_weight, y.size),
        )

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the prototypes with their labels, and the metric."""
        return {"prototypes": self.prototypes, "labels of prototypes": list(self.prototype_labels), "metric": self.omega}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute every number."""
        fits = self.fits(X, y)
        if not fits:
            return fits
        found = self.survey(X, y, give=1.0)
        count = f"{found.certain:,}" if found.certain == found.possible else f"{found.certain:,} to {found.possible:,}"
        claims = [
            (found.certain <= self.errors <= found.possible, f"{count} rows are wrong, not {self.errors:,}"),
            (self.radius <= found.radius, f"rows that are right are safe within {found.radius:.6g}, not {self.radius:.6g}"),
            (
                self.median_radius <= found.median_radius,
                f"half of the rows are safe within {found.median_radius:.6g}, not {self.median_radius:.6g}",
            ),
        ]
        if self.cost is not None and self.gradient is not None:
            low, high = found.cost + found.cost_slack, found.cost + 8.0 * found.cost_slack
            flat = self.gradient >= found.gradient + found.gradient_slack
            claims += [
                (low <= self.cost <= high, f"the cost is {found.cost:.9g}, not {self.cost:.9g}"),
                (flat, f"the relative gradient is {found.gradient:.3g}, not {self.gradient:.3g}"),
                self._course(float(y.size if self.sample_weight is None else self.sample_weight.sum()), found.cost_slack),
            ]
        return Verdict.of(*((bool(true), text) for true, text in claims))

    def _course(self, total: float, slack: float) -> tuple[bool, str]:
        """Judge the course of the cost: it never rises, and ends in the cost."""
        spare = COST_ROUNDING * total
        falls = bool((np.diff(self.costs) <= spare).all())
        ends = self.costs.size == 0 or abs(self.costs[-1] - np.float64(self.cost)) <= 2.0 * spare + 8.0 * slack
        return falls and bool(ends), "the course of the cost rises, or does not end in the cost"
