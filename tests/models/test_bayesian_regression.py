"""Bayesian regression: agreement with scikit-learn, batches, draws, evidence."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.linear_model import BayesianRidge

import halfspace as hs
from halfspace.errors import InputError
from halfspace.models.regression import bayesian_regression
from halfspace.models.regression.bayesian_regression import BayesianRegression
from halfspace.models.regression.linear_regression import LinearRegression


def problem(n=40, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 2.0
    return X, X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n) + 1.0


@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("intercept", ["free", "none"])
def test_the_posterior_is_that_of_bayesian_ridge(intercept, stored):
    """Mean, covariance, precisions, evidence and deviations are BayesianRidge's without hyperpriors."""
    X, y = problem()
    peer = BayesianRidge(
        alpha_1=0,
        alpha_2=0,
        lambda_1=0,
        lambda_2=0,
        tol=1e-14,
        max_iter=10_000,
        compute_score=True,
        fit_intercept=intercept == "free",
    ).fit(X, y)
    model = BayesianRegression(intercept=intercept).fit(stored(X), y)
    np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.covariance_, peer.sigma_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose([model.prior_precision_, model.noise_precision_], [peer.lambda_, peer.alpha_], rtol=1e-8)
    np.testing.assert_allclose(model.log_evidence_, peer.scores_[-1], rtol=1e-8)
    mean, std = model.predict(stored(X), return_std=True)
    peer_mean, peer_std = peer.predict(X, return_std=True)
    np.testing.assert_allclose(mean, peer_mean, rtol=1e-8)
    constant = 1.0 / (40 * model.noise_precision_) if intercept == "free" else 0.0  # which the peer leaves out
    np.testing.assert_allclose(std**2, peer_std**2 + constant, rtol=1e-8)
    assert model.certificate_.verify(X, y)


@pytest.mark.parametrize(
    "given", [{}, {"prior_precision": 2.0}, {"noise_precision": 3.0}, {"prior_precision": 2.0, "noise_precision": 3.0}], ids=str
)
@pytest.mark.parametrize("intercept", ["clamped", "free", "none"])
def test_batches_give_what_all_at_once_gives(given, intercept):
    """The posterior of a batch is the prior of the next: any cut gives the same belief, and the same certificate holds."""
    X, y = problem()
    s = np.random.default_rng(1).integers(1, 4, 40).astype(float)
    whole = BayesianRegression(intercept=intercept, **given).fit(X, y, sample_weight=s)
    parts = BayesianRegression(intercept=intercept, **given)
    for rows in (slice(0, 2), slice(2, 3), slice(3, 30), slice(30, 40)):
        parts.partial_fit(X[rows], y[rows], sample_weight=s[rows])
    for name in ("coef_", "intercept_", "covariance_", "prior_precision_", "noise_precision_", "gamma_", "log_evidence_"):
        np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), rtol=1e-8, atol=1e-11, err_msg=name)
    assert parts.certificate_.verify(X, y)
    assert not parts.certificate_.verify(X[:30], y[:30])


def test_with_given_precisions_the_posterior_follows_its_definition():
    """Σ = (αI + βX̃ᵀX̃)⁻¹ and m = βΣX̃ᵀy, with the clamped input as one more column; so does the evidence."""
    X, y = problem(12, 3)
    A = np.column_stack([X, np.full(12, 0.5)])
    model = BayesianRegression(prior_precision=0.3, noise_precision=2.0, intercept="clamped", intercept_scaling=0.5).fit(X, y)
    S = np.linalg.inv(0.3 * np.eye(4) + 2.0 * A.T @ A)
    m = 2.0 * S @ A.T @ y
    np.testing.assert_allclose(model.covariance_, S, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.append(model.coef_, model.intercept_ / 0.5), m, rtol=1e-9)
    K = A @ A.T / 0.3 + np.eye(12) / 2.0
    direct = -0.5 * (y @ np.linalg.solve(K, y) + np.linalg.slogdet(K)[1] + 12 * np.log(2 * np.pi))
    assert model.log_evidence_ == pytest.approx(direct, rel=1e-10)
    assert model.gamma_ == pytest.approx(4 - 0.3 * np.trace(S))


