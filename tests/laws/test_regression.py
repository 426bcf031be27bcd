"""Laws of regression: calibrated error bars, shrinking weights, invariances."""

import numpy as np
import pytest

from halfspace.models.regression.bayesian_regression import BayesianRegression
from halfspace.models.regression.linear_regression import LinearRegression, ridge_path


def drawn(rng, n=60, d=8, alpha=1.0, beta=4.0):
    """Data from the model itself: weights from the prior, noise of the given precision."""
    w = rng.standard_normal(d) / np.sqrt(alpha)
    X = rng.standard_normal((n, d))
    return X, X @ w + rng.standard_normal(n) / np.sqrt(beta), w


@pytest.mark.compiled
def test_error_bars_are_calibrated():
    """On data from the model, 95 % intervals for new targets and for the weights hold about 95 % of them."""
    rng = np.random.default_rng(0)
    targets, weights = [], []
    for _ in range(60):
        X, y, w = drawn(rng)
        model = BayesianRegression(intercept="none").fit(X[:30], y[:30])
        mean, std = model.predict(X[30:], return_std=True)
        targets.append(np.abs(y[30:] - mean) <= 1.96 * std)
        weights.append(np.abs(w - model.coef_) <= 1.96 * np.sqrt(np.diag(model.covariance_)))
    assert 0.92 <= np.mean(targets) <= 0.98  # 1800 targets: 3 standard deviations are 1.5 %
    assert 0.90 <= np.mean(weights) <= 0.98  # 480 weights, and precisions estimated from 30 examples


def test_standard_errors_cover_at_their_rate():
    """Least squares' ±1.96 standard errors hold about 95 % of the true weights."""
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(60):
        X, y, w = drawn(rng)
        model = LinearRegression(intercept="free").fit(X, y)
        inside.append(np.abs(model.coef_ - w) <= 1.96 * model.standard_errors_)
    assert 0.92 <= np.mean(inside) <= 0.98


def test_a_larger_ridge_shrinks():
    """As λ rises, the weights' length and the effective number of parameters fall."""
    X, y, _ = drawn(np.random.default_rng(2))
    path = ridge_path(X, y)
    assert (np.diff(np.linalg.norm(path.coefs, axis=1)) < 0).all()
    assert (np.diff(path.effective_parameters) < 0).all()


def test_the_order_of_rows_and_rotations_of_the_inputs_do_not_matter():
    """Rows in another order give the same weights; rotated inputs give rotated weights; scaled targets scaled ones."""
    rng = np.random.default_rng(3)
    X, y, _ = drawn(rng)
    model = LinearRegression(ridge="evidence").fit(X, y)
    order, Q = rng.permutation(60), np.linalg.qr(rng.standard_normal((8, 8)))[0]
    np.testing.assert_allclose(LinearRegression(ridge="evidence").fit(X[order], y[order]).coef_, model.coef_, rtol=1e-9)
    np.testing.assert_allclose(LinearRegression(ridge="evidence").fit(X @ Q, y).coef_, Q.T @ model.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(LinearRegression(ridge="evidence").fit(X, 1e3 * y).coef_, 1e3 * model.coef_, rtol=1e-9)


def test_map_and_posterior_mean_are_the_same():
    """The ridge of the largest evidence gives the mean of the posterior of the largest evidence."""
    X, y, _ = drawn(np.random.default_rng(4))
    for intercept in ("free", "none", "clamped"):  # the last is looked at further
        ridge = LinearRegression(ridge="evidence", intercept=intercept).fit(X, y)
        belief = BayesianRegression(intercept=intercept).fit(X, y)
        np.testing.assert_allclose(ridge.coef_, belief.coef_, rtol=1e-8)
    np.testing.assert_allclose(
        [ridge.ridge_, ridge.noise_variance_],
        [belief.prior_precision_ / belief.noise_precision_, 1 / belief.noise_precision_],
        rtol=1e-9,
    )
