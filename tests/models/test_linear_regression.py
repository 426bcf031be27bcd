"""Linear regression: agreement with scikit-learn and closed forms, its readings, its outcomes."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import BayesianRidge, Ridge, RidgeCV

from halfspace.errors import InputError
from halfspace.models.regression.bayesian_regression import BayesianRegression
from halfspace.models.regression.linear_regression import LinearRegression, ridge_path
from halfspace.rows.design import Design
from halfspace.solvers.regression import ridge as solver
from halfspace.solvers.regression.ridge import ridge_regression
from halfspace.solvers.regression.spectrum import spectrum

SHAPES = {"tall": (40, 6), "wide": (8, 25), "square": (7, 6)}
STORED = {"dense": np.asarray, "sparse": sparse.csr_array, "float32": lambda X: X.astype(np.float32)}


def problem(n, d, m=2, seed=0):
    """Values that float32 holds exactly, some of them 0."""
    rng = np.random.default_rng(seed)
    X = np.round(4.0 * rng.standard_normal((n, d))) / 4.0 + 1.0
    return X, X @ rng.standard_normal((d, m)) + rng.standard_normal((n, m)) + 3.0


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_free_intercept_gives_scikit_learns_ridge(shape, stored):
    """For any shape and storage the weights are those of scikit-learn's Ridge, and the certificate holds."""
    X, Y = problem(*SHAPES[shape])
    model = LinearRegression(ridge=0.7, intercept="free").fit(STORED[stored](X), Y)
    peer = Ridge(alpha=0.7).fit(X, Y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-8)
    np.testing.assert_allclose(model.predict(STORED[stored](X)), peer.predict(X), rtol=1e-8)
    assert model.certificate_.verify(X, Y)
    assert all(part.gap < 1e-12 * part.objective for part in model.certificate_)


@pytest.mark.parametrize("intercept", ["clamped", "free", "none"])
@pytest.mark.parametrize("shape", SHAPES)
def test_without_a_ridge_the_answer_is_the_pseudo_inverse(shape, intercept):
    """ridge=0 gives the smallest weights of least squared error, and strengths that hold them."""
    X, Y = problem(*SHAPES[shape], m=1)
    y = Y[:, 0]
    model = LinearRegression(intercept=intercept, intercept_scaling=2.0).fit(X, y)
    full = np.column_stack([X, np.full(y.size, 2.0)]) if intercept == "clamped" else X - (intercept == "free") * X.mean(axis=0)
    w = np.linalg.pinv(full) @ (y - (intercept == "free") * y.mean())
    np.testing.assert_allclose(model.coef_, w[: X.shape[1]], atol=1e-10)
    np.testing.assert_allclose(full.T @ model.alpha_, w, atol=1e-9)
    assert model.certificate_.verify(X, y)
    assert model.outcome_.reason == "solved"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_leave_one_out_is_that_of_ridge_cv(shape, intercept):
    """The errors and the λ of "cv" are those of RidgeCV, from one decomposition."""
    X, Y = problem(*SHAPES[shape])
    grid = np.geomspace(1e-2, 1e3, 30)
    model = LinearRegression(ridge="cv", ridges=grid[::-1], intercept=intercept).fit(X, Y)
    peer = RidgeCV(alphas=grid, fit_intercept=intercept == "free", store_cv_results=True).fit(X, Y)
    np.testing.assert_allclose(model.history_["loo_errors"], peer.cv_results_.mean(axis=(0, 1)), rtol=1e-8)
    assert model.ridge_ == peer.alpha_
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-8, atol=1e-10)
    assert model.certificate_.verify(X, Y)


@pytest.mark.parametrize("intercept", ["free", "none"])
def test_the_evidence_is_that_of_bayesian_ridge(intercept):
    """The λ of "evidence", and the variances of noise and prior, are BayesianRidge's without hyperpriors."""
    X, Y = problem(40, 6, m=1)
    model = LinearRegression(ridge="evidence", intercept=intercept).fit(X, Y[:, 0])
    peer = BayesianRidge(
        alpha_1=0, alpha_2=0, lambda_1=0, lambda_2=0, tol=1e-14, max_iter=10_000, fit_intercept=intercept == "free"
    ).fit(X, Y[:, 0])
    np.testing.assert_allclose(model.ridge_, peer.lambda_ / peer.alpha_, rtol=1e-8)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-8)
    if intercept == "none":  # a free constant takes a degree of freedom here
        np.testing.assert_allclose(model.noise_variance_, 1.0 / peer.alpha_, rtol=1e-8)
        np.testing.assert_allclose(model.tau2_, 1.0 / peer.lambda_, rtol=1e-8)