@pytest.mark.parametrize("given", [{}, {"prior_precision": 2.0}, {"noise_precision": 3.0}], ids=str)
def test_no_other_precision_has_more_evidence(given):
    """Moving a precision that was not given, either way, lowers the evidence."""
    X, y = problem()
    best = BayesianRegression(**given).fit(X, y)
    for name in {"prior_precision", "noise_precision"} - set(given):
        for factor in (0.9, 1.1):
            moved = {"prior_precision": best.prior_precision_, "noise_precision": best.noise_precision_}
            moved[name] *= factor
            assert BayesianRegression(**moved).fit(X, y).log_evidence_ < best.log_evidence_


@pytest.mark.parametrize("intercept", ["clamped", "free"])
def test_draws_have_the_posterior_s_moments(intercept):
    """Weights and constants drawn have its mean and covariance; their predictions have the deviations `predict` tells."""
    X, y = problem()
    model = BayesianRegression(intercept=intercept).fit(X, y)
    coefs, constants = model.sample_posterior(20_000, random_state=0)
    np.testing.assert_allclose(coefs.mean(axis=0), model.coef_, atol=0.01)
    np.testing.assert_allclose(np.cov(coefs.T), model.covariance_[:5, :5], atol=5e-4)
    _, std = model.predict(X[:4], return_std=True)
    drawn = (coefs @ X[:4].T + constants[:, None]).var(axis=0) + 1.0 / model.noise_precision_
    np.testing.assert_allclose(drawn, std**2, rtol=0.02)
    np.testing.assert_array_equal(coefs[:3], model.sample_posterior(20_000, random_state=0)[0][:3])


def test_the_outcome_says_where_there_is_no_maximum():
    """Targets without any effect, or without noise, leave the evidence without a maximum: said, and still certified."""
    noise = np.where(np.arange(30) % 2, 1.0, -1.0)
    rows = np.repeat(np.eye(15), 2, axis=0)
    nothing = BayesianRegression(intercept="none").fit(rows, noise)
    assert "no linear effect" in nothing.outcome_.sentence
    assert nothing.certificate_.verify(rows, noise)
    X, y = np.arange(5.0)[:, None], np.full(5, 3.0)
    constant = BayesianRegression(intercept="free").fit(X, y)
    assert constant.intercept_ == pytest.approx(3.0)
    assert constant.certificate_.verify(X, y)


def test_bad_calls_are_refused():
    """Parameters, numbers of draws, several targets and a changed intercept are refused by name; nothing changes."""
    X, y = problem()
    with pytest.raises(InputError, match="'prior_precision' parameter"):
        BayesianRegression(prior_precision=0.0).fit(X, y)
    with pytest.raises(ValueError, match="1d array"):
        BayesianRegression().fit(X, np.column_stack([y, y]))
    model = BayesianRegression().fit(X, y)
    with pytest.raises(InputError, match="positive integer"):
        model.sample_posterior(0)
    with pytest.raises(InputError, match="Call fit"):
        model.set_params(intercept="clamped").partial_fit(X, y)
    with pytest.raises(InputError, match="covariance of 30,000 weights would need about 43"):
        BayesianRegression().fit(sparse.csr_array((2, 30_000)), np.ones(2))
    assert len(model.summary().splitlines()) == 8


@pytest.mark.parametrize("intercept", ["clamped", "free", "none"])
@pytest.mark.parametrize("seed", [0, 1])
def test_without_noise_the_ratio_is_that_of_linear_regression(intercept, seed):
    """Targets that few rows reproduce: both choose one λ, certified, and say so where the evidence has no maximum."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((6, 20))
    y = X @ rng.standard_normal(20)
    belief = BayesianRegression(intercept=intercept).fit(X, y)
    model = LinearRegression(ridge="evidence", intercept=intercept).fit(X, y)
    assert belief.prior_precision_ / belief.noise_precision_ == pytest.approx(model.ridge_, rel=1e-9)
    np.testing.assert_allclose(belief.coef_, model.coef_, rtol=1e-6, atol=1e-9)
    assert belief.certificate_.verify(X, y)
    endless = belief.prior_precision_ / belief.noise_precision_ < 1e-12
    assert ("no maximum" in belief.outcome_.sentence) == ("as the ridge vanishes" in model.outcome_.sentence) == endless


def test_ill_conditioned_batches_lose_nothing():
    """A design of condition 1e7 in batches gives the covariance of one decomposition: no square of it is taken."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 4)) * np.geomspace(1.0, 1e-7, 4)
    y = rng.standard_normal(20)
    model = BayesianRegression(prior_precision=1e-16, noise_precision=1.0, intercept="none")
    for rows in np.split(np.arange(20), 4):
        model.partial_fit(X[rows], y[rows])
    _, s, Vt = np.linalg.svd(X)
    np.testing.assert_allclose(model.covariance_, Vt.T / (1e-16 + s**2) @ Vt, rtol=1e-6, atol=1e-6)
    assert model.certificate_.verify(X, y)


