"""Mercer: kernels are proved, others refused with a witness, and rounding is never taken for either."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.errors import InputError
from halfspace.kernels import RBF, FromFunction, Laplacian, Linear, Polynomial, Precomputed, Sigmoid, mercer
from halfspace.kernels.mercer import _fourier_transform

BOX = FromFunction(lambda a, b: float(abs(a[0] - b[0]) <= 1), shift_invariant=True, name="box")
LECTURE = np.array([[1.0], [2.0], [3.0]])


def form(report):
    """Σ c_i c_j k(x_i, x_j) of a witness, from the function itself."""
    K = np.array([[report.kernel(a, b) for b in report.witness_points] for a in report.witness_points])
    return report.witness_coefficients @ K @ report.witness_coefficients


def test_the_lectures_counterexample_on_its_points():
    """1 if |x - x'| <= 1 else 0, on 1, 2, 3: eigenvalues 1 - √2, 1, 1 + √2; refused with its witness."""
    assert np.allclose(np.linalg.eigvalsh(BOX.exact(LECTURE)), [1 - np.sqrt(2), 1, 1 + np.sqrt(2)])
    report = mercer(BOX, LECTURE)
    assert report.holds is False
    assert not report
    assert report.how == "on these data"
    assert np.isclose(report.smallest_eigenvalue, 1 - np.sqrt(2))
    assert report.error < 1e-13
    assert np.array_equal(report.witness_points, LECTURE)
    assert np.array_equal(report.witness_rows, [0, 1, 2])
    assert np.allclose(np.abs(report.witness_coefficients), [0.5, np.sqrt(0.5), 0.5])
    assert np.isclose(form(report), 1 - np.sqrt(2))
    assert report.verify()
    assert "not a kernel" in str(report)


def test_the_lectures_counterexample_by_its_transform():
    """Its Fourier transform, 2 sin(ω)/ω, is negative at 4.49: refused without data, with points to check."""
    report = mercer(BOX)
    assert report.holds is False
    assert report.how == "by Fourier transform"
    assert "-0.435 at ω = 4.49" in report.reason
    assert "numerical" in report.reason
    assert form(report) < 0
    assert report.verify()
    found = _fourier_transform(BOX)
    assert abs(found.lowest - 2 * np.sin(4.4934) / 4.4934) <= found.error


@pytest.mark.parametrize(
    ("g", "positive"),
    [
        (lambda t: np.exp(-abs(t)), True),
        (lambda t: np.exp(-(t**2)), True),
        (lambda t: max(0.0, 1 - abs(t)), True),
        (lambda t: 3.0 * np.exp(-5 * t * t) * np.cos(4 * t), True),
        (lambda t: np.exp(-(t**4)), False),
        (lambda t: max(0.0, 1 - t * t), False),
        (lambda t: np.exp(-t * t) * (1 - t * t * 3), False),
    ],
)
def test_transforms_tell_kernels_from_others(g, positive):
    """Known positive and known indefinite functions of a difference; every refusal carries a witness that holds."""
    report = mercer(FromFunction(lambda a, b: float(g(a[0] - b[0])), shift_invariant=True))
    assert report.holds is positive
    assert report.how == "by Fourier transform"
    assert report.error < 0.01
    assert positive or form(report) < 0
    assert report.verify()
    assert not positive or "as far as numbers tell" in str(report)


def test_transforms_know_their_limits():
    """A wave that never fades is not decided; a function that is not shift-invariant is refused."""
    wave = mercer(FromFunction(lambda a, b: float(np.cos(a[0] - b[0])), shift_invariant=True))
    assert wave.holds is None
    assert wave.how == "not decided"
    assert "give rows X" in str(wave)
    assert wave.verify()
    with pytest.raises(InputError, match="said to be shift-invariant"):
        mercer(FromFunction(lambda a, b: float(a[0] * b[0]), shift_invariant=True))


def test_constructions_are_proved(proved, A):
    """A kernel with a reason holds by construction, with or without data."""
    for report in (mercer(proved), mercer(proved, A)):
        assert report.holds is True
        assert report
        assert report.how == "by construction"
        assert report.reason == proved.reason()
        assert report.verify()
    assert mercer(RBF(), A).kernel == RBF().resolved(A)