@pytest.mark.parametrize("intercept", ["free", "clamped"])
def test_the_path_is_the_fits_one_by_one(intercept):
    """Weights, effective parameters, errors and evidence of a path are those of separate fits; its best are the chosen ones."""
    X, Y = problem(30, 5)
    path = ridge_path(X, Y, intercept=intercept)
    for k in (0, 20, 49):
        model = LinearRegression(ridge=path.ridges[k], intercept=intercept).fit(X, Y)
        np.testing.assert_allclose(path.coefs[k], model.coef_, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(path.intercepts[k], model.intercept_, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(path.effective_parameters[k], 30 - model.degrees_of_freedom_, rtol=1e-8)
    assert LinearRegression(ridge="cv", intercept=intercept).fit(X, Y).ridge_ == path.ridges[np.argmin(path.loo_errors)]
    best, near = (
        LinearRegression(ridge="evidence", intercept=intercept).fit(X, Y).ridge_,
        path.ridges[np.argmax(path.log_evidence)],
    )
    assert 0.5 < best / near < 2.0


def test_standard_errors_are_the_textbook_ones():
    """σ², log-likelihood and standard errors follow their definitions, the constant's too, clamped and free alike."""
    X, Y = problem(40, 3, m=1)
    y, A = Y[:, 0], np.column_stack([X, np.ones(40)])
    w = np.linalg.lstsq(A, y)[0]
    rest = float(((y - A @ w) ** 2).sum())
    errors = np.sqrt(rest / 36 * np.diag(np.linalg.inv(A.T @ A)))
    for intercept in ("clamped", "free"):
        model = LinearRegression(intercept=intercept).fit(X, y)
        np.testing.assert_allclose(np.append(model.standard_errors_, model.intercept_standard_error_), errors, rtol=1e-9)
        np.testing.assert_allclose(model.sigma2_, rest / 40, rtol=1e-10)
        np.testing.assert_allclose(model.log_likelihood_, -20 * (np.log(2 * np.pi * rest / 40) + 1), rtol=1e-10)
        assert model.degrees_of_freedom_ == pytest.approx(36)
        assert model.tau2_ == np.inf
        assert len(model.summary().splitlines()) == 6


@pytest.mark.parametrize("shape", SHAPES)
def test_with_a_ridge_standard_errors_are_posterior_deviations(shape):
    """They are the roots of σ² times the diagonal of (X̃ᵀX̃ + λI)⁻¹, whatever route the shape takes."""
    X, Y = problem(*SHAPES[shape], m=1)
    model = LinearRegression(ridge=2.0, intercept="clamped").fit(X, Y[:, 0])
    A = np.column_stack([X, np.ones(X.shape[0])])
    spread = np.diag(np.linalg.inv(A.T @ A + 2.0 * np.eye(A.shape[1])))
    expected = np.sqrt(model.noise_variance_ * spread)
    np.testing.assert_allclose(np.append(model.standard_errors_, model.intercept_standard_error_), expected, rtol=1e-8)


@pytest.mark.parametrize("ridge", [0.0, 1.5, "cv", "evidence"])
@pytest.mark.parametrize("intercept", ["clamped", "free"])
def test_a_weight_is_a_repetition(ridge, intercept):
    """An example of weight 2 counts as two of them, in the fit, in every error and in every reading; weight 0 as none."""
    X, Y = problem(25, 4)
    s = np.random.default_rng(1).integers(0, 4, 25).astype(float)
    rows = np.repeat(np.arange(25), s.astype(int))
    given = LinearRegression(ridge=ridge, intercept=intercept).fit(X, Y, sample_weight=s)
    repeated = LinearRegression(ridge=ridge, intercept=intercept).fit(X[rows], Y[rows])
    names = ("coef_", "intercept_", "ridge_", "sigma2_", "log_likelihood_", "standard_errors_", "intercept_standard_error_")
    for name in names:
        np.testing.assert_allclose(getattr(given, name), getattr(repeated, name), rtol=1e-8, err_msg=name)
    assert given.certificate_.verify(X, Y)


def test_ill_conditioned_data_take_the_stable_route():
    """A design of condition 1e9, which squaring would drown, is solved as well as by singular values."""
    rng = np.random.default_rng(0)
    U, V = np.linalg.qr(rng.standard_normal((60, 5)))[0], np.linalg.qr(rng.standard_normal((5, 5)))[0]
    X = U * np.geomspace(1.0, 1e-9, 5) @ V.T
    w = rng.standard_normal(5)
    model = LinearRegression(intercept="none").fit(X, X @ w)
    reference = np.linalg.lstsq(X, X @ w)[0]
    assert "singular values" in model.outcome_.sentence
    assert np.abs(model.coef_ - w).max() <= 10 * np.abs(reference - w).max() + 1e-6
    assert model.certificate_.verify(X, X @ w)


def test_blocks_give_the_decomposition_of_the_whole(monkeypatch):
    """Squares and triangles gathered from many small blocks have the singular values of the whole."""
    monkeypatch.setattr("halfspace.rows.design.BLOCK", 64)
    monkeypatch.setattr("halfspace.rows.threads.CHUNK_ENTRIES", 128)
    monkeypatch.setattr("halfspace.rows.design.CHUNK_ENTRIES", 128)
    X, Y = problem(300, 4)
    for A in (X, np.ascontiguousarray(X.T)):
        design = Design(A, np.ones(A.shape[0]), 0.5, A.mean(axis=0))
        targets = Y if A is X else Y[:4]
        parts = [spectrum(design, targets, 1e-3, precise=precise) for precise in (False, True)]
        singular = np.linalg.svd(design.rows(0, design.n), compute_uv=False)
        for part in parts:
            np.testing.assert_allclose(part.s, singular[: part.s.size], rtol=1e-9)
            np.testing.assert_allclose(part.rest, parts[0].rest, rtol=1e-8, atol=1e-20)


def test_the_number_of_threads_does_not_change_a_bit(monkeypatch):
    """Pieces are cut by the data and joined in order, so one thread and three give equal bits."""
    monkeypatch.setattr("halfspace.rows.design.BLOCK", 64)
    monkeypatch.setattr("halfspace.rows.threads.CHUNK_ENTRIES", 128)
    monkeypatch.setattr("halfspace.rows.design.CHUNK_ENTRIES", 128)
    X, Y = problem(300, 4)
    found = []
    for threads in (1, 3):
        with ThreadPoolExecutor(threads) as pool:
            monkeypatch.setattr("halfspace.rows.threads.pool", lambda pool=pool: pool)
            found.append(LinearRegression(ridge="cv", intercept="free").fit(X, Y))
    np.testing.assert_array_equal(found[0].coef_, found[1].coef_)
    np.testing.assert_array_equal(found[0].history_["loo_errors"], found[1].history_["loo_errors"])


@pytest.mark.parametrize("ridge", [0.0, 0.3])
def test_the_iteration_agrees_with_the_decomposition(ridge, monkeypatch):
    """Sparse data too large to decompose are solved to the same weights iteratively; "cv" and "evidence" say what they need."""
    X, Y = problem(30, 12)
    rows = sparse.csr_array(np.where(X > 1.0, X, 0.0))
    exact = LinearRegression(ridge=ridge, intercept="free").fit(rows, Y)
    monkeypatch.setattr(solver, "SQUARE", 5)
    model = LinearRegression(ridge=ridge, intercept="free").fit(rows, Y)
    np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.alpha_ @ (rows.toarray() - rows.mean(axis=0)), exact.coef_, rtol=1e-6, atol=1e-8)
    assert np.isnan(model.standard_errors_).all()
    assert "Not decomposed" in model.outcome_.sentence
    assert model.certificate_.verify(rows, Y)
    with pytest.raises(InputError, match="Give a number"):
        LinearRegression(ridge="cv").fit(rows, Y)


def test_the_outcome_says_what_the_data_leave_open():
    """Few rows, collinear or constant columns: the rank is in the outcome, errors of undetermined weights are NaN."""
    X, Y = problem(30, 4, m=1)
    y = Y[:, 0]
    twice = LinearRegression(intercept="none").fit(np.column_stack([X, X[:, 0]]), y)
    assert "rank 4 of 5 inputs" in twice.outcome_.sentence
    assert np.isnan(twice.standard_errors_[[0, 4]]).all()
    assert np.isfinite(twice.standard_errors_[1:4]).all()
    few = LinearRegression().fit(X[:3], y[:3])
    assert "Infinitely many weights fit exactly" in few.outcome_.sentence
    assert "No degrees of freedom" in few.outcome_.sentence
    assert np.isnan(few.standard_errors_).all()
    flat = LinearRegression(intercept="free").fit(np.column_stack([X, np.full(30, 7.0)]), y)
    assert flat.coef_[4] == 0.0
    assert "rank 4 of 5" in flat.outcome_.sentence


def test_the_outcome_says_how_the_ridge_was_chosen():
    """A best λ at the grid's edge, an evidence without a maximum: both are said, with what to do."""
    X, Y = problem(30, 4, m=1)
    edge = LinearRegression(ridge="cv", ridges=[1e3, 1e4]).fit(X, Y[:, 0])
    assert "smallest of the 2 tried" in edge.outcome_.sentence
    assert "reach lower" in edge.outcome_.remedy
    noise = np.where(np.arange(30) % 2, 1.0, -1.0)
    nothing = LinearRegression(ridge="evidence", intercept="none").fit(np.repeat(np.eye(15), 2, axis=0), noise)
    assert "no linear effect" in nothing.outcome_.sentence
    exact = LinearRegression(ridge="evidence", intercept="none").fit(np.eye(5)[:3], np.array([1.0, 2.0, 3.0]))
    assert exact.certificate_.verify(np.eye(5)[:3], np.array([1.0, 2.0, 3.0]))


BAD = {
    "ridge": ({"ridge": -1.0}, "'ridge' parameter"),
    "word": ({"ridge": "best"}, "'evidence' or 'cv'"),
    "ridges": ({"ridge": "cv", "ridges": [0.0, 1.0]}, "'ridges' parameter"),
    "ridges of words": ({"ridge": "cv", "ridges": ["a"]}, "'ridges' parameter"),
    "intercept": ({"intercept": "fixed"}, "'intercept' parameter"),
    "scaling": ({"intercept_scaling": 0.0}, "'intercept_scaling' parameter"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parameters_are_refused(case):
    """Each message names the parameter."""
    parameters, text = BAD[case]
    with pytest.raises(InputError, match=text):
        LinearRegression(**parameters).fit(np.eye(3), np.arange(3.0))


def test_bad_data_are_refused():
    """NaN and huge values in examples and targets are refused, and a fitted model stays as it was."""
    X, y = np.eye(3), np.arange(3.0)
    model = LinearRegression().fit(X, y)
    before = model.coef_.copy()
    for bad_X, bad_y in ((X * np.nan, y), (X, y * np.nan), (X * 1e100, y), (X, y * 1e150)):
        with pytest.raises(ValueError, match=r"NaN|large|beyond"):
            model.fit(bad_X, bad_y)
    np.testing.assert_array_equal(model.coef_, before)


def test_zeros_are_fitted_by_zeros():
    """Zero targets and zero examples are fitted by zero weights, with a certificate."""
    zero = ridge_regression(Design(np.zeros((4, 2)), np.ones(4), 0.0, np.zeros(2)), np.zeros((4, 1)), 0.0)
    np.testing.assert_array_equal(zero.W, 0.0)
    model = LinearRegression(ridge="evidence").fit(np.zeros((4, 2)), np.zeros(4))
    assert model.certificate_.verify(np.zeros((4, 2)), np.zeros(4))


STRENGTHS = {"free": (8, 8, 1e2, "free"), "clamped": (40, 5, 1e4, "clamped"), "few": (6, 20, 1e4, "free")}


@pytest.mark.parametrize("name", STRENGTHS)
@pytest.mark.parametrize("ridge", [0.0, 1e-14])
def test_strengths_hold_the_weights_of_ill_conditioned_data(name, ridge):
    """Far from the origin, with next to no λ, the strengths still add up to the weights, dense and sparse."""
    n, d, offset, intercept = STRENGTHS[name]
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, d)) + offset
    y = X[:, 0] + rng.standard_normal(n)
    rows = X - X.mean(axis=0) if intercept == "free" else np.column_stack([X, np.ones(n)])
    for stored in (np.asarray, sparse.csr_array):
        model = LinearRegression(ridge=ridge, intercept=intercept).fit(stored(X), y)
        w = model.coef_ if intercept == "free" else np.append(model.coef_, model.intercept_)
        np.testing.assert_allclose(rows.T @ model.alpha_, w, atol=1e-6 * np.abs(w).max())


def test_a_wide_design_is_not_squared():
    """8 rows of 8 inputs of condition 1e7, and a clamped one: the residuals are those of lstsq, not of its square."""
    rng = np.random.default_rng(3)
    turn = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    X, y = rng.standard_normal((8, 8)) * np.geomspace(1.0, 1e-7, 8) @ turn, rng.standard_normal(8)
    model = LinearRegression().fit(X, y)
    assert np.abs(model.predict(X) - y).max() < 1e-9
    assert model.certificate_.backward_error < 1e-12


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_far_from_the_origin_few_rows_are_fitted_exactly(stored):
    """6 rows of 20 inputs about 1e4 with a free constant: rank 5, and the targets are reproduced as the outcome says."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((6, 20)) + 1e4, rng.standard_normal(6)
    model = LinearRegression(intercept="free").fit(stored(X), y)
    assert model.rank_ == 5
    assert "fit exactly" in model.outcome_.sentence
    assert np.abs(model.predict(X) - y).max() < 1e-10


def test_weights_that_few_weighted_rows_determine_have_errors():
    """A zero column leaves the others determined: weighted rows say so as repeated ones do."""
    X, Y = problem(4, 4, m=1)
    X[:, 0] = 0.0
    s = np.array([2.0, 1.0, 3.0, 1.0])
    weighted = LinearRegression().fit(X, Y[:, 0], sample_weight=s)
    repeated = LinearRegression().fit(np.repeat(X, s.astype(int), axis=0), np.repeat(Y[:, 0], s.astype(int)))
    assert np.isnan(weighted.standard_errors_[0])
    np.testing.assert_array_equal(np.isnan(weighted.standard_errors_), np.isnan(repeated.standard_errors_))


@pytest.mark.parametrize("scaled", [(1e-100, 1.0), (1.0, 1e-130)], ids=["examples", "targets"])
def test_vanishing_data_are_refused(scaled):
    """Examples or targets whose squares underflow are refused with what to do."""
    X, Y = problem(6, 2, m=1)
    with pytest.raises(InputError, match="Scale the"):
        LinearRegression().fit(scaled[0] * X, scaled[1] * Y[:, 0])


def test_the_constant_is_free_unless_it_is_asked_to_be_clamped():
    """As in scikit-learn, λ does not price the constant: far targets cost a ridge nothing, in fits, paths and posteriors."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    y = 100.0 + 0.1 * X[:, 0] + rng.standard_normal(40)
    model, peer = LinearRegression(ridge=100.0).fit(X, y), Ridge(100.0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), rtol=1e-10)
    assert model.score(X, y) == pytest.approx(peer.score(X, y), abs=1e-10)
    assert LinearRegression(ridge=100.0, intercept="clamped").fit(X, y).score(X, y) < -100.0
    np.testing.assert_allclose(ridge_path(X, y, [100.0]).intercepts, peer.intercept_, rtol=1e-10)
    belief = BayesianRegression(prior_precision=100.0, noise_precision=1.0).fit(X, y)
    np.testing.assert_allclose(belief.predict(X), peer.predict(X), rtol=1e-10)


