"""Perhaps mislabelled: rows whose label contradicts what the folds say, more often than overlapping classes explain.

Problem    A row on the wrong side of the boundary is either one of those that overlapping classes put there, or its label is
           wrong. The first become rare far from the boundary, the second do not.
Model      The size of a row is |f|, or with more classes the largest output minus the second. A row of size m is predicted
           wrongly with probability  q(m) = ε + (1 - ε) σ(-(a m^c + b)),  where a > 0, b <= 0, c is 1/2, 1 or 2, and 0 <= ε <=
           0.05: on the boundary at least half are wrong, c lets the overlap end sooner or later, and a share ε of the labels
           is wrong wherever the row lies (Copas, 1988, section 2).
Test       Twice the logarithm of the likelihood with ε over that without. ε = 0 is on the edge of what is allowed, so that it
           exceeds a quantile of χ² with one degree of freedom half as often (Self and Liang, 1987, case 5). Above `LEVEL` no
           row is listed. More than 5 % are not told from an overlap and are not listed either.
List       Rows that are predicted wrongly and whose posterior probability of a wrong label, ε/q(m), is at least `SURE`. Its
           mean is the share of the list that should be wrong.
Limits     Outputs must tell near from far: votes of one neighbour do not. A class with a small part deep among another one is
           taken for mislabelled where the model has not learnt that part, and so are outliers of columns with heavy tails.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, logit
from scipy.stats import chi2

from halfspace._typing import FloatArray, IntArray

__all__ = ["Suspects", "find_mislabelled"]

LEVEL, SURE = 0.025, 0.8
MOST = 0.05
"""Largest share of wrong labels."""
SHAPES = (0.5, 1.0, 2.0)
BINS = 100
"""Groups of rows of about equal size in which errors are counted."""
LEAST_WRONG = 2
START = (1.0, -0.1, -4.0)
"""Where the search for log a, b and logit ε begins."""


class Suspects(NamedTuple):
    """Rows that are perhaps mislabelled.

    Parameters
    ----------
    rows : ndarray, shape (m,)
        Which of the rows given, the most suspect first; empty without evidence.
    chances : ndarray, shape (m,)
        How probable a wrong label is.
    share : float
        Estimated share of wrong labels among all rows; 0 without evidence.
    p_value : float
        How often overlapping classes alone would look so.
    """

    rows: IntArray
    chances: FloatArray
    share: float
    p_value: float

    def __str__(self) -> str:
        if not self.rows.size:
            return "No label is reliably wrong: errors are as rare far from the boundary as overlapping classes make them."
        right = int(np.floor(self.chances.sum()))
        return (
            f"{self.rows.size} rows are perhaps mislabelled; about {right} of them should be. "
            f"An estimated {100 * self.share:.1f} % of all labels are wrong."
        )


def find_mislabelled(outputs: FloatArray, truth: IntArray) -> Suspects:
    """List the rows whose labels are probably wrong.

    Parameters
    ----------
    outputs : ndarray, shape (n,) or (n, K)
        Of rows that the model had not seen; the sign, or the largest, is the prediction. NaN: not predicted.
    truth : ndarray, shape (n,)
        Class numbers.

    Returns
    -------
    Suspects
        Empty where overlapping classes explain the errors.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> outputs = rng.uniform(-3.0, 3.0, 600)
    >>> truth = (outputs + 0.3 * rng.standard_normal(600) > 0).astype(int)
    >>> find_mislabelled(outputs, truth).rows
    array([], dtype=int64)
    >>> truth[:12] = 1 - truth[:12]
    >>> sorted(find_mislabelled(outputs, truth).rows.tolist())
    [0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 11]
    """
    outputs, truth = np.asarray(outputs, dtype=np.float64), np.asarray(truth)
    seen = np.flatnonzero(np.isfinite(outputs if outputs.ndim == 1 else outputs.sum(axis=1)))
    sizes, wrong = _sizes(outputs[seen], truth[seen])
    nothing = Suspects(np.empty(0, dtype=np.int64), np.empty(0), 0.0, 1.0)
    scale = float(np.median(sizes)) if sizes.size else 0.0
    if np.count_nonzero(wrong) < LEAST_WRONG or scale <= 0.0 or np.ptp(sizes) == 0.0:
        return nothing
    x, counts, errors = _binned(sizes / scale, wrong)
    without, _ = _fitted(x, counts, errors, noisy=False)
    cost, curve = _fitted(x, counts, errors, noisy=True)
    p_value = 0.5 * float(chi2.sf(max(2.0 * (without - cost), 0.0), 1))
    if p_value > LEVEL:
        return nothing._replace(p_value=p_value)
    share = float(expit(curve[2]))
    chances = share / _chance_of_error(x=sizes / scale, curve=curve)
    listed = np.flatnonzero(wrong & (chances >= SURE))
    listed = listed[np.argsort(-chances[listed], kind="stable")]
    return Suspects(seen[listed], chances[listed], share, p_value)


def _sizes(outputs: FloatArray, truth: IntArray) -> tuple[FloatArray, IntArray]:
    """Return how sure every prediction is, shape (n,), and whether it is wrong."""
    if outputs.ndim == 1:
        return np.abs(outputs), np.asarray((outputs > 0) != (truth == 1))
    top = np.partition(outputs, -2, axis=1)
    return top[:, -1] - top[:, -2], np.asarray(outputs.argmax(axis=1) != truth)


def _binned(x: FloatArray, wrong: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the mean size, the number of rows and that of errors in groups of rows of about equal size."""
    groups = np.array_split(np.argsort(x, kind="stable"), min(BINS, x.size))
    values = [(x[rows].mean(), rows.size, np.count_nonzero(wrong[rows])) for rows in groups]
    mean, counts, errors = np.array(values, dtype=np.float64).T
    return mean, counts, errors


