"""The regularisation path, the choice of C, margin brackets and bounds from support vectors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

import halfspace as hs
from halfspace.certificates import MarginBracket, SupportBounds
from halfspace.errors import CertificateError, InputError


def clouds(n=60, d=3, distance=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return rng.standard_normal((n, d)) + distance * np.where(y == 1, 1.0, -1.0)[:, None], y


# ---------------------------------------------------------------- the path
@pytest.mark.parametrize("intercept", ["clamped", "free", "none"])
def test_a_path_is_the_fits_one_by_one(intercept):
    """Every model of a path is the plane of its cap, in the order asked for, and proved."""
    X, y = clouds(distance=0.7)
    Cs = [1.0, 0.01, 10.0]
    path = hs.adatron_path(X, y, Cs, intercept=intercept, tol=1e-9)
    assert_array_equal(path.Cs, Cs)
    for C, model, proof in zip(Cs, path, path.certificates, strict=True):
        alone = hs.AdaTron(C=C, intercept=intercept, tol=1e-9).fit(X, y)
        assert_allclose(model.coef_, alone.coef_, atol=2e-4)
        assert proof.verify(X, y)
        assert proof.relative_gap <= 1e-9
    assert path.coefs.shape == (3, 1, 3)
    assert path.intercepts.shape == (3, 1)
    assert len(path) == 3


def test_support_shrinks_as_the_cap_grows():
    """With a tiny cap everybody is a support vector; with a large one few are."""
    X, y = clouds(distance=1.0)
    support = hs.adatron_path(X, y, [1e-4, 0.1, 10.0]).n_support
    assert support[0] == 60
    assert support[0] > support[1] > support[2]


def test_a_path_ends_at_the_hard_margin():
    """C = inf is a cap like any other, and a large cap comes near it."""
    X, y = clouds(distance=4.0)
    path = hs.adatron_path(X, y, [1e4, np.inf], tol=1e-8)
    assert_allclose(path.coefs[0], path.coefs[1], atol=1e-3)


def test_a_path_of_three_classes_and_sparse_rows():
    """Several classes and CSR matrices give the same path as the dense array."""
    X, y = load_iris(return_X_y=True)
    dense = hs.adatron_path(X, y, [0.1, 1.0], tol=1e-8)
    thin = hs.adatron_path(sparse.csr_array(X), y, [0.1, 1.0], tol=1e-8)
    assert_allclose(dense.coefs, thin.coefs, atol=1e-3)
    assert dense.coefs.shape == (2, 3, 4)


@pytest.mark.parametrize("Cs", [[], [0.0], [-1.0], [np.nan], ["a"], [[1.0]], None, 1.0])
def test_caps_that_are_none_are_refused(Cs):
    """Caps must be a list of positive numbers."""
    X, y = clouds()
    with pytest.raises(InputError, match="Cs"):
        hs.adatron_path(X, y, Cs)
    with pytest.raises(InputError, match="Cs"):
        hs.AdaTronCV(Cs=Cs).fit(X, y)


# ---------------------------------------------------------------- the choice of C
def test_the_cap_with_the_best_score_is_chosen():
    """C_ has the best mean score; scores are those of separate fits on the same folds."""
    X, y = clouds(120, distance=0.5)
    splitter = StratifiedKFold(4, shuffle=True, random_state=1)
    model = hs.AdaTronCV(Cs=[0.001, 0.1, 10.0], cv=splitter, tol=1e-9).fit(X, y)
    for m, C in enumerate(model.Cs):
        for fold, (train, test) in enumerate(splitter.split(X, y)):
            alone = hs.AdaTron(C=C, tol=1e-9).fit(X[train], y[train]).score(X[test], y[test])
            assert model.scores_[m, fold] == pytest.approx(alone)
    assert model.mean_scores_[list(model.Cs).index(model.C_)] == model.mean_scores_.max()
    assert model.certificate_.verify(X, y)
    assert_array_equal(model.predict(X), hs.AdaTron(C=model.C_).fit(X, y).predict(X))


def test_one_standard_error_takes_the_simplest_model_that_is_as_good():
    """With the option the cap is smaller where it may be, and its score is within one standard error of the best."""
    X, y = clouds(60, distance=0.7)
    best = hs.AdaTronCV(Cs=[1e-3, 1e-2, 0.1, 1.0]).fit(X, y)
    simple = hs.AdaTronCV(Cs=[1e-3, 1e-2, 0.1, 1.0], one_standard_error=True).fit(X, y)
    assert simple.C_ < best.C_
    assert_array_equal(simple.scores_, best.scores_)
    top = best.mean_scores_.argmax()
    chosen = simple.mean_scores_[list(simple.Cs).index(simple.C_)]
    assert chosen >= best.mean_scores_[top] - best.standard_errors_[top]


def test_threads_do_not_change_the_choice():
    """One thread or two: the same scores, bit for bit."""
    X, y = (part[::3] for part in load_iris(return_X_y=True))
    one, two = (hs.AdaTronCV(Cs=[0.1, 1.0], cv=2, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert_array_equal(one.scores_, two.scores_)
    assert_array_equal(one.coef_, two.coef_)
    assert_array_equal(one.support_, two.support_)


@pytest.mark.parametrize("settings", [{"cv": 1}, {"cv": 1000}, {"one_standard_error": 2}, {"tol": -1.0}, {"n_jobs": 0}])
def test_unusable_settings_are_refused(settings):
    """Parameters that make no sense are named."""
    X, y = clouds()
    with pytest.raises(ValueError, match=next(iter(settings)) if "cv" not in settings else "cv|folds|splits"):
        hs.AdaTronCV(**settings).fit(X, y)


def test_another_score_can_be_asked_for():
    """A scorer of scikit-learn decides if one is named."""
    X, y = clouds(80, distance=0.5)
    assert hs.AdaTronCV(Cs=[0.1, 1.0], scoring="roc_auc").fit(X, y).scores_.shape == (2, 5)


# ---------------------------------------------------------------- margin brackets
@pytest.mark.parametrize("intercept", ["free", "clamped", "none"])
def test_the_bracket_encloses_the_hard_margin(intercept):
    """Both sides meet at 1/‖w‖ of the hard margin, and the bracket is confirmed and survives JSON."""
    X, y = clouds(distance=4.0)
    bracket = hs.margin_bracket(X, y, intercept=intercept, tol=1e-6)
    model = hs.AdaTron(C=np.inf, intercept=intercept, tol=1e-9).fit(X, y)
    kappa = 1.0 / np.linalg.norm(np.append(model.coef_, model.intercept_) if intercept == "clamped" else model.coef_)
    assert bracket.lower <= kappa * (1 + 1e-6)
    assert kappa <= bracket.upper * (1 + 1e-6)
    assert bracket.upper - bracket.lower <= 2e-6 * bracket.upper
    assert bracket.verify(X, y)
    assert hs.certificates.from_json(bracket.to_json()).verify(X, y)
    assert bracket.free == (intercept == "free")


def test_a_free_bias_never_has_the_smaller_margin():
    """Planes through the origin are planes too."""
    X, y = clouds(distance=3.0)
    X += 1.0
    assert hs.margin_bracket(X, y).upper >= hs.margin_bracket(X, y, intercept="none").lower


def test_inseparable_data_have_no_positive_margin():
    """On XOR the lower side is not positive and the upper side vanishes."""
    X, y, *_ = hs.data.xor()
    bracket = hs.margin_bracket(X, y)
    assert bracket.lower <= 0.0
    assert bracket.upper <= 1e-9
    assert bracket.verify(X, y)


@pytest.mark.parametrize("change", [{"bias": 0.5}, {"free": False}, {"lower": 9.0}, {"upper": 0.5}, {"bias": np.nan}])
def test_a_false_bracket_with_a_free_bias_is_refused(change):
    """A bias that is not the plane's, a flag that is not true and sides that do not hold are refused."""
    X, y = clouds(distance=4.0)
    X += np.array([1.0, 2.0, -3.0])
    bracket = hs.margin_bracket(X, y)
    assert bracket.verify(X, y)
    false = MarginBracket(**{**vars(bracket), **change})
    assert not false.verify(X, y)


