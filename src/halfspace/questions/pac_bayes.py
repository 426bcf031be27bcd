"""A bound on the error of a plane on new examples, by PAC-Bayes: valid without a test set, and weak."""

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, rel_entr

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.arithmetic import as_rows, potentials_and_sums, squares
from halfspace.errors import InputError

__all__ = ["pac_bayes"]

LENGTHS = np.geomspace(0.5, 200.0, 40)
"""Lengths mu of the mean of the posterior that are tried, fixed before any data are seen."""


def pac_bayes(model: Any, X: Matrix, y: Labels, *, delta: float = 0.05) -> float:
    """Bound the error of a plane on new examples drawn like those it was learnt from.

    Planes drawn from N(mu w/‖w‖, I), with examples scaled to length 1, have training error  ê = mean Phi(-mu E_i/(‖w‖ ‖x_i‖)),
    and with probability 1 - delta, for all 40 values of mu tried, an error e on new examples with
    kl(ê, e) <= (mu²/2 + ln(2 √n · 40/delta))/n  (Langford and Seeger 2001; McAllester 2003; Maurer 2004). Where the plane w is
    wrong, at least half of the drawn planes are, so its own error is at most 2e. Much weaker than a test set or leave-one-out.

    Parameters
    ----------
    model : fitted classifier of two classes
        A plane, with `coef_`, shape (1, d), `intercept_` and `classes_`.
    X : array or CSR matrix, shape (n, d)
        The examples that it was learnt from.
    y : array, shape (n,)
        Their labels.
    delta : float, default 0.05
        Probability that the bound fails.

    Returns
    -------
    float
        Bound on the error; 1 if it says nothing.

    Examples
    --------
    >>> import halfspace as hs
    >>> toy = hs.data.teacher_student(2000, 3, margin=0.2, random_state=0)
    >>> round(hs.pac_bayes(hs.AdaTron(C=1.0).fit(toy.X, toy.y), toy.X, toy.y), 2)
    0.14
    """
    if not isinstance(delta, int | float) or not 0.0 < delta < 1.0:
        msg = f"The 'delta' parameter of pac_bayes must be a probability between 0 and 1. Got {delta!r} instead."
        raise InputError(msg)
    if not hasattr(model, "coef_") or np.shape(model.coef_)[0] != 1:
        msg = (
            f"pac_bayes is about one plane: a fitted classifier of two classes with coef_. Got {type(model).__name__} instead."
        )
        raise InputError(msg)
    X, y = as_rows(X, y)
    w = np.append(np.ravel(model.coef_), np.ravel(model.intercept_)[0])
    f = potentials_and_sums(X, w[None], np.zeros((1, y.size)), 1.0)[0][:, 0]
    cosine = np.where(y == model.classes_[1], 1.0, -1.0) * f / (np.linalg.norm(w) * np.sqrt(squares(X) + 1.0))
    budget = np.log(2.0 * np.sqrt(y.size) * LENGTHS.size / delta)
    bounds = [_inverse(float(ndtr(-mu * cosine).mean()), (mu * mu / 2.0 + budget) / y.size) for mu in LENGTHS]
    return float(min(1.0, 2.0 * min(bounds)))


def _inverse(share: float, most: float) -> float:
    """Return the largest e with kl(share, e) <= most."""

    def excess(e: float) -> float:
        return float(_kl(share, e)) - most

    return 1.0 if excess(1.0 - 1e-12) <= 0.0 else float(brentq(excess, share, 1.0 - 1e-12))


def _kl(q: float, p: float) -> FloatArray:
    """Return the divergence of two coins."""
    return np.asarray(rel_entr(q, p) + rel_entr(1.0 - q, 1.0 - p))
