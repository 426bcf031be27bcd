"""Caps and widths of kernel AdaTrons chosen by cross-validation."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import scale

import halfspace as hs
from halfspace.errors import GapWarning, InputError
from halfspace.kernels import RBF, Linear
from halfspace.solvers.kernel.grid import WidthMatrices
from halfspace.solvers.kernel.grid_search import GridPlan, GridRun, search_grid

CS, GAMMAS = [0.3, 3.0, 30.0], [0.1, 1.0]


def rings(n=48, noise=0.3, seed=0):
    """Two rings, one inside the other, blurred so that some points lie on the wrong side."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    X = (1.0 + y)[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return X + noise * rng.standard_normal((n, 2)), y


def splits(count=3):
    return StratifiedKFold(count, shuffle=True, random_state=1)


# ---------------------------------------------------------------- the same machines as one by one
@pytest.mark.parametrize("intercept", ["clamped", "free", "none"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_the_grid_is_the_fits_one_by_one(kernel, intercept):
    """Every point has, in every fold, the score of a separate fit; at a tight gap nothing else is possible.

    But for a free bias where every strength is 0 or at the cap: then the best biases are an interval, and any of them will do.
    """
    X, y = rings(36)
    cv = splits(2)
    model = hs.KernelAdaTronCV(kernel, Cs=CS, gammas=GAMMAS, cv=cv, intercept=intercept, cv_tol=1e-6, full_grid=True).fit(X, y)
    results, compared = model.cv_results_, 0
    for point, params in enumerate(results["params"]):
        for fold, (train, test) in enumerate(cv.split(X, y)):
            alone = hs.KernelAdaTron(kernel, **params, intercept=intercept, tol=1e-6).fit(X[train], y[train])
            settled = intercept != "free" or ((alone.alpha_ > 0) & (alone.alpha_ < params["C"])).any()
            if settled:
                assert results[f"split{fold}_test_score"][point] == pytest.approx(alone.score(X[test], y[test]))
            compared += settled
    assert compared >= 8
    assert (results["mean_gap"] <= 1e-6).all()


@pytest.mark.parametrize("free", [False, True])
def test_outputs_of_those_held_out_are_those_of_a_separate_fit(free):
    """Outputs differ by no more than the gaps allow: |f - f'| <= sqrt(2 gap k(x, x)) on either side, without a free bias."""
    X, y = rings()
    train, test = next(splits().split(X, y))
    sign, c, cap = np.where(y == 1, 1.0, -1.0), np.zeros(y.size), 3.0
    c[train] = 1.0
    seen = {}

    def score(width, cap, _fold, machines):
        seen[width, cap] = machines.outputs(test)[:, 0]
        return 1.0

    run = GridRun(WidthMatrices([RBF(1.0)], X, 0.0), np.array([0.5, cap]), [(sign[None], c[None])], score, GridPlan(1e-8, free))
    search_grid(run, 1)
    model = hs.KernelAdaTron(C=cap, gamma=1.0, intercept="free" if free else "none", tol=1e-8).fit(X[train], y[train])
    other = model.decision_function(X[test])
    gap = model.certificate_.primal - model.certificate_.dual + run.gaps[0, 1, 0] * model.certificate_.primal
    allowed = 2.0 * np.sqrt(2.0 * gap) + 1e-5 if not free else 0.02
    assert np.abs(seen[0, 1] - other).max() <= allowed


@pytest.mark.compiled
def test_scikit_learn_finds_the_same_by_fitting_every_point():
    """GridSearchCV over our own machine chooses a point with the same score."""
    X, y = rings()
    ours = hs.KernelAdaTronCV(Cs=CS, gammas=GAMMAS, cv=splits(), cv_tol=1e-6).fit(X, y)
    theirs = GridSearchCV(hs.KernelAdaTron(tol=1e-6), {"C": CS, "gamma": GAMMAS}, cv=splits()).fit(X, y)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert_array_equal(ours.predict(X), hs.KernelAdaTron(**ours.best_params_).fit(X, y).predict(X))


@pytest.mark.parametrize("multi_class", ["ovr", "ovo"])
def test_three_classes_share_the_matrix(multi_class):
    """Each class against the rest, or each against each, scores as separate fits do."""
    X, y = load_iris(return_X_y=True)
    X, y = scale(X)[::5], np.array(["setosa", "versicolor", "virginica"])[y[::5]]
    cv = splits(2)
    model = hs.KernelAdaTronCV(Cs=[1.0], gammas=[0.1], cv=cv, multi_class=multi_class, cv_tol=1e-6).fit(X, y)
    for fold, (train, test) in enumerate(cv.split(X, y)):
        alone = hs.KernelAdaTron(C=1.0, gamma=0.1, multi_class=multi_class, tol=1e-6).fit(X[train], y[train])
        assert model.cv_results_[f"split{fold}_test_score"][0] == pytest.approx(alone.score(X[test], y[test]))
    assert model.score(X, y) > 0.9
    assert model.certificate_.verify(X, y)


@pytest.mark.compiled
@pytest.mark.parametrize("intercept", ["clamped", "free"])
def test_the_square_of_some_examples_changes_nothing(intercept):
    """Above a thousand examples steps run on a square of some; the gap is reached and the scores are those of separate fits."""
    X, y = rings(1500, noise=0.5)
    cv = splits(2)
    model = hs.KernelAdaTronCV(
        Cs=[1.0, 100.0], gammas=[1.0, 10.0], cv=cv, intercept=intercept, cv_tol=1e-4, full_grid=True
    ).fit(X, y)
    assert (model.cv_results_["mean_gap"] <= 1e-4).all()
    train, test = next(cv.split(X, y))
    for point, params in enumerate(model.cv_results_["params"]):
        alone = hs.KernelAdaTron(**params, intercept=intercept, tol=1e-4).fit(X[train], y[train]).score(X[test], y[test])
        assert model.cv_results_["split0_test_score"][point] == pytest.approx(alone, abs=0.006)


# ---------------------------------------------------------------- what is left out
def test_what_cannot_win_is_left_and_the_choice_stays():
    """Skipped folds belong to points that could not have become best; the point chosen is that of the full grid."""
    X, y = rings(40, noise=0.1)
    settings = {"Cs": [0.001, 1.0, 10.0], "gammas": [1e-4, 1.0, 300.0], "cv": splits(4), "intercept": "none"}
    quick = hs.KernelAdaTronCV(**settings, cv_tol=1e-5).fit(X, y)
    full = hs.KernelAdaTronCV(**settings, cv_tol=1e-5, full_grid=True).fit(X, y)
    results = quick.cv_results_
    left = results["skipped_folds"] > 0
    assert left.any()
    assert not full.cv_results_["skipped_folds"].any()
    assert (results["reachable_score"][left] < quick.best_score_).all()
    assert (full.cv_results_["mean_test_score"][left] < full.best_score_).all()
    assert quick.best_params_ == full.best_params_
    assert_allclose(results["mean_test_score"][~left], full.cv_results_["mean_test_score"][~left])
    assert results["rank_test_score"][quick.best_index_] == 1


def test_a_machine_that_nobody_caps_is_not_solved_again():
    """Separated rings: from some cap on no strength grows, and larger caps cost next to nothing."""
    X, y = rings(40, noise=0.01)
    model = hs.KernelAdaTronCV(Cs=[100.0, 200.0, 400.0], gammas=[1.0], cv=2, cv_tol=1e-3, full_grid=True).fit(X, y)
    steps = model.cv_results_["steps"]
    assert steps[0] > 200
    assert steps[1:].max() <= 0.25 * steps[0]


# ---------------------------------------------------------------- the choice
def test_one_standard_error_takes_the_smallest_cap_that_is_as_good():
    """The cap is never larger, and its score within one standard error of the best."""
    X, y = rings(40, noise=0.4)
    best = hs.KernelAdaTronCV(Cs=CS, gammas=GAMMAS, full_grid=True).fit(X, y)
    simple = hs.KernelAdaTronCV(Cs=CS, gammas=GAMMAS, one_standard_error=True).fit(X, y)
    assert simple.best_params_["C"] <= best.best_params_["C"]
    scores = np.array([best.cv_results_[f"split{fold}_test_score"][best.best_index_] for fold in range(5)])
    assert simple.best_score_ >= best.best_score_ - scores.std(ddof=1) / np.sqrt(5)
    assert not simple.cv_results_["skipped_folds"].any()


def test_threads_do_not_change_the_choice():
    """One thread or two: the same scores and the same machine, bit for bit."""
    X, y = rings(30)
    one, two = (hs.KernelAdaTronCV(Cs=CS, gammas=[0.1, 0.3, 1.0, 3.0], cv=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    for name, column in one.cv_results_.items():
        assert_array_equal(column, two.cv_results_[name])
    assert_array_equal(one.alpha_, two.alpha_)


def test_the_default_grid_follows_the_data():
    """Ten gammas around the median heuristic: rows ten times as long have gammas a hundred times as small."""
    X, y = rings(24)
    small, large = (hs.KernelAdaTronCV(Cs=[1.0], cv=2).fit(factor * X, y) for factor in (1.0, 10.0))
    gammas = np.unique(small.cv_results_["param_gamma"])
    assert gammas.size == 10
    middle = RBF("median").resolved(X).gamma
    assert gammas[0] < middle < gammas[-1]
    assert_allclose(np.unique(large.cv_results_["param_gamma"]), gammas / 100.0)


def test_kernels_with_and_without_gamma():
    """A kernel without gamma has caps only; a value keeps its number; gammas reach into a sum."""
    X, y = rings(24)
    plain = hs.KernelAdaTronCV("linear", Cs=[0.1, 1.0], cv=2).fit(X, y)
    assert set(plain.best_params_) == {"C"}
    fixed = hs.KernelAdaTronCV(RBF(0.25), Cs=[1.0], cv=2).fit(X, y)
    assert fixed.best_params_ == {"C": 1.0, "gamma": 0.25}
    inner = hs.KernelAdaTronCV(RBF(1.0) + Linear(), Cs=[1.0], gammas=[0.5, 2.0], cv=2).fit(X, y)
    assert inner.best_params_["gamma"] in {0.5, 2.0}
    assert str(inner.kernel_).count("exp") == 1
    poly = hs.KernelAdaTronCV("poly", degree=2, coef0=1.0, Cs=[1.0], cv=2).fit(X, y)
    assert np.unique(poly.cv_results_["param_gamma"]).size == 10


def test_a_precomputed_matrix_and_sparse_rows():
    """A given matrix and CSR rows choose what dense rows choose."""
    X, y = rings(30)
    dense = hs.KernelAdaTronCV(Cs=CS, gammas=[1.0], cv=splits(), cv_tol=1e-5).fit(X, y)
    thin = hs.KernelAdaTronCV(Cs=CS, gammas=[1.0], cv=splits(), cv_tol=1e-5).fit(sparse.csr_array(X), y)
    given = hs.KernelAdaTronCV("precomputed", Cs=CS, cv=splits(), cv_tol=1e-5).fit(RBF(1.0).exact(X), y)
    for other in (thin, given):
        assert_allclose(other.cv_results_["mean_test_score"], dense.cv_results_["mean_test_score"])
    assert_array_equal(given.predict(RBF(1.0).exact(X)), dense.predict(X))


def test_example_weights_multiply_the_caps():
    """A weight of 0 leaves an example out of every training part."""
    X, y = rings(40)
    weight = np.ones(40)
    weight[:10] = 0.0
    cv = splits(2)
    model = hs.KernelAdaTronCV(Cs=[3.0], gammas=[1.0], cv=cv, cv_tol=1e-6).fit(X, y, sample_weight=weight)
    for fold, (train, test) in enumerate(cv.split(X, y)):
        kept = train[weight[train] > 0]
        alone = hs.KernelAdaTron(C=3.0, gamma=1.0, tol=1e-6).fit(X[kept], y[kept])
        assert model.cv_results_[f"split{fold}_test_score"][0] == pytest.approx(alone.score(X[test], y[test]))
    assert not model.alpha_[:10].any()


def test_everything_of_the_machine_is_there():
    """The chosen machine's attributes are this model's, and its certificate holds."""
    X, y = rings(36)
    model = hs.KernelAdaTronCV(Cs=CS, gammas=GAMMAS, cv=2).fit(X, y)
    assert model.certificate_.verify(X, y)
    assert model.certificate_.relative_gap <= model.tol
    assert model.outcome_.converged
    assert model.support_.size == model.support_vectors_.shape[0] == model.dual_coef_.shape[1] == len(model.support_table())
    assert_allclose(
        model.decision_function(X),
        RBF(model.best_params_["gamma"])(X, model.support_vectors_) @ model.dual_coef_[0] + model.intercept_,
    )
    assert model.n_iter_ >= 1
    assert model.classes_.tolist() == [0, 1]


# ---------------------------------------------------------------- budgets and bad input
def test_a_spent_time_budget_keeps_the_best_so_far():
    """The search ends, a machine is there with its certificate, and the outcome says why."""
    X, y = rings()
    with pytest.warns(GapWarning, match="time budget spent"):
        model = hs.KernelAdaTronCV(Cs=CS, gammas=GAMMAS, max_time=1e-6).fit(X, y)
    assert model.outcome_.reason == "time budget spent"
    assert "of 6 points" in model.outcome_.sentence
    assert model.certificate_.verify(X, y)
    assert model.predict(X).shape == y.shape


def test_progress_tells_the_time_left(capsys):
    """With verbose=2 every cap of every width is a line with the time left."""
    X, y = rings(24)
    hs.KernelAdaTronCV(Cs=[0.1, 1.0], gammas=[0.5, 1.0], cv=2, verbose=2).fit(X, y)
    told = capsys.readouterr().err
    assert told.count("s left") == 4
    assert "[KernelAdaTronCV] 100 % of the grid done" in told


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"Cs": []}, "Cs"),
        ({"Cs": [1.0, np.inf]}, "Cs"),
        ({"Cs": ["a"]}, "Cs"),
        ({"gammas": [0.0]}, "gammas"),
        ({"gammas": "scale"}, "gammas"),
        ({"gammas": []}, "gammas"),
        ({"kernel": "linear", "gammas": [1.0]}, "gammas"),
        ({"cv": 1}, "cv|folds|splits"),
        ({"cv": 1000}, "cv"),
        ({"cv_tol": 2.0}, "cv_tol"),
        ({"cv_tol": 0.0}, "cv_tol"),
        ({"tol": -1.0}, "tol"),
        ({"one_standard_error": 2}, "one_standard_error"),
        ({"full_grid": "yes"}, "full_grid"),
        ({"cache_size": 1e-3}, "cache_size"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"kernel": "sigmoid", "gammas": [3.0], "coef0": -1.0}, "positive semi-definite"),
    ],
)
def test_unusable_settings_are_refused(settings, word):
    """Parameters that make no sense are named, and nothing is learnt."""
    model = hs.KernelAdaTronCV(**settings)
    with pytest.raises(ValueError, match=word):
        model.fit(*rings())
    assert not hasattr(model, "estimator_")


def test_a_fold_without_a_class_is_refused():
    """Each training part needs examples of both sides."""
    X, y = rings(20)
    ones, zeros = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
    with pytest.raises(InputError, match="fold"):
        hs.KernelAdaTronCV(cv=[(ones, zeros)]).fit(X, y)
