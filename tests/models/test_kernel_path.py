"""The path of kernel AdaTrons over caps and widths, and the grid behind it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

import halfspace as hs
from halfspace.errors import GapWarning, InputError
from halfspace.kernels import RBF, Laplacian, Linear, Polynomial
from halfspace.solvers.kernel.grid import Place, Shared, WidthMatrices, advance, confine, refresh, room_of, stretch
from halfspace.solvers.kernel.grid_search import GridPlan, GridRun, chosen_point, search_grid
from halfspace.solvers.kernel.pair_steps import Penalised

GAMMAS = [0.1, 1.0]


def rings(n=48, noise=0.3, seed=0):
    """Two rings, one inside the other, blurred so that some points lie on the wrong side."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    X = (1.0 + y)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return X + noise * rng.standard_normal((n, 2)), y


# ---------------------------------------------------------------- the path
def true_gap(path, g, k, X, y, clamp=0.0):
    """The relative gap of one point, from its strengths and bias alone."""
    sign, alpha = np.where(y == 1, 1.0, -1.0), path.alphas[g, k, 0]
    f = (path.kernels[g].exact(X) + clamp**2) @ (alpha * sign)
    square = alpha * sign @ f
    primal = 0.5 * square + path.Cs[k] * np.maximum(0.0, 1.0 - sign * (f + path.biases[g, k, 0])).sum()
    return (primal - (alpha.sum() - 0.5 * square)) / primal


@pytest.mark.compiled
@pytest.mark.parametrize("intercept", ["clamped", "free", "none"])
def test_gaps_of_a_path_are_true_in_double_precision(intercept):
    """Also where caps are large: single precision alone would claim too much."""
    X, y = rings(1100, noise=0.6)
    path = hs.kernel_path(X, y, Cs=[10.0, 1000.0], gammas=[0.05, 5.0], intercept=intercept, tol=1e-4)
    assert (path.gaps <= 1e-4).all()
    for g in range(2):
        for k in range(2):
            clamp = float(intercept == "clamped")
            assert true_gap(path, g, k, X, y, clamp) == pytest.approx(path.gaps[g, k], rel=1e-2, abs=1e-9)


@pytest.mark.parametrize("intercept", ["clamped", "free", "none"])
def test_a_path_is_the_fits_one_by_one(intercept):
    """Every point of a path has the strengths' gap that it claims, and the values of a separate fit."""
    X, y = rings(30)
    path = hs.kernel_path(X, y, Cs=[3.0, 0.3], gammas=GAMMAS, intercept=intercept, tol=1e-6)
    assert_array_equal(path.Cs, [0.3, 3.0])
    assert path.alphas.shape == (2, 2, 1, 30)
    assert (path.gaps <= 1e-6).all()
    for g, gamma in enumerate(path.gammas):
        for k, C in enumerate(path.Cs):
            alone = hs.KernelAdaTron(C=C, gamma=gamma, intercept=intercept, tol=1e-6).fit(X, y)
            if intercept != "free" or ((alone.alpha_ > 0) & (alone.alpha_ < C)).any():  # else the bias is not settled
                assert path.errors[g, k] == pytest.approx(1.0 - alone.score(X, y))
            sign = np.where(y == 1, 1.0, -1.0)
            K = path.kernels[g].exact(X) + (intercept == "clamped")
            alpha = path.alphas[g, k, 0]
            dual = alpha.sum() - 0.5 * (alpha * sign) @ K @ (alpha * sign)
            assert dual == pytest.approx(alone.certificate_.dual, rel=1e-5)
            assert ((alpha >= 0) & (alpha <= C)).all()
    assert_array_equal(path.n_support, (path.alphas[:, :, 0] > 0).sum(axis=2))


def test_a_path_of_three_classes():
    """Three problems, each against the rest, or each against each, are strengths of the same examples."""
    X, y = load_iris(return_X_y=True)
    X, y = scale(X)[::5], y[::5]
    rest = hs.kernel_path(X, y, Cs=[1.0], gammas=[0.1, 1.0])
    each = hs.kernel_path(X, y, Cs=[1.0], gammas=[0.1, 1.0], multi_class="ovo")
    assert rest.alphas.shape == each.alphas.shape == (2, 1, 3, 30)
    assert not each.alphas[:, :, 0, y == 2].any()
    assert rest.errors.max() < 0.2
    assert each.errors.max() < 0.2