@pytest.mark.parametrize("ridge", [0.0, 1e-9, 2.0])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_few_rows_about_their_mean_need_no_decomposition(ridge, stored):
    """Their square vanishes in one known direction; without it Cholesky finds the smallest weights, and the rank is right."""
    X, Y = problem(20, 60)
    s = np.linspace(1.0, 2.0, 20)
    model = LinearRegression(ridge=ridge).fit(stored(X), Y, sample_weight=s)
    centre, root = s @ X / s.sum(), np.sqrt(s)[:, None]
    A, b = root * (X - centre), root * (Y - s @ Y / s.sum())
    U, singular, Vt = (part[..., :19] if k < 2 else part[:19] for k, part in enumerate(np.linalg.svd(A, full_matrices=False)))
    exact = (Vt.T * singular / (singular**2 + ridge)) @ (U.T @ b)
    np.testing.assert_allclose(model.coef_.T, exact, rtol=1e-8, atol=1e-10)
    assert "Cholesky" in model.outcome_.sentence
    assert model.rank_ == 19
    np.testing.assert_allclose(model.degrees_of_freedom_, s.sum() - 1 - (singular**2 / (singular**2 + ridge)).sum(), rtol=1e-9)
    assert model.verify(stored(X), Y)


def test_large_sparse_rows_are_never_made_dense(monkeypatch):
    """Repeated rows, which no factor of their square is trusted with, are fitted by iterating, without a dense copy."""
    rows = sparse.random_array((300, 4000), density=0.01, format="csr", rng=0)
    X, y = sparse.vstack([rows, rows], format="csr"), np.sin(np.arange(600.0))
    monkeypatch.setattr("halfspace.solvers.regression.spectrum.SPARSE_WORK", 1e8)
    monkeypatch.setattr(Design, "block", lambda *_: pytest.fail("a dense block"))
    model = LinearRegression().fit(X, y)
    assert "conjugate gradients" in model.outcome_.sentence
    np.testing.assert_allclose(model.predict(rows), 0.5 * (y[:300] + y[300:]), atol=1e-6)
    assert model.verify(X, y)


