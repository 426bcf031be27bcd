"""Separable or not, on many rows: a small set of rows decides, and grows by those its plane gets wrong.

Problem    Find w with  w·a_i > 0  for all signed rows a_i = y_i x̃_i, or λ >= 0, λ != 0 with Σ λ_i a_i = 0 exactly.
Rule       1. Newton's method on the squared hinge of the set (`squared_hinge.py`). A plane right on the whole set is tried on
              all rows; those on its wrong side join the set, at most as many as it has.
           2. If no such plane comes: the point of the cone of {(a_i, 1)} that is nearest to (0, 1), by non-negative least
              squares  min ‖Σ λ_i (a_i, 1) - (0, 1)‖.  Its residual r is zero, and then the support of λ is a basis that
              `exact.vertex` makes exact; or  w = -r  separates the set, as at the optimum  r·(a_i, 1) <= 0 < r·(0, 1).
           3. Where that cannot tell the two apart: a careful Newton run; then step 2 once more, with columns that floats take
              for sums of others (0/1 columns of all values of a column, standardised) replaced by what is left of them, which
              is rounding, in exact arithmetic; then the simplex method in rational arithmetic (`exact.simplex`).
Theorem    Gordan 1873: one of the two exists, never both. A set without a plane settles the matter for all rows. A set with
           one grows by at least one row per round, so the rounds end.
Reference  Gordan 1873; Lawson and Hanson 1974, chapter 23 (non-negative least squares); Schrijver 1986, section 7.8.

Wide       Where D × D numbers would not fit, Rosenblatt's rule alone: on a mistake add the row; an epoch without a mistake ends
           the search. If a plane with margin kappa exists there are at most (R/kappa)² mistakes (Novikoff 1962, theorem 1). If
           none exists the epochs go on; only an example with both labels is proved inseparable then.

What comes out is checked in rational arithmetic, whichever step found it. Rows are centred and scaled for the floats only.
"""

from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import linalg
from scipy.optimize import nnls

from halfspace._dispatch import compiled
from halfspace._typing import FloatArray, IntArray, Matrix, View
from halfspace.certificates.margins.separability import certain_margin
from halfspace.certificates.rational import exact_potentials
from halfspace.rows.operations import outputs, squared_norms
from halfspace.rows.views import axpy, n_columns, n_rows
from halfspace.solvers.exact.gordan import rounded_planes, simplex, vertex
from halfspace.solvers.linear.squared_hinge import newton
from halfspace.solvers.rules.rosenblatt import Rosenblatt
from halfspace.solvers.rules.sweep import Forget, Task, start, sweep

__all__ = ["Finding", "Signed", "contradiction", "gathered", "margin_and_mistakes", "search", "wide_search"]

ENTRIES = 50_000_000
"""Largest working set."""
PER_INPUT = 20
"""Rows per input to begin with: noise in the labels shows in so many, and a plane through so many is nearly right."""
FEW = 500
"""Rows that set centre and unit of the columns."""
EXACT_INPUTS = 1000
"""With more inputs, solving for λ exactly would take minutes; the simplex method stops at a third of it."""
DEPENDENT, PASSES = 1e-10, 4
"""Relative size of what is left of a column that floats take for a sum of others; passes that take such sums off it."""
EPOCHS = 1000
"""Limit on the epochs of the perceptron where rows are wide."""


class Signed(NamedTuple):
    """The examples, their signs, and the value of the clamped input: 1 for an intercept, 0 for none."""

    X: Matrix
    view: View
    y: FloatArray  # (n,)
    clamp: float


class Finding(NamedTuple):
    """A plane with its certain margin, or exact multipliers, or neither: then the best plane and strengths."""

    weights: FloatArray  # (D,)
    margin: float = 0.0
    multipliers: dict[int, Fraction] = {}  # noqa: RUF012  (never written to)
    strengths: FloatArray | None = None  # (n,)


@compiled
def _gather(X: View, y: FloatArray, rows: IntArray, out: FloatArray) -> None:
    for k in range(rows.size):
        axpy(y[rows[k]], X, rows[k], out[k])


def gathered(data: Signed, rows: IntArray) -> FloatArray:
    """Return the signed rows a_i = y_i x̃_i as a dense array, shape (m, D); nothing is rounded."""
    out = np.zeros((rows.size, n_columns(data.view)))
    _gather(data.view, data.y, rows, out)
    return out