@pytest.mark.parametrize("settings", [{"tol": 0.0}, {"tol": 2.0}, {"tol": "a"}, {"intercept": "both"}, {"max_time": -1.0}])
def test_unusable_questions_are_refused(settings):
    """Parameters of margin_bracket that make no sense are named."""
    with pytest.raises(InputError, match=next(iter(settings))):
        hs.margin_bracket(*clouds(), **settings)


def test_three_classes_are_not_two():
    """The margin is a question about two classes."""
    with pytest.raises(InputError, match="two classes"):
        hs.margin_bracket(*load_iris(return_X_y=True))


# ---------------------------------------------------------------- what support vectors say
def test_the_leave_one_out_bound_holds():
    """Leaving out one example after the other errs at most as often as the bound says."""
    X, y = clouds(40, distance=0.8)
    model = hs.AdaTron(C=0.1, tol=1e-10).fit(X, y)
    bounds = SupportBounds.measure(X, y, model.certificate_)
    errors = 0
    for i in range(y.size):
        rest = np.arange(y.size) != i
        errors += int(hs.AdaTron(C=0.1, tol=1e-10).fit(X[rest], y[rest]).predict(X[i : i + 1])[0] != y[i])
    assert errors / y.size <= bounds.leave_one_out
    assert bounds.support >= model.support_.size - 1
    assert bounds.verify(X, y)
    assert hs.certificates.from_json(bounds.to_json()).verify(X, y)


@pytest.mark.parametrize(
    "change",
    [
        {"support": 1},
        {"support": 60},
        {"examples": 61},
        {"leave_one_out": 0.0},
        {"compression": 0.01},
        {"delta": 0.5},
        {"delta": 2.0},
    ],
)
def test_false_bounds_are_refused(change):
    """A count or a bound that does not follow from the data is refused."""
    X, y = clouds()
    bounds = SupportBounds.measure(X, y, hs.AdaTron(C=0.1, tol=1e-6).fit(X, y).certificate_)
    assert bounds.verify(X, y)
    assert not SupportBounds(**{**vars(bounds), **change}).verify(X, y)


def test_bounds_need_a_plain_gap_and_a_probability():
    """A free bias, example weights and impossible probabilities are refused with the reason."""
    X, y = clouds()
    free = hs.AdaTron(intercept="free").fit(X, y).certificate_
    with pytest.raises(InputError, match="free bias"):
        SupportBounds.measure(X, y, free)
    with pytest.raises(InputError, match="delta"):
        SupportBounds.measure(X, y, hs.AdaTron().fit(X, y).certificate_, delta=0.0)
    text = SupportBounds.measure(X, y, hs.AdaTron().fit(X, y).certificate_).to_json().replace('"support"', '"props"')
    with pytest.raises(CertificateError):
        hs.certificates.from_json(text)


def test_blas_gets_its_threads_back():
    """A fit leaves the number of BLAS threads as it was, also one whose folds run side by side."""
    from threadpoolctl import threadpool_info

    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    X, y = (part[::3] for part in load_iris(return_X_y=True))
    before = threads()
    hs.AdaTronCV(Cs=[0.1], cv=2, n_jobs=2).fit(X, y)
    hs.AdaTron(n_jobs=2).fit(X, y)
    assert threads() == before