@pytest.mark.parametrize("kernel_", [Sigmoid(1.0), Sigmoid(0.1, 1.0), Sigmoid(3.0, -0.5), Polynomial(2, coef0=-1.0)], ids=str)
def test_sigmoids_are_flagged_with_a_witness(kernel_):
    """tanh is not a kernel, nor is a polynomial with a negative constant: points and coefficients show it."""
    report = mercer(kernel_)
    assert report.holds is False
    assert report.how == "by a witness"
    assert form(report) < 0
    assert report.verify()


def test_differences_of_kernels_are_looked_at():
    """k - k' has no proof; a witness is found where there is one, and nothing is claimed where there is none."""
    assert mercer(RBF(1.0) + (-1) * RBF(2.0)).holds is False
    undecided = mercer(RBF(2.0) + 0.5 * Sigmoid(1.0) + 10 * Linear())
    assert undecided.holds in {None, False}
    assert undecided.holds is None or undecided.verify()
    minimum = mercer(FromFunction(lambda a, b: float(np.exp(-np.abs(a - b).sum()))))
    assert minimum.holds is None


def test_rounding_is_never_called_indefinite(A):
    """A matrix of low rank has eigenvalues of -1e-16; that is no witness."""
    low = FromFunction(lambda a, b: float(np.dot(a, b)))
    X = np.repeat(A, 3, axis=0)
    report = mercer(low, X)
    assert np.linalg.eigvalsh(low.exact(X))[0] < 0
    assert report.holds is True
    assert report.how == "on these data"
    assert abs(report.smallest_eigenvalue) <= report.error
    assert report.verify(X)
    noisy = FromFunction(lambda a, b: float(np.float32(np.dot(a, b))), error=1e-5)
    assert mercer(noisy, X).holds is True
    K = np.diag([1.0, 1.0, -1e-17])
    assert mercer(Precomputed(), K).holds is True
    assert mercer(Precomputed(), np.diag([1.0, 1.0, -1e-10])).holds is False


def test_short_witnesses_are_preferred(A):
    """One bad pair among many rows gives a witness of two rows."""
    K = RBF(0.5).exact(A)
    K[4, 9] = K[9, 4] = 3.0
    report = mercer(Precomputed(), K)
    assert np.array_equal(report.witness_rows, [4, 9])
    assert np.array_equal(report.witness_points, K[np.ix_([4, 9], [4, 9])])
    assert report.verify()
    sparse_report = mercer(Precomputed(), sparse.csr_array(K))
    assert np.array_equal(sparse_report.witness_rows, [4, 9])


def test_tables_and_sparse_rows_have_witnesses_too():
    """Rows may come as a table or a CSR matrix."""
    for X in (pd.DataFrame(LECTURE), sparse.csr_array(LECTURE)):
        report = mercer(BOX, X)
        assert report.holds is False
        assert report.verify()


def test_functions_that_depend_on_the_order_are_refused(A):
    """k(x, x') != k(x', x) is a witness of its own."""
    report = mercer(FromFunction(lambda a, b: float(a[0] * b[1])), A)
    assert report.holds is False
    assert "depends on the order" in report.reason
    assert report.witness_coefficients is None
    assert report.verify()


@pytest.mark.parametrize(("repair", "mend"), [("clip", lambda v: max(v, 0.0)), ("flip", abs), ("shift", None)])
def test_repairs_mend_and_say_how_much(repair, mend):
    """Negative eigenvalues become 0, change sign, or all grow; the change is stated and true."""
    K = BOX.exact(LECTURE)
    report = mercer(BOX, LECTURE, repair=repair)
    values = np.array([1 - np.sqrt(2), 1, 1 + np.sqrt(2)])
    expected = np.sort([mend(v) for v in values]) if mend else values + np.sqrt(2) - 1
    assert np.allclose(np.linalg.eigvalsh(report.matrix), expected, atol=1e-12)
    assert np.array_equal(report.matrix, report.matrix.T)
    assert np.isclose(report.changed, np.linalg.norm(report.matrix - K) / np.linalg.norm(K))
    assert f"changed the matrix by {100 * report.changed:.3g} %" in str(report)
    assert mercer(Precomputed(), report.matrix).holds is True
    assert report.holds is False