def contradiction(data: Signed, E: FloatArray) -> dict[int, Fraction]:
    """Return multipliers of a zero row, or of two opposite signed rows (the same example with both labels); or none.

    Any plane gives opposite rows opposite potentials E, so only rows that share |E| with a wrong one are compared.
    """
    wrong = np.flatnonzero(~(E > 0.0))
    keys = np.unique(-E[wrong])
    place = np.minimum(np.searchsorted(keys, E), max(keys.size - 1, 0))
    right = np.flatnonzero(keys[place] == E) if keys.size else wrong
    wrong = wrong[np.isin(-E[wrong], E[right])]
    most = max(1, ENTRIES // 2 // n_columns(data.view))
    opposite = {(row + 0.0).tobytes(): int(i) for i, row in zip(right[:most], -gathered(data, right[:most]), strict=True)}
    for i, row in zip(wrong[:most], gathered(data, wrong[:most]), strict=True):
        if not row.any():
            return {int(i): Fraction(1)}
        if row.tobytes() in opposite:
            return dict.fromkeys((int(i), opposite[row.tobytes()]), Fraction(1, 2))
    return {}


class _Frame(NamedTuple):
    """Centre and spread of the columns of some rows: in this frame floats see differences, not offsets and units."""

    centre: FloatArray  # (D,)
    spread: FloatArray  # (D,)

    @classmethod
    def of(cls, A: FloatArray, signs: FloatArray, clamp: float) -> "_Frame":
        few = A[:FEW] * signs[:FEW, None]
        centre = np.median(few, axis=0) if clamp else np.zeros(A.shape[1])
        if clamp:
            centre[-1] = 0.0
        distance = np.sort(np.abs(few - centre), axis=0)
        typical = distance[(9 * distance.shape[0]) // 10]  # not the largest: an outlier must not set the unit
        largest = np.abs(A - signs[:, None] * centre).max(axis=0)
        spread = np.where(typical > 0.0, typical, largest)
        return cls(centre, np.where(spread > 0.0, spread, 1.0))

    def seen(self, A: FloatArray, signs: FloatArray) -> FloatArray:
        """Return the rows in this frame."""
        B: FloatArray = (A - signs[:, None] * self.centre) / self.spread
        return B

    def enter(self, w: FloatArray) -> FloatArray:
        """Turn the weights of a plane on the data into those in this frame."""
        inside = w * self.spread
        inside[-1] += w @ self.centre
        return inside

    def leave(self, w: FloatArray) -> FloatArray:
        """Turn the weights of a plane in this frame into those on the data, times a positive number."""
        power = min(1.0, 1e250 * float(self.spread.min()))  # units of 1e-300 would make weights of 1e300
        outside = w * (power / self.spread)
        outside[-1] -= outside @ self.centre
        return outside


class _Set:
    """The working set: some signed rows A, and the same in the frame of the floats, scaled to length 1, B."""

    def __init__(self, data: Signed, rows: IntArray) -> None:
        self.data, self.rows, self.A = data, rows, gathered(data, rows)
        self._see()

    def _see(self) -> None:
        signs = self.data.y[self.rows]
        self.frame = _Frame.of(self.A, signs, self.data.clamp)
        B = self.frame.seen(self.A, signs)
        length = np.linalg.norm(B, axis=1)
        self.length = np.where(length > 0.0, length, 1.0)
        self.B = B / self.length[:, None]

    def grow(self, rows: IntArray) -> None:
        """Take in more rows."""
        self.A = np.vstack([self.A, gathered(self.data, rows)])
        self.rows = np.concatenate([self.rows, rows])
        self._see()

    def strengths(self, xi: FloatArray) -> FloatArray:
        """Return strengths of all examples, shape (n,), from those of the rows in B."""
        spread = np.zeros(self.data.y.size)
        spread[self.rows] = xi / self.length
        return spread

    def right(self, w: FloatArray) -> bool:
        """Tell whether a plane is right on the whole set, in exact arithmetic."""
        return bool(np.isfinite(w).all()) and certain_margin(self.A, np.ones(self.rows.size), w, 0.0)[0] > 0.0


class _Settled(NamedTuple):
    """What was found out about a working set: a plane right on all of it, or multipliers, or neither."""

    strengths: FloatArray  # (m,)
    weights: FloatArray | None = None  # (D,)
    multipliers: dict[int, Fraction] = {}  # noqa: RUF012  (never written to)


def _nearest(B: FloatArray, members: IntArray) -> tuple[FloatArray, FloatArray]:
    """Solve  min ‖Σ λ_i (b_i, 1) - (0, 1)‖, λ >= 0  over some rows; return λ, shape (m,), and the residual, shape (D + 1,)."""
    M = np.vstack([B[members].T, np.ones(members.size)])
    target = np.zeros(M.shape[0])
    target[-1] = 1.0
    strengths = np.zeros(B.shape[0])
    strengths[members] = nnls(M, target, maxiter=20 * sum(M.shape))[0]
    return strengths, target - M @ strengths[members]


def _exact(work: _Set, strengths: FloatArray) -> dict[int, Fraction]:
    """Make the strengths of a basis exact; strengths that may be rounding are left out if it does not succeed with them."""
    for least in (0.0, 1e-9 * strengths.max(), 1e-6 * strengths.max()):
        members = np.flatnonzero(strengths > least)
        shares = vertex(work.A[members]) if 0 < members.size <= work.A.shape[1] + 1 else None
        if shares is not None:
            return {int(work.rows[k]): share for k, share in zip(members, shares, strict=True)}
    return {}


def _resolved(work: _Set, late: Callable[[], bool]) -> FloatArray | None:
    """Return B with columns that floats take for sums of others replaced by what is left of them; None if there are none.

    What is left is computed exactly and brought to size 1. Sums of columns change no answer: a basis is one for all of them.
    """
    m, D = work.B.shape
    R, order = linalg.qr(work.B, mode="r", pivoting=True, check_finite=False)
    sizes = np.abs(np.diagonal(R))
    rank = int((sizes > DEPENDENT * sizes[0]).sum())
    if m <= D or rank == D:
        return None
    kept = order[:rank]
    base = work.B[:, kept] * work.length[:, None]
    back = linalg.pinv(base)
    change = np.diag(1.0 / work.frame.spread)  # from weights in the frame to those on the data, a column each
    change[-1] -= work.frame.centre / work.frame.spread
    found = [work.B[:, kept]]
    for column in order[rank:]:
        left, floats = exact_potentials(work.A, change[:, column]), np.zeros(m)
        for _ in range(PASSES):
            largest = max(map(abs, left))
            if largest == 0 or late():
                break
            unit = Fraction(2) ** (largest.numerator.bit_length() - largest.denominator.bit_length())
            floats = np.array([float(value / unit) for value in left])
            part = back @ floats
            if np.linalg.norm(base @ part) < 0.5 * np.linalg.norm(floats):
                break
            less = exact_potentials(work.A, change[:, kept] @ part)
            left = [value - unit * minus for value, minus in zip(left, less, strict=True)]
        if floats.any():
            found.append((floats / work.length)[:, None])
    return np.hstack(found)


def _resolved_relation(work: _Set, late: Callable[[], bool]) -> dict[int, Fraction]:
    """Return multipliers by non-negative least squares on resolved columns, if there are such columns and it succeeds."""
    B = _resolved(work, late)
    if B is None:
        return {}
    try:
        strengths, residual = _nearest(B, np.arange(work.rows.size))
    except RuntimeError:  # it went in circles
        return {}
    return _exact(work, strengths) if np.linalg.norm(residual) < 1e-6 else {}


def _settle(work: _Set, xi: FloatArray, late: Callable[[], bool], *, exact: bool) -> _Settled:
    """Decide the working set: by non-negative least squares, or else by the simplex method in rational arithmetic.

    Not `exact`, for rows that are rounded themselves: floats find a plane, or nothing is known.
    """
    D = work.A.shape[1]
    members, strengths = np.argsort(-xi, kind="stable")[: 10 * D + 100], xi
    while D <= EXACT_INPUTS and not late():
        try:
            strengths, residual = _nearest(work.B, members)
        except RuntimeError:  # it went in circles
            break
        if np.linalg.norm(residual) < 1e-6:
            found = _exact(work, strengths) if exact else {}
            if found or not exact:
                return _Settled(strengths, multipliers=found)
        E = work.B @ -residual[:-1]
        wrong = np.setdiff1d(np.flatnonzero(E <= 0.0), members)
        if wrong.size == 0:
            w = work.frame.leave(-residual[:-1])
            if work.right(w):
                return _Settled(strengths, w)
            break
        members = np.concatenate([members, wrong[np.argsort(E[wrong])[: 2 * D]]])
    w = work.frame.leave(newton(work.B, np.zeros(D), careful=True)[0])
    if work.right(w):
        return _Settled(strengths, w)
    return _settle_exactly(work, strengths, late) if exact else _Settled(strengths)


def _settle_exactly(work: _Set, strengths: FloatArray, late: Callable[[], bool]) -> _Settled:
    """Decide where floats cannot tell: by what is left of columns that are nearly sums of others, or by the simplex method."""
    D = work.A.shape[1]
    if D <= EXACT_INPUTS and (found := _resolved_relation(work, late)):
        return _Settled(strengths, multipliers=found)
    decided = simplex(work.A, late) if D <= EXACT_INPUTS // 3 else None
    if decided is None:
        return _Settled(strengths)
    relation, plane = decided
    if relation:
        return _Settled(strengths, multipliers={int(work.rows[k]): share for k, share in relation.items()})
    return _Settled(strengths, next((w for w in rounded_planes(plane) if work.right(w)), None))


def margin_and_mistakes(data: Signed, w: FloatArray, known: IntArray) -> tuple[float, IntArray, FloatArray]:
    """Return the certain margin of a plane, or 0 and the rows on its wrong side, and all potentials.

    Rows `known` to be right in exact arithmetic are not wrong because floats say so.
    """
    E = data.y * outputs(data.view, w[None])[:, 0]
    wrong = np.setdiff1d(np.flatnonzero(~(E > 0.0)), known)
    if wrong.size:
        return 0.0, wrong, E
    return *certain_margin(data.X, data.y, w, data.clamp), E


def _first_rows(y: FloatArray, m: int, rng: np.random.Generator) -> IntArray:
    """Draw m rows at random, with both signs among them."""
    if m >= y.size:
        return np.arange(y.size)
    rows = rng.choice(y.size, m, replace=False)
    rows[:2] = [np.argmax(y), np.argmin(y)]
    return np.unique(rows)


def search(data: Signed, late: Callable[[], bool], *, exact: bool = True) -> Finding:
    """Look for a plane or for multipliers until one is found or it is late; for a plane alone if not `exact`."""
    n, D = n_rows(data.view), n_columns(data.view)
    rng = np.random.default_rng(0)
    work = _Set(data, _first_rows(data.y, min(n, max(PER_INPUT * D, 500), max(ENTRIES // 4 // D, 2)), rng))
    plane, thin = work.B.mean(axis=0), False
    for turn in range(2 * n):
        if not thin:
            plane, xi = newton(work.B, plane)
            w = work.frame.leave(plane)
        if thin or not (work.A @ w).min() > 0.0:
            found = _settle(work, xi, late, exact=exact)
            if found.multipliers:
                return Finding(w, multipliers=found.multipliers)
            xi, thin = found.strengths, True
            if found.weights is None:
                break
            w = found.weights
        margin, wrong, E = margin_and_mistakes(data, w, work.rows if thin else work.rows[:0])
        if margin > 0.0:
            return Finding(w, margin)
        if turn == 0 and (pair := contradiction(data, E)):
            return Finding(w, multipliers=pair)
        new = np.setdiff1d(wrong, work.rows)
        most = min(new.size, work.rows.size, ENTRIES // D - work.rows.size)
        if late() or most < 0 or (thin and most == 0):
            break
        thin = thin or most == 0  # wrong on the set after all: floats are not enough
        if most:
            work.grow(new[np.argsort(E[new], kind="stable")[:most]] if turn % 2 else rng.choice(new, most, replace=False))
            plane, xi = work.frame.enter(w), np.concatenate([xi, np.ones(most)])
    return Finding(w, multipliers=contradiction(data, data.y * outputs(data.view, w[None])[:, 0]), strengths=work.strengths(xi))


def wide_search(data: Signed, late: Callable[[], bool]) -> Finding:
    """Look for a plane, or for an example with both labels, until one is found or it is late."""
    n = n_rows(data.view)
    task = Task(data.view, (data.y > 0.0).astype(np.int64), np.array([1]), squared_norms(data.view), np.ones(n))
    state, order = start(task), np.arange(n)
    for epoch in range(EPOCHS):
        before = int(state.mistakes[0])
        sweep(Rosenblatt(), Forget(), task, state, 0, order)
        w = state.W[0]
        if int(state.mistakes[0]) == before:
            margin, _, _ = margin_and_mistakes(data, w, order[:0])
            if margin > 0.0:
                return Finding(w, margin)
        if epoch == 0 and (pair := contradiction(data, data.y * outputs(data.view, w[None])[:, 0])):
            return Finding(w, multipliers=pair)
        if late():
            break
    return Finding(w, strengths=state.alpha[0])