def _chance_of_error(x: FloatArray, curve: tuple[float, ...]) -> FloatArray:
    """Return q(m) for sizes x, shape (n,), and a curve (log a, b, logit ε, c)."""
    log_a, b, share, c = curve
    noise = expit(share)
    q: FloatArray = noise + (1.0 - noise) * expit(-(np.exp(log_a) * x**c + b))
    return np.clip(q, 1e-12, 1.0 - 1e-12)


def _fitted(x: FloatArray, counts: FloatArray, errors: FloatArray, *, noisy: bool) -> tuple[float, tuple[float, ...]]:
    """Return the least negative logarithm of the likelihood and its curve, with wrong labels or without."""
    bounds = [(-5.0, 8.0), (-3.0, 0.0), (-12.0, float(logit(MOST))) if noisy else (-40.0, -40.0)]
    best: tuple[float, tuple[float, ...]] = (np.inf, ())
    for c in SHAPES:

        def cost(point: FloatArray, c: float = c) -> tuple[float, FloatArray]:
            return _cost(x, counts, errors, (*point, c))

        begin = np.clip(START, *np.transpose(bounds))
        found = minimize(cost, begin, jac=True, method="L-BFGS-B", bounds=bounds)
        best = min(best, (float(found.fun), (*found.x.tolist(), c)))
    return best


def _cost(x: FloatArray, counts: FloatArray, errors: FloatArray, curve: tuple[float, ...]) -> tuple[float, FloatArray]:
    """Return the negative logarithm of the likelihood and its gradient by log a, b and logit ε."""
    log_a, b, share, c = curve
    q, noise, pull = _chance_of_error(x, curve), expit(share), np.exp(log_a) * x**c
    overlap = expit(-(pull + b))
    by_q = (counts - errors) / (1.0 - q) - errors / q
    by_b = -by_q * (1.0 - noise) * overlap * (1.0 - overlap)
    gradient = np.array([by_b @ pull, by_b.sum(), by_q @ (1.0 - overlap) * noise * (1.0 - noise)])
    return -float(errors @ np.log(q) + (counts - errors) @ np.log1p(-q)), gradient