def test_a_path_without_time_says_so():
    """Points that were not reached are NaN, and a warning counts them."""
    with pytest.warns(GapWarning, match="4 of 4 points.*time budget"):
        path = hs.kernel_path(*rings(), Cs=[1.0, 2.0], gammas=GAMMAS, max_time=1e-9)
    assert np.isnan(path.gaps).all()
    assert_array_equal(path.n_support, 0)


def test_a_path_too_large_is_refused():
    """The memory is predicted, and the message says what to do."""
    with pytest.raises(InputError, match="cache_size"):
        hs.kernel_path(*rings(), cache_size=1e-3)


# ---------------------------------------------------------------- the parts
def test_stretching_climbs_highest_and_keeps_the_gradient_true():
    """The factor maximises the dual value on the ray, within the caps, and h stays y - K b."""
    X, y = rings(20)
    sign, K = np.where(y == 1, 1.0, -1.0), RBF(1.0).exact(X)
    b = 0.01 * sign
    at = Place(sign, sign - K @ b, b, np.zeros(20), np.zeros(20))
    factor = stretch(at, 1e9)
    assert factor == pytest.approx(0.2 / (0.01**2 * sign @ K @ sign))
    assert_allclose(at.h, sign - K @ at.b, atol=1e-12)
    assert stretch(at, 1e9) == pytest.approx(1.0)
    at.b[:], at.h[:] = 0.01 * sign, sign - K @ (0.01 * sign)
    assert stretch(at, 2.0) == 2.0


def test_who_is_held_out_has_no_strength():
    """A cap of 0 keeps a strength at 0, and the gap is reached on the others."""
    X, y = rings(20)
    sign, c = np.where(y == 1, 1.0, -1.0), np.ones(20)
    c[:6] = 0.0
    K = RBF(1.0).matrix(X, dtype=np.float32)
    at = Place(sign, sign.copy(), np.zeros(20), np.zeros(20), np.zeros(20))
    confine(at, c, 2.0)
    shared = Shared(K, K.diagonal().copy(), room_of(20), Penalised())
    gap, primal, steps = advance(shared, at, 1e-5, 10_000)
    refresh(K, at)
    assert gap <= 1e-5 * primal
    assert steps > 0
    assert not at.b[:6].any()
    assert_allclose(at.h, sign - at.b @ K.astype(float), atol=1e-12)


@pytest.mark.parametrize("kernel", [RBF(0.7), Laplacian(0.7), Polynomial(2, 0.7, 1.0), Linear()])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_matrices_of_widths_are_the_kernels(kernel, stored):
    """From shared distances or anew, from dense or sparse rows: the values are the kernel's, plus the clamped input."""
    X, _ = rings(15)
    matrices = WidthMatrices([kernel], stored(X), 0.5)
    assert_allclose(matrices.fill(0, matrices.memory()), kernel.exact(X) + 0.25, rtol=2e-6, atol=1e-7)


def test_an_interrupt_keeps_what_is_done():
    """Ctrl-C in the middle: the points done so far decide; before the first, it is passed on."""
    X, y = rings()
    sign = np.where(y == 1, 1.0, -1.0)
    calls = []

    def score(width, cap, fold, machines):
        calls.append((width, cap, fold, machines.y.shape))
        if len(calls) == limit:
            raise KeyboardInterrupt
        return 0.5 + 0.1 * cap

    for limit in (4, 1):
        calls.clear()
        matrices = WidthMatrices([RBF(0.5), RBF(1.0)], X, 0.0)
        run = GridRun(matrices, np.array([0.1, 1.0, 10.0]), [(sign[None], np.ones((1, y.size)))], score, GridPlan(1e-2, False))
        search_grid(run, 1)
        assert run.reason == "interrupted"
        if limit == 4:
            assert chosen_point(run, one_standard_error=False) == (0, 2, pytest.approx(0.7))
        else:
            with pytest.raises(KeyboardInterrupt):
                chosen_point(run, one_standard_error=False)


@pytest.mark.parametrize("n", [60, 1100])
def test_values_beyond_single_precision_are_refused(n):
    """A kernel whose values overflow is refused in words, on few rows as on many."""
    X = np.random.default_rng(0).standard_normal((n, 3)) * 1e5
    model = hs.KernelAdaTronCV("poly", degree=9, coef0=1.0, Cs=[1.0], gammas=[1.0], cv=2)
    with pytest.raises(InputError, match="too large for float32"):
        model.fit(X, X[:, 0] > 0)
