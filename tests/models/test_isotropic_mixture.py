"""The mixture of isotropic Gaussians: EM climbs, tends to K-means, agrees with scikit-learn, and proves what it says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans as Lloyd
from sklearn.mixture import GaussianMixture

from halfspace import IsotropicMixture
from halfspace.errors import InputError
from halfspace.rows import threads
from halfspace.solvers.prototypes import em, mixture_wide
from halfspace.solvers.prototypes.mixture import Each, Mixture, responsibilities, sums
from halfspace.solvers.run import Budget, run


def clouds(n=90, d=2, seed=0, apart=4.0):
    rng = np.random.default_rng(seed)
    return apart * rng.standard_normal((3, d))[np.arange(n) % 3] + rng.standard_normal((n, d))


WEIGHTS = np.random.default_rng(1).integers(0, 4, 90).astype(float)


# ---------------------------------------------------------------- the climb
@pytest.mark.parametrize("sigma", ["common", "each", 0.7])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("K", [1, 4])
def test_the_likelihood_never_falls(sigma, weights, K):
    """Every step of EM raises the log-likelihood, up to rounding, and the proof holds."""
    X = clouds()
    model = IsotropicMixture(K, sigma=sigma, random_state=0, tol=0.0, max_iter=12).fit(X, sample_weight=weights)
    course = model.history_["log_likelihood"]
    assert course.size == model.n_iter_ + 1
    assert (np.diff(course) >= -1e-10 * np.abs(course).max()).all()
    assert course[-1] == model.log_likelihood_
    assert model.certificate_.verify(X)
    assert_allclose(model.weights_.sum(), 1.0)
    assert_allclose(model.responsibilities(X).sum(axis=1), 1.0)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["unweighted", "weighted"])
def test_a_narrow_mixture_is_k_means(weights):
    """With sigma -> 0 the steps are Lloyd's: same prototypes and cells as K-means from the same start."""
    X = clouds(apart=2.0)
    start = X[[1, 5, 9, 20]]
    model = IsotropicMixture(4, sigma=1e-5, init=start, tol=0.0).fit(X, sample_weight=weights)
    other = Lloyd(4, init=start, n_init=1, tol=0.0).fit(X, sample_weight=weights)
    assert_allclose(model.prototypes_, other.cluster_centers_, rtol=1e-9)
    assert_array_equal(model.predict(X), other.labels_)
    share = np.bincount(other.labels_, weights=weights, minlength=4)
    assert_allclose(model.weights_, share / share.sum(), rtol=1e-9)


def test_each_sigma_agrees_with_scikit_learn():
    """From the same mixture the same number of steps leads to the same mixture as GaussianMixture(spherical)."""
    X = clouds(d=3)
    start = Mixture(np.full(3, 1 / 3), X[:3].copy(), np.full(3, 2.0))
    found = run(em.Climbing(X, np.ones(90), Each(1e-9), -np.inf, 8, lambda: start), Budget(8)).state.best
    other = GaussianMixture(
        3, covariance_type="spherical", reg_covar=0.0, tol=0.0, max_iter=8,
        weights_init=start.weights, means_init=start.centres, precisions_init=start.sigmas**-2,
    )  # fmt: skip
    with pytest.warns(Warning, match="converge"):
        other.fit(X)
    assert_allclose(found.mixture.centres, other.means_, rtol=1e-9)
    assert_allclose(found.mixture.sigmas**2, other.covariances_, rtol=1e-9)
    assert_allclose(found.mixture.weights, other.weights_, rtol=1e-9)
    assert_allclose(found.course[-1], 90 * other.score(X), rtol=1e-12)
    assert_allclose(responsibilities(X, found.mixture)[0], other.predict_proba(X), atol=1e-12)


