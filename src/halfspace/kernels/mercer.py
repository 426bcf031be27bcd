"""Is this kernel a kernel? By construction, by its Fourier transform, or on these data; a witness if it is not.

A function k is a kernel, an inner product in some space, if and only if Σ c_i c_j k(x_i, x_j) >= 0 for all points and
coefficients (Mercer; Aronszajn 1950). Points and coefficients for which that sum is negative settle the matter, and anybody can
check them. Nothing is called indefinite that rounding could explain, and nothing a kernel whose negative eigenvalues rounding
could hide, or that was looked at in one dimension only: there is a third answer, undecided, with its reason.

Three parts: the Fourier transform of a shift-invariant function, the search for a witness, and the report.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.errors import InputError
from halfspace.kernels.algebra import check_kernel
from halfspace.kernels.base import Kernel
from halfspace.kernels.precomputed import FromFunction
from halfspace.kernels.products import EPS, HIDDEN, checked
from halfspace.kernels.values import frozen

__all__ = ["MercerReport", "mercer"]

POINTS = 1 << 13
"""Points of the finer grid on the positive half line."""
FADED = 1e-7
"""What g must stay below, relative to g(0), to count as gone."""
VAGUE = 1e-2
"""A transform known only to this share of its largest value decides nothing."""


class _Transform(NamedTuple):
    """The lowest value of the transform, where it is, and how wrong it may be."""

    lowest: float
    frequency: float
    error: float
    highest_frequency: float
    extent: float  # where the function has faded away
    highest: float


def _samples(kernel: Kernel, t: Any) -> FloatArray:
    """Return g(t) = k(t, 0)."""
    return kernel.exact(t[:, None], np.zeros((1, 1)))[:, 0]


def _check_shift_invariant(kernel: Kernel) -> None:
    """Refuse a function that depends on more than the difference of two numbers."""
    rng = np.random.default_rng(0)
    for t, s in rng.integers(-64, 65, size=(32, 2)) / 16.0:  # shifts by such numbers do not round
        values = [kernel([a], [b]) for a, b in ((t, 0.0), (t + s, s), (0.0, t))]
        if not np.allclose(values, values[0], rtol=1e-9, atol=1e-12):
            msg = f"{kernel} is said to be shift-invariant, but k({t:g}, 0), k({t + s:g}, {s:g}) and k(0, {t:g}) are {values}"
            raise InputError(msg)


def _extent(kernel: Kernel) -> tuple[float, float] | None:
    """Return a distance beyond which g has faded, and what is left there; None if it does not fade."""
    whole = abs(float(_samples(kernel, np.zeros(1))[0])) or 1.0
    for T in [2.0**k for k in range(-6, 14)]:
        rest = float(np.abs(_samples(kernel, T * np.geomspace(1.0, 64.0, 400))).max())
        if rest <= FADED * whole:
            return 2.0 * T, rest
    return None


def _cosines(g: FloatArray, step: float, padded: int) -> FloatArray:
    """Return 2 ∫ g(t) cos(ωt) dt by the trapezoidal rule at ω = 2πk / (padded · step)."""
    weighted = g.copy()
    weighted[0] *= 0.5
    whole: FloatArray = 2.0 * step * np.fft.rfft(weighted, padded).real
    return whole


def _fourier_transform(kernel: Kernel) -> _Transform | None:
    """Return the lowest value of the Fourier transform of a kernel of one variable; None if it does not fade away."""
    _check_shift_invariant(kernel)
    found = _extent(kernel)
    if found is None:
        return None
    T, rest = found
    step = T / POINTS
    g = _samples(kernel, np.arange(POINTS) * step)
    padded = 64 * POINTS
    fine, coarse = _cosines(g, step, padded), _cosines(g[::2], 2.0 * step, padded // 2)
    kept = padded // 16  # a quarter of what the coarser grid can see
    error = float(np.abs(fine[:kept] - coarse[:kept]).max()) + 2.0 * T * rest
    omega = 2.0 * np.pi * np.arange(kept) / (padded * step)
    at = int(fine[:kept].argmin())
    return _Transform(float(fine[at]), float(omega[at]), error, float(omega[-1]), T, float(fine[:kept].max()))


def _sees_one_number(kernel: Kernel) -> bool:
    """Tell whether the function looks at the first of several numbers only, as far as a few points tell."""
    A = np.random.default_rng(0).normal(size=(16, 3))
    try:
        return bool(np.array_equal(kernel.exact(A, np.zeros((1, 3)))[:, 0], _samples(kernel, A[:, 0])))
    except InputError:  # it takes rows of one number only
        return True


LARGEST = 10_000
"""Examples of which the eigenvalues are computed: beyond, that would take many minutes."""


class _Spectrum(NamedTuple):
    """The eigenvalues of a kernel matrix, and how far rounding may have moved them."""

    values: FloatArray  # (n,), rising
    vectors: FloatArray  # (n, n), in columns
    matrix: FloatArray  # (n, n), symmetric
    error: float

    @property
    def decides(self) -> bool:
        """Whether the signs that matter are known: rounding is small beside the largest eigenvalue, or below the smallest."""
        return bool(self.error <= HIDDEN * np.abs(self.values).max() or self.values[0] > self.error)


class _Witness(NamedTuple):
    """Rows of the data and their coefficients, the longest of length 1."""

    rows: IntArray  # (m,)
    coefficients: FloatArray  # (m,)


def _spectrum(K: FloatArray, rounding: float) -> _Spectrum:
    """Return the eigenvalues of a kernel matrix whose entries are off by at most `rounding`."""
    n = K.shape[0]
    if n > LARGEST:
        msg = f"mercer: eigenvalues of at most {LARGEST} examples are computed, got {n}; give a sample of the rows"
        raise InputError(msg)
    symmetric = 0.5 * (K + K.T)
    values, vectors = np.linalg.eigh(symmetric)
    # Weyl: eigenvalues move by no more than the norm of the change; eigh itself is off by a few n·eps of the largest.
    error = n * rounding + 8 * n * EPS * float(np.abs(values).max())
    return _Spectrum(values, vectors, symmetric, float(error))


def _quadratic_form(K: FloatArray, c: FloatArray, rounding: float) -> tuple[float, float]:
    """Return Σ c_i c_j K_ij and a bound on its rounding error, that of the entries included."""
    sizes = np.abs(c)
    error = 4 * (c.size + 8) * EPS * float(sizes @ np.abs(K) @ sizes) + rounding * float(sizes.sum()) ** 2
    return float(c @ K @ c), error


def _is_asymmetric(K: FloatArray, rounding: float) -> tuple[int, int] | None:
    """Return a pair with K_ij != K_ji beyond rounding, the worst one; None if there is none."""
    away = np.abs(K - K.T)
    i, j = np.unravel_index(int(away.argmax()), away.shape)
    allowed = 2 * rounding + 4 * EPS * max(abs(K[i, j]), abs(K[j, i]))
    return (int(i), int(j)) if away[i, j] > allowed else None


def _shortest_witness(found: _Spectrum, rounding: float) -> _Witness | None:
    """Return a certified witness on as few rows as a greedy choice finds; None if rounding could explain it."""
    order = np.argsort(-np.abs(found.vectors[:, 0]), kind="stable")
    for m in [*range(1, 9), 12, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, order.size]:
        rows = np.sort(order[:m])
        part = found.matrix[np.ix_(rows, rows)]
        c = np.linalg.eigh(part)[1][:, 0]
        value, error = _quadratic_form(part, c, rounding)
        if value < -error and (value < -0.01 * abs(found.values[0]) or rows.size == order.size):
            return _Witness(rows, c)
        if m >= order.size:
            return None
    return None


def _search_witness(kernel: Kernel) -> tuple[Any, _Witness] | None:
    """Look for a witness on small sets of points in one, two and three dimensions: the clearest one, None if there is none."""
    best, clearest = None, 0.0
    for points in _small_sets():
        try:
            K, rounding = kernel.exact(points), kernel.rounding(points)
        except InputError:
            continue  # a kernel of other dimensions, or values too large
        witness = _shortest_witness(_spectrum(K, rounding), rounding)
        if witness is not None:
            rows, c = witness
            part, sizes = K[np.ix_(rows, rows)], np.abs(c)
            share = float(c @ part @ c) / float(sizes @ np.abs(part) @ sizes)
            if share < clearest:
                best, clearest = (points, witness), share
    return best


def _small_sets() -> list[FloatArray]:
    """Return sets of points of many sizes: the origin, a line, a cloud."""
    rng = np.random.default_rng(0)
    line = np.linspace(0.0, 1.0, 8)[:, None]
    sets = [np.zeros((1, d)) for d in (1, 2, 3)]
    for scale in [2.0**k for k in range(-4, 5)]:
        for d in (1, 2, 3):
            sets += [scale * line * np.ones(d), scale * rng.normal(size=(16, d))]
    return sets


Repair = Literal["clip", "shift", "flip"]


@dataclass(frozen=True, eq=False)
class MercerReport:
    """What is known of a kernel's being one.

    Parameters
    ----------
    kernel : Kernel
        The kernel, with the parameters learnt from the data.
    holds : bool or None
        Whether it is positive semi-definite; None if that is not decided.
    how : str
        "by construction" and "by Fourier transform" speak of all data, "on these data" of the rows given, "by a witness"
        of points that were found by search; "not decided" where rounding, or what was looked at, leaves it open.
    reason : str
        Why, as a sentence.
    smallest_eigenvalue : float or None
        On the rows given, if they were looked at.
    error : float or None
        How far rounding may have moved the eigenvalue; or the error, estimated, of the transform.
    witness_points : array or CSR matrix, shape (m, d), or None
        Points against the kernel; for a precomputed one the part of the matrix that belongs to them, shape (m, m).
    witness_coefficients : ndarray, shape (m,), or None
        Coefficients with Σ c_i c_j k(x_i, x_j) < 0; None if the witness is a pair with k(x, x') != k(x', x).
    witness_rows : ndarray, shape (m,), or None
        Where the points stand in the rows given.
    matrix : ndarray, shape (n, n), or None
        The repaired kernel matrix.
    changed : float or None
        How much the repair changed it: ‖repaired - K‖ / ‖K‖ in the Frobenius norm.
    """

    kernel: Kernel
    holds: bool | None
    how: str
    reason: str
    smallest_eigenvalue: float | None = None
    error: float | None = None
    witness_points: Any = None
    witness_coefficients: FloatArray | None = None
    witness_rows: IntArray | None = None
    matrix: FloatArray | None = None
    changed: float | None = None

    def __bool__(self) -> bool:
        return self.holds is True

    def __str__(self) -> str:
        verdict = {True: "a kernel", False: "not a kernel", None: "perhaps a kernel"}[self.holds]
        verdict += " as far as numbers tell" if self.holds and self.how == "by Fourier transform" else ""
        repaired = "" if self.changed is None else f"; the repair changed the matrix by {100 * self.changed:.3g} %"
        return f"{self.kernel} is {verdict}, {self.how}: {self.reason}{repaired}"

    def verify(self, X: Matrix | None = None) -> bool:
        """Check the report again: a witness by its sum, a construction by its rules, eigenvalues from the rows X."""
        if self.witness_points is not None:
            K, rounding = self.kernel.exact(self.witness_points), self.kernel.rounding(self.witness_points)
            if self.witness_coefficients is None:
                return self.holds is False and _is_asymmetric(K, rounding) is not None
            value, error = _quadratic_form(K, self.witness_coefficients, rounding)
            return self.holds is False and value < -error
        if self.how == "by construction":
            return self.holds is True and self.kernel.reason() is not None
        again = mercer(self.kernel, None if self.smallest_eigenvalue is None else X)
        return again.how == self.how and again.holds == self.holds


def mercer(kernel: Kernel, X: Matrix | None = None, *, repair: Repair | None = None) -> MercerReport:
    """Tell whether a kernel is one, and prove it.

    Mercer's condition: all sums Σ c_i c_j k(x_i, x_j) are at least 0.

    Parameters
    ----------
    kernel : Kernel
        The function in question.
    X : array or CSR matrix, shape (n, d), optional
        Rows to look at where there is no proof for all data; for `Precomputed` the matrix itself. Parameters like
        gamma="scale" are learnt from them.
    repair : {"clip", "shift", "flip"}, optional
        Mend an indefinite matrix: negative eigenvalues become 0, all grow by the lowest one's size, or change their sign.

    Returns
    -------
    MercerReport
        True if it is a kernel.

    Examples
    --------
    The box, 1 if `|x - x'| <= 1` and 0 elsewhere, looks like a similarity, but is no kernel:

    >>> from halfspace.kernels import FromFunction
    >>> box = FromFunction(lambda a, b: float(abs(a[0] - b[0]) <= 1), shift_invariant=True, name="box")
    >>> report = mercer(box, [[1.0], [2.0], [3.0]])
    >>> print(report)
    box(x, x') is not a kernel, on these data: 3 of the rows have Σ c_i c_j k(x_i, x_j) = -0.4142
    >>> report.witness_coefficients.round(3), report.verify()
    (array([-0.5  ,  0.707, -0.5  ]), True)
    >>> print(mercer(box))
    box(x, x') is not a kernel, by Fourier transform: it is -0.435 at ω = 4.49, error about 0.0005 (numerical)
    """
    check_kernel(kernel, "mercer")
    if repair not in {None, "clip", "shift", "flip"}:
        msg = f"mercer: repair must be 'clip', 'shift', 'flip' or None, got {repair!r}"
        raise InputError(msg)
    if X is None and (repair is not None or kernel.is_precomputed):
        msg = "mercer: a repair, or a precomputed kernel, needs X: the rows, or the kernel matrix itself"
        raise InputError(msg)
    if X is not None:
        kernel = kernel.resolved(X)
    reason = kernel.reason()
    if reason is not None:
        report = MercerReport(kernel, holds=True, how="by construction", reason=reason)
        return report if repair is None else replace(report, matrix=kernel.exact(X), changed=0.0)
    if X is not None:
        return _on_data(kernel, X, repair)
    if isinstance(kernel, FromFunction) and kernel.shift_invariant:
        return _by_transform(kernel)
    return _by_search(kernel)


def _on_data(kernel: Kernel, X: Matrix, repair: Repair | None) -> MercerReport:
    """Look at the eigenvalues of the kernel matrix of these rows."""
    K, rounding = kernel.exact(X), kernel.rounding(X)
    if K.shape[0] != K.shape[1]:
        msg = f"mercer: the square matrix of the training examples expected, got shape {K.shape}"
        raise InputError(msg)
    pair = _is_asymmetric(K, rounding)
    found = _spectrum(K, rounding)
    lowest = float(found.values[0])
    report = MercerReport(kernel, holds=True, how="on these data", reason="", smallest_eigenvalue=lowest, error=found.error)
    if repair is not None:
        report = _repaired(report, found, K, repair)
    if pair is not None:
        text = f"it depends on the order: k(x_{pair[0]}, x_{pair[1]}) = {K[pair]:.6g}, the other way {K[pair[::-1]]:.6g}"
        rows = np.array(pair)
        return replace(report, holds=False, reason=text, witness_rows=rows, witness_points=_points(kernel, X, rows))
    witness = _shortest_witness(found, rounding) if lowest < -found.error else None
    if witness is None:
        text = f"the smallest eigenvalue of {K.shape[0]} rows is {lowest:.4g}, rounding at most {found.error:.2g}"
        if found.decides:
            return replace(report, reason=text)
        hidden = f"{text}, which hides its sign; scale the rows down, or choose other parameters"
        return replace(report, holds=None, how="not decided", reason=hidden)
    rows, c = witness
    value = _quadratic_form(found.matrix[np.ix_(rows, rows)], c, rounding)[0]
    text = f"{rows.size} of the rows {'has' if rows.size == 1 else 'have'} Σ c_i c_j k(x_i, x_j) = {value:.4g}"
    points = _points(kernel, X, rows)
    return replace(report, holds=False, reason=text, witness_rows=rows, witness_points=points, witness_coefficients=c)


def _points(kernel: Kernel, X: Matrix, rows: IntArray) -> Any:
    """Return a copy of some rows; of a kernel matrix the rows and columns."""
    picked = checked(X, "X", "mercer")[rows]
    return frozen(picked[:, rows] if kernel.is_precomputed else picked)


def _repaired(report: MercerReport, found: _Spectrum, K: FloatArray, repair: Repair) -> MercerReport:
    """Add the mended matrix; one that needs no mending stays as it is."""
    lowest = found.values[0]
    if lowest >= (-found.error if found.decides else 0.0):
        return replace(report, matrix=found.matrix, changed=float(np.linalg.norm(found.matrix - K) / np.linalg.norm(K)))
    if repair == "shift":
        mended = found.matrix - lowest * np.eye(K.shape[0])
    else:
        values = np.maximum(found.values, 0.0) if repair == "clip" else np.abs(found.values)
        mended = (found.vectors * values) @ found.vectors.T
        mended = 0.5 * (mended + mended.T)
    return replace(report, matrix=mended, changed=float(np.linalg.norm(mended - K) / np.linalg.norm(K)))


def _by_transform(kernel: FromFunction) -> MercerReport:
    """Look at the sign of the Fourier transform; where it is negative, turn it into a witness."""
    found = _fourier_transform(kernel)
    if found is None:
        return _by_search(kernel)
    lowest, frequency, error, farthest, extent, highest = found
    report = MercerReport(kernel, holds=True, how="by Fourier transform", reason="", error=error)
    if lowest >= -error:
        text = f"it is nowhere below {lowest:.2g} up to ω = {farthest:.3g}, error about {error:.2g} (numerical)"
        if error <= VAGUE * highest and _sees_one_number(kernel):
            return replace(report, reason=text)
        why = (
            "too vague to decide" if error > VAGUE * highest else "but that is about rows of one number; give rows X to look at"
        )
        return replace(report, holds=None, how="not decided", reason=f"the Fourier transform: {text}, {why}")
    text = f"it is {lowest:.3g} at ω = {frequency:.3g}, error about {error:.2g} (numerical)"
    step = min(np.pi / (8.0 * frequency) if frequency > 0.0 else np.inf, extent / 64.0)
    grid = (np.arange(128) * step)[:, None]  # up to eight periods of the wave that has a negative share
    rounding = kernel.rounding(grid)
    witness = _shortest_witness(_spectrum(kernel.exact(grid), rounding), rounding)
    if witness is None:
        return replace(report, holds=None, how="not decided", reason=f"the Fourier transform: {text}, but no witness was found")
    points = frozen(grid[witness.rows])
    return replace(report, holds=False, reason=text, witness_points=points, witness_coefficients=witness.coefficients)


def _by_search(kernel: Kernel) -> MercerReport:
    """Look for a witness on points of our own."""
    found = _search_witness(kernel)
    if found is None:
        text = "no rule proves it and no witness was found; give rows X to look at"
        return MercerReport(kernel, holds=None, how="not decided", reason=text)
    points, (rows, c) = found
    value = _quadratic_form(kernel.exact(points[rows]), c, 0.0)[0]
    text = f"{rows.size} {'point has' if rows.size == 1 else 'points have'} Σ c_i c_j k(x_i, x_j) = {value:.4g}"
    return MercerReport(
        kernel, holds=False, how="by a witness", reason=text, witness_points=frozen(points[rows]), witness_coefficients=c
    )
