"""Is this kernel a kernel? By construction, by its Fourier transform, or on these data; a witness if it is not.

A function k is a kernel, an inner product in some space, if and only if Σ c_i c_j k(x_i, x_j) >= 0 for all points and
coefficients (Mercer; Aronszajn 1950). Points and coefficients for which that sum is negative settle the matter, and anybody can
check them. Nothing is called indefinite that rounding could explain.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from halfspace._typing import FloatArray, IntArray, Matrix
from halfspace.errors import InputError
from halfspace.kernels.algebra import check_kernel
from halfspace.kernels.base import Kernel
from halfspace.kernels.fourier import transform
from halfspace.kernels.precomputed import FromFunction
from halfspace.kernels.rows import checked
from halfspace.kernels.values import frozen
from halfspace.kernels.witness import Spectrum, is_asymmetric, quadratic_form, search, shortest_witness, spectrum

__all__ = ["MercerReport", "mercer"]

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
        of points that were found by search; "not decided".
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
                return self.holds is False and is_asymmetric(K, rounding) is not None
            value, error = quadratic_form(K, self.witness_coefficients, rounding)
            return self.holds is False and value < -error
        if self.how == "by construction":
            return self.holds is True and self.kernel.reason() is not None
        again = mercer(self.kernel, X)
        return again.how == self.how and again.holds == self.holds


def mercer(kernel: Kernel, X: Matrix | None = None, *, repair: Repair | None = None) -> MercerReport:
    """Tell whether a kernel is one, and prove it.

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
    pair = is_asymmetric(K, rounding)
    found = spectrum(K, rounding)
    lowest = float(found.values[0])
    report = MercerReport(kernel, holds=True, how="on these data", reason="", smallest_eigenvalue=lowest, error=found.error)
    if repair is not None:
        report = _repaired(report, found, K, repair)
    if pair is not None:
        text = f"it depends on the order: k(x_{pair[0]}, x_{pair[1]}) = {K[pair]:.6g}, the other way {K[pair[::-1]]:.6g}"
        rows = np.array(pair)
        return replace(report, holds=False, reason=text, witness_rows=rows, witness_points=_points(kernel, X, rows))
    witness = shortest_witness(found, rounding) if lowest < -found.error else None
    if witness is None:
        text = f"the smallest eigenvalue of {K.shape[0]} rows is {lowest:.4g}, rounding at most {found.error:.2g}"
        return replace(report, reason=text)
    rows, c = witness
    value = quadratic_form(found.matrix[np.ix_(rows, rows)], c, rounding)[0]
    text = f"{rows.size} of the rows {'has' if rows.size == 1 else 'have'} Σ c_i c_j k(x_i, x_j) = {value:.4g}"
    points = _points(kernel, X, rows)
    return replace(report, holds=False, reason=text, witness_rows=rows, witness_points=points, witness_coefficients=c)


def _points(kernel: Kernel, X: Matrix, rows: IntArray) -> Any:
    """Return a copy of some rows; of a kernel matrix the rows and columns."""
    picked = checked(X, "X", "mercer")[rows]
    return frozen(picked[:, rows] if kernel.is_precomputed else picked)


def _repaired(report: MercerReport, found: Spectrum, K: FloatArray, repair: Repair) -> MercerReport:
    """Add the mended matrix; one that needs no mending stays as it is."""
    lowest = found.values[0]
    if lowest >= -found.error:
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
    found = transform(kernel)
    if found is None:
        return _by_search(kernel)
    lowest, frequency, error, highest, extent = found
    report = MercerReport(kernel, holds=True, how="by Fourier transform", reason="", error=error)
    if lowest >= -error:
        text = f"it is nowhere below {lowest:.2g} up to ω = {highest:.3g}, error about {error:.2g} (numerical)"
        return replace(report, reason=text)
    text = f"it is {lowest:.3g} at ω = {frequency:.3g}, error about {error:.2g} (numerical)"
    step = min(np.pi / (8.0 * frequency) if frequency > 0.0 else np.inf, extent / 64.0)
    grid = (np.arange(128) * step)[:, None]  # up to eight periods of the wave that has a negative share
    rounding = kernel.rounding(grid)
    witness = shortest_witness(spectrum(kernel.exact(grid), rounding), rounding)
    if witness is None:
        return replace(report, holds=None, how="not decided", reason=f"the Fourier transform: {text}, but no witness was found")
    points = frozen(grid[witness.rows])
    return replace(report, holds=False, reason=text, witness_points=points, witness_coefficients=witness.coefficients)


def _by_search(kernel: Kernel) -> MercerReport:
    """Look for a witness on points of our own."""
    found = search(kernel)
    if found is None:
        text = "no rule proves it and no witness was found; give rows X to look at"
        return MercerReport(kernel, holds=None, how="not decided", reason=text)
    points, (rows, c) = found
    value = quadratic_form(kernel.exact(points[rows]), c, 0.0)[0]
    text = f"{rows.size} {'point has' if rows.size == 1 else 'points have'} Σ c_i c_j k(x_i, x_j) = {value:.4g}"
    return MercerReport(
        kernel, holds=False, how="by a witness", reason=text, witness_points=frozen(points[rows]), witness_coefficients=c
    )