@pytest.mark.parametrize("ridge", [0.0, 1.0, "cv", "evidence"])
def test_in_no_time_there_are_weights_with_a_proof(ridge):
    """Without time for a factor the weights of some steps are kept, λ is chosen on a sample, and the outcome says so."""
    X, Y = problem(400, 900, m=1)
    model = LinearRegression(ridge=ridge, max_time=1e-3).fit(X, Y[:, 0])
    assert "conjugate gradients" in model.outcome_.sentence
    assert ("sample of 50 rows" in model.outcome_.sentence) == isinstance(ridge, str)
    assert model.verify(X, Y[:, 0])


def test_standard_errors_are_made_when_asked_for():
    """They are those of the fit, in copies too; examples changed in place since then are refused, not used."""
    X, Y = problem(12, 30, m=1)
    y, copy = Y[:, 0], X.copy()
    model = LinearRegression(ridge=1.0).fit(X, y)
    assert "standard_errors_" not in vars(model)
    inverse = np.linalg.inv((X - X.mean(axis=0)).T @ (X - X.mean(axis=0)) + np.eye(30))
    errors = np.sqrt(model.noise_variance_ * np.diag(inverse))
    np.testing.assert_allclose(deepcopy(model).standard_errors_, errors, rtol=1e-8)
    model.fit(X, y)
    X *= 2.0
    with pytest.raises(InputError, match="changed in place"):
        _ = model.standard_errors_
    X[:] = copy
    np.testing.assert_allclose(model.standard_errors_, errors, rtol=1e-8)


