"""How far apart two classes are, without a model."""

import math
import warnings
from fractions import Fraction
from numbers import Real

import numpy as np

from halfspace._typing import FloatArray, Labels, Matrix
from halfspace.certificates.margins.bracket import MarginBracket
from halfspace.certificates.margins.separability import Separability
from halfspace.errors import GapWarning, InputError, NotSeparatedWarning
from halfspace.models.planes.adatron import AdaTron
from halfspace.questions.separability import read_intercept

__all__ = ["margin_bracket"]


def margin_bracket(
    X: Matrix, y: Labels, *, intercept: str = "free", tol: float = 1e-3, max_time: float | None = None
) -> MarginBracket:
    """Bracket the largest margin kappa* of any plane between two classes.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
        Examples.
    y : array, shape (n,)
        Labels of two classes, of any kind.
    intercept : {"free", "clamped", "none"}, default "free"
        A bias that costs nothing; one as the weight of a clamped input of 1, which counts in the length of the weights; or
        planes through the origin only. True and False are understood as "free" and "none", with a FutureWarning.
    tol : float, default 1e-3
        Relative width, (upper - lower) / upper, at which to stop.
    max_time : float, optional
        Time limit in seconds; the bracket is then as narrow as it has become.

    Returns
    -------
    MarginBracket
        `lower <= kappa* <= upper`, with the plane and the strengths that prove both sides. On inseparable data `lower` is
        negative and `upper` vanishes but for rounding; `separability` gives the exact proof.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.array([[1.0, 0.0], [2.0, 5.0], [5.0, 1.0]]), np.array([0, 0, 1])
    >>> bracket = hs.margin_bracket(X, y, tol=1e-6)
    >>> round(bracket.lower, 3), round(bracket.upper, 3), bool(bracket.verify(X, y))
    (1.863, 1.863, True)
    """
    if not isinstance(tol, Real) or isinstance(tol, bool) or not 0.0 < tol < 1.0:
        msg = f"The 'tol' parameter of margin_bracket must be a number between 0 and 1. Got {tol!r} instead."
        raise InputError(msg)
    kind = read_intercept(intercept, "margin_bracket")
    if np.unique(np.asarray(y)).size > 2:
        msg = "margin_bracket is a question about two classes. Ask for each class against the rest, e.g. y == label."
        raise InputError(msg)
    gap = 1.0 - (1.0 - float(tol)) ** 2  # values are inverse squares of margins
    model = AdaTron(C=np.inf, tol=gap, intercept=kind, max_iter=10**9, max_time=max_time)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        warnings.simplefilter("ignore", NotSeparatedWarning)
        model.fit(X, y)
    proof = model.certificate_
    strengths = _whole(proof.multipliers, model.alpha_.size) if isinstance(proof, Separability) else model.alpha_
    weights, bias, positive = model.coef_[0], float(model.intercept_[0]), model.classes_[1:].tolist()[0]
    if kind == "clamped":
        weights = np.append(weights, bias)
    return MarginBracket.measure(
        X,
        y,
        weights=weights,
        strengths=strengths,
        positive=positive,
        bias=bias if kind == "free" else None,
        clamp=float(kind == "clamped"),
    )


def _whole(multipliers: dict[int, Fraction], n: int) -> FloatArray:
    """Return multipliers as floats, as whole numbers where floats hold these exactly."""
    common = math.lcm(*(share.denominator for share in multipliers.values()))
    exact = all(share * common < 2**53 for share in multipliers.values())
    strengths = np.zeros(n)
    for row, share in multipliers.items():
        strengths[row] = float(share * common) if exact else float(share)
    return strengths
