"""Kernel ridge regression: agreement with scikit-learn and with refits, its choice, its cells, its proof."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge

import halfspace as hs
from halfspace.errors import InputError
from halfspace.models.regression.kernel_regression import KernelRegression


def problem(n=60, d=2, m=1, seed=0):
    """Noisy waves of the first two features; values that float32 holds exactly."""
    rng = np.random.default_rng(seed)
    X = np.round(64.0 * rng.uniform(-3.0, 3.0, (n, d))) / 64.0
    Y = np.column_stack([np.sin((k + 1) * X[:, 0]) + X[:, -1] for k in range(m)]) + 0.1 * rng.standard_normal((n, m))
    return X, Y if m > 1 else Y[:, 0]


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("weighted", [False, True])
def test_without_a_constant_it_is_scikit_learns_kernel_ridge(kernel, weighted):
    """For a given width and ridge the predictions are those of KernelRidge, and the certificate holds."""
    X, Y = problem(m=2)
    s = np.random.default_rng(1).uniform(0.5, 2.0, Y.shape[0]) if weighted else None
    model = KernelRegression(kernel, gamma=0.4, coef0=1.0, ridge=0.3, intercept="none").fit(X, Y, s)
    peer = KernelRidge(kernel=kernel, gamma=None if kernel == "linear" else 0.4, coef0=1.0, alpha=0.3).fit(X, Y, s)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-7, atol=1e-9)
    assert model.verify(X, Y)
    assert model.certificate_.relative_gap < 1e-12


@pytest.mark.parametrize("intercept", ["free", "clamped", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_predictions_left_out_are_those_of_refits(intercept, weighted):
    """`left_out_` equals the prediction of a model fitted without the example, to 1e-6."""
    X, y = problem(n=40)
    s = np.random.default_rng(1).uniform(0.5, 2.0, y.size) if weighted else np.ones(y.size)
    made = {"gamma": 0.4, "ridge": 0.05, "intercept": intercept}
    model = KernelRegression(**made).fit(X, y, s)
    refits = [
        KernelRegression(**made).fit(np.delete(X, i, 0), np.delete(y, i), np.delete(s, i)).predict(X[i : i + 1])[0]
        for i in range(y.size)
    ]
    np.testing.assert_allclose(model.left_out_, refits, rtol=1e-6, atol=1e-8)
    assert model.left_out_error_ == pytest.approx(np.average((y - model.left_out_) ** 2, weights=s), rel=1e-9)


def test_leave_one_out_over_the_grid_is_that_of_brute_force():
    """Every entry of the table of errors is the mean squared error of refits, as a share of the variance."""
    X, y = problem(n=30)
    model = KernelRegression(gammas=[0.1, 1.0], ridges=[1e-3, 0.1, 10.0]).fit(X, y)
    for k, gamma in enumerate(model.history_["gammas"]):
        for j, ridge in enumerate(model.history_["ridges"][k]):
            alone = KernelRegression(gamma=gamma, ridge=ridge).fit(X, y)
            assert model.history_["errors"][k, j] == pytest.approx(alone.left_out_error_ / y.var(), rel=1e-9)
    best = np.unravel_index(model.history_["errors"].argmin(), (2, 3))
    assert model.kernel_.gamma == model.history_["gammas"][best[0]]
    assert model.ridge_ == model.history_["ridges"][best]


def test_a_weight_of_two_is_an_example_twice_and_of_zero_none():
    """Weights are multiplicities; a row without weight has no coefficient and no prediction left out."""
    X, y = problem(n=30)
    s = np.random.default_rng(2).integers(0, 3, y.size)
    weighed = KernelRegression(gamma=0.4, ridge=0.1).fit(X, y, s)
    copied = KernelRegression(gamma=0.4, ridge=0.1).fit(np.repeat(X, s, axis=0), np.repeat(y, s))
    np.testing.assert_allclose(weighed.predict(X), copied.predict(X), rtol=1e-9)
    assert not weighed.dual_coef_[s == 0].any()
    assert np.array_equal(np.isnan(weighed.left_out_), s == 0)
    assert weighed.verify(X, y)


def test_storage_and_threads_do_not_matter():
    """Dense, CSR and float32 rows give the same answer, and so does any number of threads, bit for bit."""
    X, y = problem(n=80)
    model = KernelRegression(n_jobs=1).fit(X, y)
    assert np.array_equal(KernelRegression(n_jobs=2).fit(X, y).dual_coef_, model.dual_coef_)
    for stored in (sparse.csr_array(X), X.astype(np.float32)):
        other = KernelRegression().fit(stored, y)
        np.testing.assert_allclose(other.predict(stored), model.predict(X), rtol=1e-5, atol=1e-6)
        assert other.verify(stored, y)


def test_a_width_that_a_quarter_of_the_rows_rules_out_is_left():
    """On many rows hopeless widths have no errors in the table; with full_grid all have, and the choice is the same."""
    X, y = problem(n=1100)
    gammas = [1e-3, 0.3, 300.0]
    quick = KernelRegression(gammas=gammas).fit(X, y)
    whole = KernelRegression(gammas=gammas, full_grid=True).fit(X, y)
    assert np.isnan(quick.history_["errors"]).any()
    assert not np.isnan(whole.history_["errors"]).any()
    assert quick.kernel_ == whole.kernel_
    assert quick.ridge_ == whole.ridge_


def test_beyond_kernel_rows_there_are_cells_each_with_its_proof():
    """Cells predict nearly as well as one machine, say that they are an approximation, and their proof holds."""
    X, Y = problem(n=400, m=2)
    model = KernelRegression(kernel_rows=100).fit(X, Y)
    assert len(model.certificate_.parts) >= 4
    assert "approximation" in model.outcome_.sentence
    assert model.verify(X, Y)
    assert not model.certificate_.verify(X, Y[::-1])
    assert (model.left_out_error_ < 2.0 * KernelRegression().fit(X, Y).left_out_error_).all()


def test_an_example_far_from_all_others_has_no_cell_of_its_own():
    """A cell of one example could not be left out of; it belongs to the nearest cell, and the model has its proof."""
    X = np.append(np.random.default_rng(0).standard_normal(59), 1e3)[:, None]
    y = np.sin(X[:, 0])
    model = KernelRegression(gamma=0.5, ridge=0.1, kernel_rows=20).fit(X, y)
    assert min(np.bincount(model.certificate_.cells)) >= 5
    assert np.isfinite(model.left_out_).all()
    assert model.certificate_.verify(X, y)


def test_every_number_of_the_certificate_is_checked():
    """A lower gap or distance, another objective or error, other coefficients, constants or ridge are refuted."""
    X, Y = problem(m=2)
    proof = KernelRegression().fit(X, Y).certificate_
    assert proof.verify(X, Y)
    changed = [("objective", 1.0001), ("gap", 0.01), ("distance", 0.1), ("left_out_error", 1.0001), ("left_out_error", 0.999)]
    for name, factor in changed:
        assert not replace(proof, **{name: getattr(proof, name) * factor}).verify(X, Y), name
    assert not replace(proof, coefficients=-proof.coefficients).verify(X, Y)
    assert not replace(proof, constants=proof.constants + 1e-3).verify(X, Y)
    assert not replace(proof, ridge=proof.ridge * 1.01).verify(X, Y)


def test_the_gap_is_a_bound_on_the_distance_from_the_optimum():
    """For coefficients moved at random the claimed gap and distance are at least the true ones."""
    X, y = problem(n=25)
    kernel, ridge = hs.kernels.RBF(0.5), 0.1
    K, rng = kernel.exact(X), np.random.default_rng(0)
    best = np.linalg.solve(K + ridge * np.eye(y.size), y)
    least = ridge * y @ best
    for size in (1e-8, 1e-3, 1.0):
        a = best + size * rng.standard_normal(y.size)
        proof = hs.certificates.KernelRidgeGap.measure(X, y, kernel=kernel, coefficients=a[None], ridge=ridge)
        above = np.square(y - K @ a).sum() + ridge * a @ K @ a - least
        assert proof.gap[0] >= above - 1e-13  # which is a difference of large numbers
        assert proof.distance[0] >= np.sqrt((a - best) @ K @ (a - best))
        assert proof.verify(X, y)


def test_a_precomputed_kernel_gives_the_same_answer():
    """The matrix of a kernel in place of the rows leads to the same predictions."""
    X, y = problem()
    kernel = hs.kernels.RBF(0.4)
    model = KernelRegression(kernel, ridge=0.1).fit(X, y)
    other = KernelRegression("precomputed", ridge=0.1).fit(kernel.exact(X), y)
    np.testing.assert_allclose(other.predict(kernel.exact(X)), model.predict(X), rtol=1e-9)
    with pytest.raises(InputError, match="kernel_rows"):
        KernelRegression("precomputed", ridge=0.1, kernel_rows=20).fit(kernel.exact(X), y)


def test_it_can_be_saved(tmp_path):
    """A loaded model, of one machine or of cells, predicts the same and has the same proof."""
    X, y = problem(n=100)
    for rows in (4000, 30):
        model = KernelRegression(kernel_rows=rows).fit(X, y)
        hs.save(model, tmp_path / "model.halfspace")
        loaded = hs.load(tmp_path / "model.halfspace")
        assert np.array_equal(loaded.predict(X), model.predict(X))
        assert loaded.verify(X, y)


@pytest.mark.parametrize(
    "wrong", [{"ridge": 0.0}, {"ridge": "best"}, {"gamma": -1.0}, {"gammas": [0.0]}, {"kernel_rows": 3}, {"intercept": "yes"}]
)
def test_wrong_parameters_are_named(wrong):
    """A parameter that cannot be used is refused by its name."""
    X, y = problem(n=10)
    with pytest.raises(InputError, match=next(iter(wrong))):
        KernelRegression(**wrong).fit(X, y)


@pytest.mark.parametrize("y", [np.full(40, np.log(2.0)), np.r_[0.1, np.full(39, 0.1)] * 3.0], ids=["equal", "rounded"])
def test_errors_that_are_rounding_verify(y):
    """Where nothing is left but rounding, the errors left out are confirmed up to it, and no more."""
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = KernelRegression(gamma=0.5, ridge=0.1).fit(X, y)
    assert model.verify(X, y)
    assert not replace(model.certificate_, left_out_error=np.array([1e-20])).verify(X, y)


@pytest.mark.parametrize("intercept", ["free", "clamped", "none"])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix])
def test_equal_rows_are_solved_as_one_and_left_out_one_by_one(intercept, stored):
    """Nine different rows of 60: predictions left out are those of refits, and little changes if no two rows are equal."""
    rng = np.random.default_rng(3)
    X = rng.integers(0, 3, (60, 2)).astype(float)
    y, s = X[:, 0] ** 2 - X[:, 1] + rng.standard_normal(60), rng.uniform(0.5, 2.0, 60)
    made = {"gamma": 0.4, "ridge": 0.05, "intercept": intercept}
    model = KernelRegression(**made).fit(stored(X), y, s)
    refits = [
        KernelRegression(**made).fit(np.delete(X, i, 0), np.delete(y, i), np.delete(s, i)).predict(X[i : i + 1])[0]
        for i in range(y.size)
    ]
    np.testing.assert_allclose(model.left_out_, refits, rtol=1e-9, atol=1e-9)
    unequal = X + 1e-9 * rng.standard_normal(X.shape)
    apart = KernelRegression(**made).fit(unequal, y, s)
    np.testing.assert_allclose(model.predict(X), apart.predict(X), rtol=1e-6, atol=1e-6)
    assert model.verify(stored(X), y)
    assert model.certificate_.relative_gap < 1e-12
    searched = [KernelRegression(gammas=[0.1, 1.0], intercept=intercept).fit(rows, y, s) for rows in (X, unequal)]
    np.testing.assert_allclose(searched[0].history_["errors"], searched[1].history_["errors"], rtol=1e-6)
