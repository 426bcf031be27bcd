"""The learning curves of all rules: the error on new examples after alpha N of them.

Linear rules see a label as y = sqrt(b) u + noise of variance 1 - b, where u is the teacher's field and b = (1-2p)² 2/π with
a share p of flipped labels. With R² / (1 - R²) = cot²:

Hebb       w = Σ y x:                       cot² = alpha b
Adaline    least squares (alpha < 1: the shortest w that fits all labels)
                                            cot² = alpha b (1-alpha)/(1 - 2 alpha b + alpha² b)   for alpha < 1
                                            cot² = b (alpha-1)/(1-b)                              for alpha > 1
           by ‖projection of w*‖² = alpha and E tr (XᵀX)⁻¹ = N/(P-N-1). At alpha = 1 it has learnt nothing: the peak.
ridge      with the best penalty l N, l = (1-b)/b, which makes it the posterior mean: R² = 1 - l m, where
           m = tr (XᵀX/N + l)⁻¹/N solves  l m² + (l + alpha - 1) m = 1  (Marchenko and Pastur 1967)
"""

from typing import Any

import numpy as np

from halfspace.errors import InputError
from halfspace.theory.arguments import at_each, share, whole
from halfspace.theory.maximal_stability import cotangent
from halfspace.theory.stream import stream_angle
from halfspace.theory.version_space import angle_ratio, vote_error

__all__ = ["generalisation_error", "learning_curve"]


def _hebb(alpha: float, b: float) -> float:
    return alpha * b


def _adaline(alpha: float, b: float) -> float:
    if alpha < 1.0:
        return alpha * b * (1.0 - alpha) / (1.0 - 2.0 * alpha * b + alpha * alpha * b)
    return b * (alpha - 1.0) / (1.0 - b)


def _ridge(alpha: float, b: float) -> float:
    if not b:
        return 0.0
    penalty = (1.0 - b) / b
    u = penalty + alpha - 1.0
    root = np.sqrt(u * u + 4.0 * penalty)
    m = 2.0 / (root + u) if u > 0.0 else (root - u) / (2.0 * penalty)
    return float(alpha / (penalty * (1.0 + m)))  # (1 - l m)/(l m), and 1 - l m = alpha m/(1 + m)


LINEAR = {"hebb": _hebb, "adaline": _adaline, "ridge": _ridge}
NOISE_FREE = ("stability", "gibbs", "bayes", "committee")


def learning_curve(rule: str, alpha: Any, flipped: float = 0.0, members: int = 3) -> Any:
    """Return the error of a rule on new examples after P = alpha N examples of a teacher, for large N.

    Error = arccos(R)/π, with R the overlap of student and teacher.

    Parameters
    ----------
    rule : str
        "hebb": R² = ab/(1+ab), a = alpha, b = (1-2 flipped)² 2/π (Vallet 1989).
        "adaline": least squares, with its peak at alpha = 1 (`halfspace.theory.curves`; Opper and Kinzel 1996).
        "ridge": with the best penalty, R² = 1 - l m (`halfspace.theory.curves`).
        "perceptron": one pass (`halfspace.theory.stream`; Biehl and Riegler 1994).
        "stability": the plane of maximal stability (`halfspace.theory.maximal_stability`; Opper et al. 1990).
        "gibbs", "bayes": a random member of the version space, R = q, and its centre, R = sqrt(q)
        (`halfspace.theory.version_space`; Györgyi and Tishby 1990).
        "committee": the majority of `members` random members of the version space.
    alpha : float or array
        P/N, not negative.
    flipped : float, default 0.0
        Share of wrong labels, up to 0.5, for the first four rules; the error is against the clean rule.
    members : int, default 3
        Size of the committee.

    Returns
    -------
    float or ndarray
        Probability of a wrong label for a new example.

    Examples
    --------
    >>> import halfspace as hs
    >>> for rule in ("hebb", "adaline", "ridge", "perceptron", "stability", "gibbs", "bayes", "committee"):
    ...     print(rule, hs.theory.learning_curve(rule, [1.0, 5.0]).round(4).tolist())
    hebb [0.2856, 0.1626]
    adaline [0.5, 0.115]
    ridge [0.2571, 0.1134]
    perceptron [0.3192, 0.1822]
    stability [0.2657, 0.0938]
    gibbs [0.3384, 0.118]
    bayes [0.2544, 0.0839]
    committee [0.3051, 0.101]
    """
    p = share("learning_curve", "flipped", flipped, 0.5)
    members = whole("learning_curve", "members", members, 1)
    known = (*LINEAR, "perceptron", *NOISE_FREE)
    if rule not in known:
        msg = f"learning_curve: 'rule' must be one of {', '.join(known)}. Got {rule!r} instead."
        raise InputError(msg)
    if p and rule in NOISE_FREE:
        msg = (
            f"learning_curve: no formula for {rule!r} with flipped labels is known here; leave 'flipped' at 0. Got {flipped!r}."
        )
        raise InputError(msg)
    return at_each("learning_curve", lambda a: _error(rule, a, p, members), alpha)


def _error(rule: str, alpha: float, p: float, members: int) -> float:
    """Return the error at one alpha."""
    if rule in LINEAR:
        cot = np.sqrt(LINEAR[rule](alpha, (1.0 - 2.0 * p) ** 2 * 2.0 / np.pi))
    elif rule == "perceptron":
        return stream_angle(alpha, p) / np.pi
    elif rule == "stability":
        cot = cotangent(alpha)
    else:
        cot = angle_ratio(alpha)
        if rule == "gibbs":  # cos(angle) = q = 1 - 1/(1 + g²)
            return float(2.0 * np.arcsin(np.sqrt(0.5) / np.hypot(1.0, cot)) / np.pi)
        if rule == "committee":
            return vote_error(alpha, members)
    return float(np.arctan2(1.0, cot) / np.pi)


def generalisation_error(w: Any, teacher: Any) -> Any:
    """Return the probability that two planes through the origin disagree on an example of random direction.

    arccos(w·w*/(‖w‖ ‖w*‖))/π: the wedge between the planes is this share of the sphere. The sign of the overlap counts: a
    student opposite to its teacher is always wrong.

    Parameters
    ----------
    w : array, shape (N,) or (m, N)
        A student, or one a row.
    teacher : array, shape (N,)
        The teacher.

    Returns
    -------
    float or ndarray, shape (m,)
        Between 0 and 1; nan where a vector is zero.

    Examples
    --------
    >>> import halfspace as hs
    >>> hs.theory.generalisation_error([[1.0, 0.0], [0.0, 2.0], [-1.0, 0.0]], [3.0, 0.0]).tolist()
    [0.0, 0.5, 1.0]
    """
    W, v = np.asarray(w, dtype=np.float64), np.asarray(teacher, dtype=np.float64).ravel()
    if W.ndim not in {1, 2} or W.shape[-1] != v.size:
        msg = f"generalisation_error: 'w' must have {v.size} numbers a row, as the teacher has. Got shape {W.shape} instead."
        raise InputError(msg)
    with np.errstate(invalid="ignore", divide="ignore"):
        a, b = W / np.linalg.norm(W, axis=-1, keepdims=True), v / np.linalg.norm(v)
        # The half angle by its tangent keeps the digits of small angles, which arccos would lose.
        error = 2.0 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)) / np.pi
    return error if error.ndim else error.item()
