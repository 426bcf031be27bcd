"""The rungs for numbers, from the mean to kernel ridge.

Where all targets are positive and skewed (prices, wages), rungs also try the logarithm of the target, and keep it if the
squared error in the target's own units is less: of the rows left out of three inner folds (linear models), or left out one by
one of a sample (kernel ridge, which knows these errors).
"""

import time
from collections.abc import Callable
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import KFold

from halfspace import BayesianRegression, KernelRegression, LinearRegression, LogTarget, RelevanceKernelRegressor
from halfspace._typing import FloatArray, Matrix
from halfspace.errors import InputError
from halfspace.ladder.baselines import Mean, NeighbourMean, seconds_of_neighbours
from halfspace.ladder.plans import Chosen, Plan, Setting, kept_metric

__all__ = ["NUMBER_RUNGS"]

SKEWED = 0.5
"""Skewness of positive targets from which on their logarithm is tried, if it is less skewed."""
FOLDS = 3
CELL, SEARCHED, TRIED = 2_000, 1_200, 500
"""Most rows of one kernel machine; of more, rows that choose its parameters; rows that decide for or against the log."""
WIDEST = 2_000
"""Most inputs of Bayesian regression, which keeps a covariance of all pairs."""
MOST_INPUTS = 1_000
"""Most inputs of a learnt metric."""


def _skewed(y: FloatArray) -> bool:
    """Tell whether the logarithm of the targets is worth trying."""
    if y.min() <= 0.0 or np.ptp(y) == 0.0:
        return False
    plain = float(stats.skew(y))
    return plain > SKEWED and abs(float(stats.skew(np.log(y)))) < plain


def _linear(make: Callable[..., Any], X: Matrix, y: FloatArray, setting: Setting, sample_weight: Any = None) -> Chosen:
    """Choose between the target and its logarithm for a quick model, by three inner folds."""
    limit = None if setting.max_time is None else setting.max_time / (1 + 2 * FOLDS * _skewed(y))
    make = partial(make, max_time=limit) if "max_time" in signature(make).parameters else make
    if not _skewed(y) or y.size < 2 * FOLDS:
        return Chosen(make(), {})
    errors = np.zeros(2)
    for train, test in KFold(FOLDS, shuffle=True, random_state=0).split(y[:, None]):
        weight = {} if sample_weight is None else {"sample_weight": sample_weight[train]}
        for k, model in enumerate((make(), LogTarget(make()))):
            predicted = model.fit(X[train], y[train], **weight).predict(X[test])
            errors[k] += float(np.square(predicted - y[test]).sum())
    return Chosen(LogTarget(make()), {"target": "log"}) if errors[1] < errors[0] else Chosen(make(), {})


def _bayesian(X: Matrix, y: FloatArray, setting: Setting, sample_weight: Any = None) -> Chosen:
    if X.shape[1] > WIDEST:
        msg = f"its posterior has a covariance of all pairs of inputs: the ladder tries it up to {WIDEST:,} of them"
        raise InputError(msg)
    return _linear(BayesianRegression, X, y, setting, sample_weight)


def _kernel(X: Matrix, y: FloatArray, setting: Setting, sample_weight: Any = None) -> Chosen:
    """Fit kernel ridge to the target or to its logarithm; of many rows width and ridge are chosen on a sample."""
    began, rng = time.perf_counter(), np.random.default_rng(setting.seed)
    order = rng.permutation(np.flatnonzero(np.ones(y.size) if sample_weight is None else sample_weight))

    def fitted(few: int, share: float, *, log: bool, **given: Any) -> tuple[Any, float]:
        """Return a fit to so many rows in a share of the time, and its squared error in the target's units on rows left out."""
        rows = np.arange(y.size) if few >= order.size else np.sort(order[:few])
        limit = None if setting.max_time is None else share * setting.max_time
        given |= {"kernel_rows": CELL, "n_jobs": setting.n_jobs, "random_state": setting.seed, "max_time": limit}
        model: Any = KernelRegression(setting.kernel, **given)
        weight = None if sample_weight is None else sample_weight[rows]
        model = (LogTarget(model) if log else model).fit(X[rows], y[rows], weight)
        return model, float(np.nanmean(np.square(model.left_out_ - y[rows])))

    log = _skewed(y) and fitted(TRIED, 0.1, log=True)[1] < fitted(TRIED, 0.1, log=False)[1]
    many = order.size > CELL
    model = fitted(SEARCHED if many else CELL, 0.3 if many else 0.8, log=log)[0]
    machine = model.regressor_ if log else model
    gamma = machine.kernel_.get_params().get("gamma")
    given = {"ridge": float(machine.ridge_)} | ({} if gamma is None else {"gamma": float(gamma)})
    if many:
        left = setting.left_of(began)
        share = 1.0 if left is None or setting.max_time is None else left / setting.max_time
        model = fitted(y.size, share, log=log, **given)[0]
    return Chosen(model, ({"target": "log"} if log else {}) | given, fitted=True)


def _relevance(X: Matrix, y: FloatArray, setting: Setting, sample_weight: Any = None) -> Chosen:
    """Learn metric and machine for the target, or for its logarithm where that errs less on rows that taught no metric."""
    if X.shape[1] > MOST_INPUTS:
        msg = f"the ladder learns metrics of at most {MOST_INPUTS:,} inputs, not of {X.shape[1]:,}"
        raise InputError(msg)
    began, log = time.perf_counter(), _skewed(y)
    limit = None if setting.max_time is None else setting.max_time / (1 + log)
    common: dict[str, Any] = {"n_jobs": setting.n_jobs, "random_state": setting.seed}
    plain = RelevanceKernelRegressor(max_time=limit, **common).fit(X, y, sample_weight)
    if not log:
        return kept_metric(plain)
    logged = LogTarget(RelevanceKernelRegressor(max_time=setting.left_of(began), **common)).fit(X, y, sample_weight)
    errors = [np.square(model.unseen_ - y) for model in (plain, logged)]
    if np.nanmean(errors[1]) >= np.nanmean(errors[0]):
        return kept_metric(plain)
    inner = kept_metric(logged.regressor_)
    return Chosen(logged.set_params(regressor=clone(inner.model)), {"target": "log"} | inner.params, fitted=True)


NUMBER_RUNGS: dict[str, Plan] = {
    plan.name: plan
    for plan in (
        Plan("mean", "mean", 0, lambda _X, _y, _setting: Chosen(Mean(), {})),
        Plan(
            "neighbours",
            "nearest neighbours",
            7,
            lambda _X, _y, _setting: Chosen(NeighbourMean(), {}),
            sampled=True,
            weighs=False,
            seconds=seconds_of_neighbours,
        ),
        Plan("least_squares", "linear regression (least squares)", 1, partial(_linear, LinearRegression)),
        Plan("ridge", "ridge regression", 2, partial(_linear, partial(LinearRegression, ridge="cv"))),
        Plan("bayesian", "Bayesian linear regression", 3, _bayesian),
        Plan("kernel", "kernel ridge", 6, _kernel),
        Plan("relevance", "relevance kernel machine", 8, _relevance, own=True),
    )
}
"""In the order in which they are climbed; `keeps` says which is simpler."""