def test_precisions_beyond_rounding_are_refused():
    """A prior so weak that the posterior is rounding is refused, and what to do is said."""
    X, y = problem()
    with pytest.raises(InputError, match="lost in rounding"):
        BayesianRegression(prior_precision=1e-45, noise_precision=1.0).fit(X[:3], y[:3])


# ------------------------------------------------------------ unknown noise
def by_quadrature(X, y, new, ridge):
    """Return mean, variance and a probability of predictions, the variance of the noise summed over a fine grid."""
    n = len(y)
    Xc, yc, at = X - X.mean(axis=0), y - y.mean(), new - X.mean(axis=0)
    P = Xc.T @ Xc + ridge * np.eye(X.shape[1])
    m = np.linalg.solve(P, Xc.T @ yc)
    least = ((yc - Xc @ m) ** 2).sum() + ridge * m @ m
    log_s2 = np.linspace(-12.0, 14.0, 200_001)  # the prior 1/s2 is flat in the logarithm
    belief = np.exp(-0.5 * (n - 1) * log_s2 - 0.5 * least / np.exp(log_s2))
    belief /= belief.sum()
    mean = y.mean() + at @ m
    spread = np.exp(log_s2) * (1.0 + 1.0 / n + at @ np.linalg.solve(P, at))
    return mean, belief @ spread, lambda x: belief @ stats.norm.cdf((x - mean) / np.sqrt(spread))


def test_unknown_noise_is_integrated_over():
    """Mean, deviation and interval are those of a sum over all variances of the noise."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((8, 2))
    y = X @ [1.0, -2.0] + 0.7 * rng.standard_normal(8)
    model = hs.BayesianRegression(noise="unknown").fit(X, y)
    new = np.array([[0.5, 2.0]])
    mean, variance, chance = by_quadrature(X, y, new[0], model.prior_precision_ / model.noise_precision_)
    found, std = model.predict(new, return_std=True)
    assert (found[0], std[0] ** 2) == pytest.approx((mean, variance), rel=1e-6)
    low, high = model.interval(new, 0.8)
    assert (chance(low[0]), chance(high[0])) == pytest.approx((0.1, 0.9), abs=1e-6)
    assert model.verify(X, y)
    assert not model.verify(X, y[::-1])
    certain = hs.BayesianRegression().fit(X, y).interval(new, 0.8)
    assert high[0] - low[0] > certain[1][0] - certain[0][0]


def test_intervals_of_unknown_noise_cover_from_five_examples():
    """Where weights are drawn from the prior, 90 % intervals from five examples hold 90 % of new targets; known noise fewer."""
    rng, inside = np.random.default_rng(0), np.zeros(2)
    for _ in range(200):
        x, e = rng.standard_normal((6, 1)), rng.standard_normal(6)
        y = 3.0 * rng.standard_normal() * x[:, 0] + e
        for k, given in enumerate(({"noise": "unknown", "prior_precision": 1.0 / 9.0}, {})):
            low, high = hs.BayesianRegression(**given).fit(x[:5], y[:5]).interval(x[5:])
            inside[k] += low[0] <= y[5] <= high[0]
    assert 168 <= inside[0] <= 192
    assert inside[1] < inside[0] - 10


def test_batches_of_unknown_noise_are_one_fit():
    """partial_fit ends where fit does, degrees of freedom too; draws have the deviations that `predict` says."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2))
    y = X @ [1.0, 2.0] + rng.standard_normal(12)
    whole, stream = hs.BayesianRegression(noise="unknown").fit(X, y), hs.BayesianRegression(noise="unknown")
    for rows in np.split(np.arange(12), 3):
        stream.partial_fit(X[rows], y[rows])
    assert stream.degrees_of_freedom_ == whole.degrees_of_freedom_ == 11.0
    assert np.abs(stream.covariance_ - whole.covariance_).max() < 1e-12
    coefs, _ = whole.sample_posterior(20_000, random_state=0)
    assert coefs.std(axis=0) == pytest.approx(np.sqrt(np.diag(whole.covariance_) * 11.0 / 9.0), rel=0.03)


