"""Why a model errs: noise, bias and variance, over training sets drawn from a problem whose truth is known.

Squared error   At a row x let f = E[y|x], h the prediction of a model learnt from a drawn training set, h̄ its mean over sets:
                E (y - h)² = E (y - f)² + (f - h̄)² + E (h - h̄)², that is noise + bias² + variance. With L sets the mean of L
                predictions stands for h̄, so var/L is taken off the bias² and the variance is divided by L - 1: both are
                then unbiased, and their sum is still E (f - h)², to rounding.
0-1 loss        Let y* be the most probable class at x, q_c the share of sets whose model says c, and the main prediction the
                class said most often. Bias is 1 where it is not y*. Variance is the share of models that leave the main
                prediction: it costs where the main prediction is right (unbiased rows) and, where it is wrong, helps by the
                share that leaves it for y*. Then P(error) = noise + bias + variance with the effect of the noise
                q_y* - Σ_c p_c q_c, which is (2 q_y* - 1) P(y ≠ y*) for two classes. Nothing is corrected for L.
Reference       Geman, Bienenstock and Doursat (1992); Domingos (2000).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from halfspace._typing import FloatArray, IntArray, Labels, Matrix
from halfspace.errors import InputError

__all__ = ["BiasVariance", "bias_variance"]

GROUPS = 50
"""Training sets are left out in at most so many groups for the standard errors."""
TERMS = ("error", "noise", "bias", "variance")
Problem = Callable[[np.random.Generator], tuple[Matrix, Any, Any]]


@dataclass(frozen=True)
class BiasVariance:
    """The parts of an expected error: error = noise + bias + variance.

    Parameters
    ----------
    loss : str
        "squared" or "zero-one".
    error, noise, bias, variance : float
        The expected error on new rows, and its parts. With squared loss `bias` is the mean bias², which is unbiased and may
        therefore come out a little below 0; with 0-1 loss `noise` is its effect on the error, and `variance` what variance
        costs where the main prediction is right, less what it saves where it is wrong.
    standard_errors : dict
        Of these four, by the jackknife over training sets (at the test rows drawn).
    n_sets, n_points : int
        Training sets drawn, and rows to measure on.
    """

    loss: str
    error: float
    noise: float
    bias: float
    variance: float
    standard_errors: dict[str, float]
    n_sets: int
    n_points: int

    def __str__(self) -> str:
        squared = self.loss == "squared"
        names = {"noise": "noise", "bias": "bias²" if squared else "bias", "variance": "variance"}
        said = {name: f"{getattr(self, name):.4g} ± {self.standard_errors[name]:.2g}" for name in TERMS}
        parts = " + ".join(f"{word} {said[name]}" for name, word in names.items())
        if self.bias + self.variance < 0.1 * self.error:
            advice = "nearly all of it is noise: no model can do much better"
        elif self.bias > self.variance:
            advice = "bias outweighs variance: a richer model may help, more examples will not"
        else:
            advice = "variance outweighs bias: more examples or a simpler model may help"
        return f"{'Squared error' if squared else 'Error rate'} {said['error']} = {parts}; {advice}."


def bias_variance(
    estimator: Any, problem: Problem, *, n_sets: int = 100, n_points: int = 1000, random_state: int | None = 0
) -> BiasVariance:
    """Split the expected error of a model into noise, bias and variance.

    Parameters
    ----------
    estimator : estimator
        A regressor (squared error) or a classifier (0-1 loss); a clone of it learns from every training set.
    problem : function
        Called with a `numpy.random.Generator`, it draws one training set and returns `X`, shape (n, d), `y`, shape (n,), and
        the truth: for numbers the expected targets E[y|x], shape (n,); for classes the probabilities P(c|x), shape (n, K), of
        the classes in sorted order.
    n_sets : int, default 100
        Training sets to draw, at least 2.
    n_points : int, default 1000
        At least so many new rows, drawn from the same problem, to measure on.
    random_state : int or None, default 0
        Random seed.

    Returns
    -------
    BiasVariance
        The parts, with standard errors; printed, a sentence.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> def parabola(rng):
    ...     x = rng.uniform(-1.0, 1.0, (20, 1))
    ...     return x, x[:, 0] ** 2 + 0.1 * rng.standard_normal(20), x[:, 0] ** 2
    >>> print(hs.bias_variance(hs.LinearRegression(), parabola, n_sets=50))  # a line cannot bend
    Squared error ... = noise 0.01... + bias² 0.0... + variance 0.01...; bias outweighs variance: ...
    """
    for name, value, least in (("n_sets", n_sets, 2), ("n_points", n_points, 1)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            msg = f"The '{name}' parameter of bias_variance must be a whole number of at least {least}. Got {value!r} instead."
            raise InputError(msg)
    rng = np.random.default_rng(random_state)
    classify = is_classifier(estimator)
    tests = [_drawn(problem, rng, classify=classify)]
    while sum(len(truth) for *_, truth in tests) < n_points:
        tests.append(_drawn(problem, rng, classify=classify))
    sets = [_drawn(problem, rng, classify=classify) for _ in range(n_sets)]
    H = np.empty((n_sets, sum(len(truth) for *_, truth in tests)), dtype=object if classify else np.float64)
    for row, (X, y, _) in zip(H, sets, strict=True):
        model = clone(estimator).fit(X, y)
        row[:] = np.concatenate([model.predict(rows) for rows, *_ in tests])
    truth = np.concatenate([known for *_, known in tests])
    if classify:
        return _zero_one(H, truth, np.unique(np.concatenate([y for _, y, _ in (*tests, *sets)])))
    squares = np.concatenate([(y - known) ** 2 for _, y, known in (*tests, *sets)])
    noise, its_error = float(squares.mean()), float(squares.std() / np.sqrt(squares.size))
    return _answer("squared", H, lambda part: _squared_parts(part, truth, noise), its_error)


def _drawn(problem: Problem, rng: np.random.Generator, *, classify: bool) -> tuple[Matrix, Labels, FloatArray]:
    """Return one draw, checked."""
    try:
        X, y, truth = problem(rng)
    except (TypeError, ValueError) as error:
        msg = f"bias_variance: 'problem' must take a random generator and return X, y and the truth. It fails: {error}"
        raise InputError(msg) from error
    y, truth = np.asarray(y), np.asarray(truth, dtype=np.float64)
    expected = f"({y.size}, K), the probabilities of the classes" if classify else f"({y.size},), the expected targets"
    if y.ndim != 1 or truth.ndim != 1 + classify or truth.shape[0] != y.size:
        msg = f"bias_variance: 'problem' must return a truth of shape {expected}. Got {truth.shape} instead."
        raise InputError(msg)
    return X, y, truth


def _squared_parts(H: FloatArray, truth: FloatArray, noise: float) -> FloatArray:
    """Return error, noise, bias² and variance from the predictions of L sets, shape (L, n)."""
    variance = H.var(axis=0, ddof=1)
    bias = (H.mean(axis=0) - truth) ** 2 - variance / H.shape[0]
    return np.array([noise + np.mean(bias + variance), noise, bias.mean(), variance.mean()])


def _zero_one(H: Labels, truth: FloatArray, classes: Labels) -> BiasVariance:
    """Return the parts of the 0-1 loss from labels that L sets predict, shape (L, n), and probabilities, shape (n, K)."""
    if classes.size != truth.shape[1]:
        msg = (
            f"bias_variance: 'problem' returns probabilities of {truth.shape[1]} classes, but its labels are {classes.size}: "
            f"{classes.tolist()[:5]}. Return one column for each, in sorted order; draw more rows if a class is rare."
        )
        raise InputError(msg)
    codes = np.searchsorted(classes, H.astype(classes.dtype))
    return _answer("zero-one", codes, lambda part: _zero_one_parts(part, truth))


def _zero_one_parts(codes: IntArray, truth: FloatArray) -> FloatArray:
    """Return error, effect of the noise, bias and net variance from class numbers, shape (L, n)."""
    q = np.stack([np.mean(codes == c, axis=0) for c in range(truth.shape[1])], axis=1)
    rows, best = np.arange(truth.shape[0]), truth.argmax(axis=1)
    error = 1.0 - np.sum(truth * q, axis=1)
    strays = 1.0 - q[rows, best]  # models that do not say the most probable class: bias + variance
    bias = (q.argmax(axis=1) != best).astype(np.float64)
    return np.array([part.mean() for part in (error, error - strays, bias, strays - bias)])


def _answer(loss: str, H: Any, parts: Callable[[Any], FloatArray], noise_error: float | None = None) -> BiasVariance:
    """Return the parts and their standard errors: leave groups of training sets out in turn (Efron's jackknife)."""
    L, n = H.shape
    groups = np.array_split(np.arange(L), min(L, GROUPS)) if L > 2 else []
    left_out = np.stack([parts(np.delete(H, group, axis=0)) for group in groups]) if groups else np.full((2, 4), np.nan)
    spread = np.sqrt((len(left_out) - 1) * left_out.var(axis=0))
    if noise_error is not None:
        spread[0], spread[1] = np.hypot(spread[0], noise_error), noise_error
    error, noise, bias, variance = parts(H).tolist()
    return BiasVariance(loss, error, noise, bias, variance, dict(zip(TERMS, spread.tolist(), strict=True)), L, n)