def test_repairs_leave_kernels_alone(A):
    """What needs no mending is not changed."""
    for kernel, X in ((Laplacian(1.0), A), (Precomputed(), RBF(0.5).exact(A)), (FromFunction(np.dot), A)):
        report = mercer(kernel, X, repair="clip")
        assert report.changed < 1e-15
        assert np.allclose(report.matrix, kernel.exact(X), atol=1e-15)


def test_false_reports_do_not_verify(A):
    """A changed witness, verdict or claim is not confirmed."""
    from dataclasses import replace

    report = mercer(BOX, LECTURE)
    assert not replace(report, witness_coefficients=np.ones(3)).verify()
    assert not replace(report, witness_points=LECTURE * 0.1).verify()
    assert not replace(report, holds=True).verify()
    assert not replace(mercer(RBF(1.0)), kernel=Sigmoid(1.0)).verify()
    assert not replace(mercer(FromFunction(np.dot), A), holds=False).verify(A)
    asymmetric = mercer(FromFunction(lambda a, b: float(a[0] * b[1])), A)
    assert not replace(asymmetric, kernel=Linear()).verify()


def test_bad_questions_are_refused(A, monkeypatch):
    """No data for a repair or a matrix, an unknown repair, no kernel, too many rows, a matrix that is not square."""
    with pytest.raises(InputError, match="'clip', 'shift', 'flip'"):
        mercer(BOX, LECTURE, repair="mend")
    with pytest.raises(InputError, match="needs X"):
        mercer(BOX, repair="clip")
    with pytest.raises(InputError, match="needs X"):
        mercer(Precomputed())
    with pytest.raises(InputError, match="FromFunction"):
        mercer(np.dot, A)
    with pytest.raises(InputError, match="square"):
        mercer(Precomputed(), A)
    monkeypatch.setattr(sys.modules[mercer.__module__], "LARGEST", 10)
    with pytest.raises(InputError, match="give a sample"):
        mercer(FromFunction(np.dot), A)


def test_the_public_name():
    """hs.kernels.mercer is the way in."""
    assert hs.kernels.mercer(hs.kernels.RBF(1.0)).holds is True


@pytest.mark.parametrize("scale", [1e8, 1e12, 1e100, 1e150])
def test_what_rounding_hides_is_undecided_and_learnt_from_by_nobody(scale):
    """tanh of huge products has values of any sign by rounding: neither a kernel nor none, and the reason says so."""
    X, y = scale * np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    report = mercer(Sigmoid(1.0, -1.0), X)
    assert report.holds is None
    assert not report
    assert report.how == "not decided"
    assert "hides its sign" in report.reason
    assert report.verify(X)
    assert "perhaps a kernel, not decided" in str(report)
    mended = mercer(Sigmoid(1.0, -1.0), X, repair="clip").matrix
    assert np.linalg.eigvalsh(mended)[0] > -1e-10
    if scale < 1e70:
        for model in (hs.KernelAdaTron(Sigmoid(1.0, -1.0)), hs.KernelMinOver(Sigmoid(1.0, -1.0))):
            with pytest.raises(InputError, match=r"cannot be told: rounding of up to .* a value hides it"):
                model.fit(X, y)


def test_rounding_without_bound_decides_nothing():
    """Also where the function's own bound is infinite."""
    report = mercer(FromFunction(lambda a, b: float(a @ b), error=1e308), np.eye(3))
    assert (report.holds, report.how) == (None, "not decided")


def test_a_fourier_transform_on_the_line_proves_nothing_in_the_plane():
    """The triangle 1 - |x - x'| is a kernel of numbers; of their distance in the plane it is none."""

    def triangle(a, b):
        return max(0.0, 1.0 - float(np.linalg.norm(a - b)))

    def on_the_line(a, b):
        return max(0.0, 1.0 - abs(a[0] - b[0]))

    report = mercer(FromFunction(triangle, shift_invariant=True))
    assert report.holds is None
    assert "about rows of one number" in report.reason
    assert report.verify()
    assert mercer(FromFunction(on_the_line, shift_invariant=True)).holds
    grid = 0.3 * np.array([(i, j) for i in range(8) for j in range(8)], dtype=float)
    assert mercer(FromFunction(triangle, shift_invariant=True), grid).holds is False