def test_noise_is_known_or_unknown():
    """A given noise cannot be unknown, one example tells of no noise, and coverage is a probability."""
    X, y = np.array([[0.0], [1.0], [3.0]]), np.array([0.0, 1.0, 2.0])
    with pytest.raises(InputError, match="'noise_precision' parameter of BayesianRegression must be None"):
        hs.BayesianRegression(noise="unknown", noise_precision=1.0).fit(X, y)
    with pytest.raises(InputError, match="needs more than one example"):
        hs.BayesianRegression(noise="unknown").fit(X[:1], y[:1])
    with pytest.raises(InputError, match="coverage must be between 0 and 1"):
        hs.BayesianRegression().fit(X, y).interval(X, 90)


@pytest.mark.parametrize("power", [150, 200, 300])
def test_a_stream_whose_noise_overflows_is_refused(power):
    """Sums of earlier batches that are too large to compute with, as a damaged file may hold, end in an error of ours."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = hs.BayesianRegression(noise="unknown").fit(X, X[:, 0])
    model._sums["triangle"][:, -1] = 10.0**power
    with pytest.raises(InputError, match="BayesianRegression"):
        model.partial_fit(X, X[:, 0])


def test_a_time_limit_is_kept_by_a_sample(monkeypatch):
    """Where all rows take too long, some are learnt from: the others have no weight, the proof holds, `outcome_` says so."""
    X, y = problem(400)
    whole = BayesianRegression(max_time=60.0).fit(X, y)
    assert whole.outcome_.reason == "solved"
    np.testing.assert_array_equal(whole.coef_, BayesianRegression().fit(X, y).coef_)
    monkeypatch.setattr(bayesian_regression, "seconds", lambda n, _: n / 100)  # 100 examples in a second
    model = BayesianRegression(max_time=1.5).fit(X, y)
    learnt = np.flatnonzero(model.certificate_.sample_weight)
    assert 100 < learnt.size < 150
    assert f"a sample of {learnt.size} of 400 examples: max_time=1.5 allows no more" in model.outcome_.sentence
    assert "Raise max_time" in model.outcome_.remedy
    assert model.verify(X, y)
    np.testing.assert_allclose(model.coef_, BayesianRegression().fit(X[learnt], y[learnt]).coef_, rtol=1e-12)


def test_a_batch_counts_with_what_was_learnt_before(monkeypatch):
    """Under a limit a batch is a sample too: together they are the posterior of all rows learnt from, in their order."""
    X, y = problem(400)
    s = np.random.default_rng(1).integers(0, 3, 400).astype(float)
    monkeypatch.setattr(bayesian_regression, "seconds", lambda n, _: n / 100)
    model = BayesianRegression(max_time=1.0).fit(X[:60], y[:60])
    assert model.certificate_.sample_weight is None
    model.partial_fit(X[60:], y[60:], sample_weight=s[60:])
    weights = model.certificate_.sample_weight
    assert weights.size == 400
    assert (weights[:60] == 1.0).all()
    assert 50 <= np.count_nonzero(weights[60:]) < 100
    assert np.isin(weights[60:] - s[60:], [0.0, -1.0, -2.0]).all()
    assert model.verify(X, y)
    np.testing.assert_allclose(model.coef_, BayesianRegression().fit(X, y, sample_weight=weights).coef_, rtol=1e-9)


def test_a_covariance_that_takes_too_long_is_refused():
    """No sample makes the covariance of many weights quick: the sentence names both times and what to do; nothing is kept."""
    X = np.random.default_rng(0).standard_normal((60, 3000))
    model = BayesianRegression(max_time=0.1)
    with pytest.raises(
        InputError, match=r"of 3,000 weights and its proof take about .* s, max_time=0.1 leaves .* Raise max_time"
    ):
        model.fit(X, X[:, 0])
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("max_time", [0.0, -1.0, "long"])
def test_a_time_limit_is_a_positive_number(max_time):
    """Anything else is refused by name."""
    with pytest.raises(InputError, match="'max_time' parameter"):
        BayesianRegression(max_time=max_time).fit(*problem())