@pytest.mark.compiled
def test_rows_are_the_same_however_they_are_stored(monkeypatch):
    """Dense, sparse and cut into pieces for threads: the same sums; float32 rows nearly."""
    X = np.where(np.random.default_rng(2).random((300, 5)) < 0.4, clouds(300, 5), 0.0)
    at = Mixture(np.array([0.2, 0.3, 0.5]), X[:3].copy(), np.array([0.5, 1.0, 2.0]))
    s = np.random.default_rng(3).random(300)
    dense, thin = (IsotropicMixture(3, random_state=0, max_iter=5).fit(kind(X)) for kind in (np.asarray, sparse.csr_array))
    assert_allclose(dense.prototypes_, thin.prototypes_, rtol=1e-9)
    whole = sums(X, s, at)
    single = sums(X.astype(np.float32), s, at)
    monkeypatch.setattr(threads, "CHUNK_ENTRIES", 1 << 10)
    cut = sums(X, s, at)
    for a, b, c in zip(whole, cut, single, strict=True):
        assert_allclose(a, b, rtol=1e-12, atol=1e-12)
        assert_allclose(a, c, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("shift", [0.0, 1e8], ids=["near", "far"])
def test_wide_rows_are_summed_by_products_where_these_are_accurate(shift, monkeypatch):
    """Matrix products give the sums of the plain rule; narrow Gaussians and rows far from the mean are left to that rule."""
    X = clouds(90, 40, apart=1.0) + shift
    s = WEIGHTS + 0.5
    at = Mixture(np.array([0.2, 0.3, 0.5]), X[:3].copy(), np.array([2.0, 2.5, 3.0]))
    assert mixture_wide._Products(X, s, at)(0, 90) is not None
    assert mixture_wide._Products(X, s, at._replace(sigmas=np.array([0.01, 1.0, 1.0])))(0, 90) is None
    far = np.vstack([X[:-1], np.full((1, 40), shift + 1e4)])
    assert mixture_wide._Products(far, s, at)(0, 90) is None
    monkeypatch.setattr(mixture_wide, "BLOCK_ENTRIES", 40 * 32)
    for rows_of, atol in ((X, 1e-9), (far, 0.0)):
        for fast, plain in zip(mixture_wide.sums(rows_of, s, at), sums(rows_of, s, at), strict=True):
            assert_allclose(fast, plain, rtol=1e-12, atol=atol)


# ---------------------------------------------------------------- what can go wrong
def test_a_prototype_on_a_single_row_stops_at_the_floor():
    """A lone row far away gets a prototype of its own, whose sigma stops at the floor, and the outcome says so."""
    X = np.vstack([clouds(30), [[500.0, 500.0]]])
    model = IsotropicMixture(2, sigma="each", init=[X[0], X[-1]]).fit(X)
    assert_allclose(model.sigma_[1], 1e-4 * em.spread(X, np.ones(31)))
    assert np.isfinite(model.log_likelihood_)
    assert "floor" in model.outcome_.sentence
    assert "sigma" in model.outcome_.remedy
    assert model.certificate_.verify(X)


@pytest.mark.parametrize("sigma", ["common", "each"])
def test_equal_rows_and_constant_columns_are_no_trouble(sigma):
    """Rows that are all the same, or few different ones, give finite answers that are proved."""
    same, few = np.full((6, 2), 3.0), np.repeat([[0.0, 7.0], [1.0, 7.0]], 5, axis=0)
    for X in (same, few, few * 1e-160):
        model = IsotropicMixture(4, sigma=sigma, random_state=0).fit(X)
        assert np.isfinite(model.prototypes_).all()
        assert np.isfinite(model.score(X))
        assert model.certificate_.verify(X)


def test_a_prototype_without_rows_stays_and_is_reported():
    """A prototype that no row belongs to keeps its place, has weight 0, and is said to be empty."""
    X = clouds(30)
    model = IsotropicMixture(2, sigma=0.1, init=[X.mean(axis=0), [1e4, 1e4]]).fit(X)
    assert model.weights_.tolist() == [1.0, 0.0]
    assert_array_equal(model.prototypes_[1], [1e4, 1e4])
    assert "no rows" in model.outcome_.sentence
    assert model.certificate_.verify(X)
    model.prototypes_[0] += 0.1
    assert not model.certificate_.verify(X)  # model and certificate share one memory


@pytest.mark.compiled
def test_the_origin_does_not_matter():
    """Rows far from the origin give the same mixture, moved."""
    X = clouds()
    near, far = (IsotropicMixture(3, init="farthest", tol=0.0, max_iter=50).fit(X + shift) for shift in (0.0, 2.0**20))
    assert_allclose(far.prototypes_ - 2.0**20, near.prototypes_, atol=1e-7)
    assert_allclose(far.sigma_, near.sigma_, rtol=1e-7)


# ---------------------------------------------------------------- budgets, starts and use
@pytest.mark.compiled
def test_budgets_and_interrupts_keep_the_best_so_far(monkeypatch):
    """Steps, time and Ctrl-C end a fit with a proved mixture and an outcome that says which."""
    X = clouds(apart=1.0)
    short = IsotropicMixture(3, max_iter=2, tol=0.0, random_state=0).fit(X)
    assert (short.outcome_.reason, short.n_iter_) == ("iteration budget spent", 2)
    hasty = IsotropicMixture(3, max_time=1e-9, tol=0.0, n_starts=5, random_state=0).fit(X)
    assert (hasty.outcome_.reason, hasty.n_iter_) == ("time budget spent", 0)
    real, calls = em.sums, []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return real(*args)

    monkeypatch.setattr(em, "sums", interrupted)
    stopped = IsotropicMixture(3, tol=0.0, n_starts=5, random_state=0).fit(X)
    assert stopped.outcome_.reason == "interrupted"
    for model in (short, hasty, stopped):
        assert model.certificate_.verify(X)


@pytest.mark.compiled
def test_warm_start_goes_on():
    """Two fits of ten steps, the second one warm, end where one fit of twenty does."""
    X = clouds(apart=1.5)
    whole = IsotropicMixture(3, max_iter=20, tol=0.0, random_state=0).fit(X)
    halves = IsotropicMixture(3, max_iter=10, tol=0.0, random_state=0, warm_start=True).fit(X).fit(X)
    assert_array_equal(whole.prototypes_, halves.prototypes_)


@pytest.mark.compiled
def test_the_best_of_several_starts_is_kept():
    """More starts never give a smaller likelihood, and the same seed gives the same mixture."""
    X = clouds(apart=2.0)
    one, many, again = (IsotropicMixture(5, n_starts=m, random_state=4).fit(X) for m in (1, 6, 6))
    assert many.log_likelihood_ >= one.log_likelihood_
    assert_array_equal(many.prototypes_, again.prototypes_)
    assert IsotropicMixture(3, init="sample", random_state=0).fit(X).outcome_.converged


@pytest.mark.compiled
def test_densities_criteria_and_samples_belong_together():
    """The density integrates to 1, the criteria count parameters, and drawn rows have the mixture's mean."""
    X = clouds(d=1)
    model = IsotropicMixture(3, sigma="each", random_state=0).fit(X)
    grid = np.linspace(-40.0, 40.0, 4001)[:, None]
    assert_allclose(np.exp(model.score_samples(grid)).sum() * 0.02, 1.0, rtol=1e-9)
    assert_allclose(model.bic(X) - model.aic(X), (np.log(90) - 2.0) * 8)
    assert_allclose(model.score(X) * 90, model.log_likelihood_)
    drawn, source = model.sample(4000, random_state=0)
    assert_allclose(drawn.mean(), model.weights_ @ model.prototypes_[:, 0], atol=0.3)
    assert_array_equal(np.unique(source), [0, 1, 2])
    assert_array_equal(model.fit_predict(X), model.predict(X))


def test_progress_is_told(capsys):
    """With verbose=2 every step has a line on standard error, and the end a sentence."""
    IsotropicMixture(2, verbose=2, max_iter=3, tol=0.0, random_state=0).fit(clouds(20))
    lines = capsys.readouterr().err.splitlines()
    assert "step 1" in lines[0]
    assert "EM steps" in lines[-1]


@pytest.mark.parametrize(
    "parameters",
    [
        {"sigma": "both"}, {"sigma": 0.0}, {"sigma_floor": 0.0}, {"init": "k-means"}, {"init": np.zeros((3, 2))},
        {"tol": -1.0}, {"n_prototypes": 0}, {"n_prototypes": 91}, {"max_iter": 0}, {"max_time": -1.0}, {"n_starts": 0},
    ],
    ids=str,
)  # fmt: skip
def test_bad_parameters_are_refused(parameters):
    """A parameter that cannot be used is refused by name, and nothing is learnt."""
    model = IsotropicMixture(**{"n_prototypes": 2, **parameters})
    with pytest.raises(InputError, match=next(iter(parameters))):
        model.fit(clouds())
    assert not hasattr(model, "prototypes_")
