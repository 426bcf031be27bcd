"""A model of the logarithm: its factor, its range, its proof, its file."""

import numpy as np
import pytest

import halfspace as hs
from halfspace.certificates import TargetMean, from_json
from halfspace.errors import InputError

MODELS = {
    "line": hs.LinearRegression(),
    "ridge": hs.LinearRegression(ridge="cv"),
    "posterior": hs.BayesianRegression(intercept="clamped"),
    "kernel": hs.KernelRegression(gamma=0.3, ridge=0.5),
    "cells": hs.KernelRegression(gamma=0.3, ridge=0.5, kernel_rows=30),
}


def problem(n=80, noise=0.5, seed=0):
    """Return targets that effects multiply, with noise that multiplies too."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.exp(1.0 + X @ [0.7, -0.4] + noise * rng.standard_normal(n))


@pytest.mark.compiled
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("inner", MODELS.values(), ids=MODELS)
def test_the_factor_is_the_mean_of_exp_of_residuals(inner, weighted):
    """Of a line the residuals of its examples, of a kernel those of examples left out; the proof holds, for no other factor."""
    X, y = problem()
    s = np.random.default_rng(1).integers(0, 3, y.size).astype(float) if weighted else None
    model = hs.LogTarget(inner).fit(X, y, s)
    behind = model.regressor_
    left = np.log(y) - getattr(behind, "left_out_", behind.predict(X))
    share = np.ones(y.size) if s is None else s
    assert model.factor_ == pytest.approx(np.exp(left)[share > 0] @ share[share > 0] / share.sum(), rel=1e-9)
    assert model.predict(X) == pytest.approx(model.factor_ * np.exp(behind.predict(X)), rel=1e-12)
    assert model.verify(X, y)
    model.factor_ *= 1.0001
    assert not model.verify(X, y)
    assert not model.verify(X, y * np.linspace(1.0, 1.1, y.size))


def test_predictions_are_means_not_medians():
    """On lognormal targets predictions average to the targets' mean, which exp of the log predictions misses by a lot."""
    X, y = problem(n=20_000, noise=1.0)
    model = hs.LogTarget().fit(X, y)
    assert model.factor_ == pytest.approx(np.exp(0.5), rel=0.05)
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=0.02)
    assert np.exp(model.regressor_.predict(X)).mean() < 0.65 * y.mean()


def test_far_rows_are_predicted_within_reach():
    """A line of logarithms that runs on ends one range of log y beyond the targets seen."""
    X, y = problem()
    model = hs.LogTarget().fit(X, y)
    low, high = model.range_
    far = model.predict(np.array([[1e4, 0.0], [-1e4, 0.0]]))
    assert far == pytest.approx(model.factor_ * np.exp([2 * high - low, 2 * low - high]))


@pytest.mark.compiled
@pytest.mark.parametrize("inner", [hs.BayesianRegression(), MODELS["cells"]], ids=["line", "cells"])
def test_files_keep_model_and_proof(inner, tmp_path):
    """A saved model predicts the same, its proof holds, and its certificate comes back from JSON as it was."""
    X, y = problem()
    model = hs.LogTarget(inner).fit(X, y)
    hs.save(model, tmp_path / "model")
    other = hs.load(tmp_path / "model")
    assert np.array_equal(other.predict(X), model.predict(X))
    assert other.verify(X, y)
    assert from_json(model.certificate_.to_json()).verify(X, y)


def test_what_has_no_logarithm_is_refused():
    """Targets of 0 or below and other models are refused by name, and a proof says which targets it is about."""
    X, y = problem()
    with pytest.raises(InputError, match=r"must be positive; y\[3\] = -2"):
        hs.LogTarget().fit(X, np.where(np.arange(80) == 3, -2.0, y))
    with pytest.raises(InputError, match="'regressor' parameter of LogTarget must be"):
        hs.LogTarget(hs.AdaptiveFilter()).fit(X, y)
    proof = hs.LogTarget().fit(X, y).certificate_
    with pytest.raises(InputError, match="about targets > 0"):
        proof.verify(X, -y)
    assert not type(proof)(TargetMean.measure(X, y), 1.0, 0.0, 1.0).verify(X, y)


def test_one_value_only_is_predicted_everywhere():
    """Where all targets are equal, so are all predictions, however far."""
    X = np.arange(6.0)[:, None]
    model = hs.LogTarget().fit(X, np.full(6, 3.0))
    assert model.predict(100.0 * X) == pytest.approx(np.full(6, 3.0))
    assert model.verify(X, np.full(6, 3.0))