def test_constant_columns_cost_no_decomposition():
    """Columns without variance get weight 0 and no standard error, and the others are as without them, by Cholesky."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5)), rng.standard_normal(60)
    X[:, [1, 4]] = 0.0, 3.0
    model, others = LinearRegression().fit(X, y), LinearRegression().fit(X[:, [0, 2, 3]], y)
    assert "Cholesky" in model.outcome_.sentence
    assert "rank 3 of 5" in model.outcome_.sentence
    assert model.rank_ == 3
    assert model.certificate_.verify(X, y)
    np.testing.assert_allclose(model.coef_, np.insert(others.coef_, [1, 3], 0.0), atol=1e-13)
    np.testing.assert_allclose(model.standard_errors_, np.insert(others.standard_errors_, [1, 3], np.nan), rtol=1e-10)
    assert model.degrees_of_freedom_ == others.degrees_of_freedom_ == 56


def test_a_fit_of_many_rows_lets_go_of_them():
    """Standard errors of a tall table are made when asked for, without its examples."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y, held = X[:, 0] + rng.standard_normal(60), weakref.ref(X)
    model = LinearRegression().fit(X, y)
    known = LinearRegression().fit(X, y).standard_errors_
    del X
    gc.collect()
    assert held() is None
    np.testing.assert_array_equal(model.standard_errors_, known)
