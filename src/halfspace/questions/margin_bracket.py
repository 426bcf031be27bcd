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

__all__ = ["margin_bracket"]


def margin_bracket(
    X: Matrix, y: Labels, *, intercept: bool = True, tol: float = 1e-3, max_time: float | None = None
) -> MarginBracket:
    """Bracket the largest margin kappa* of any plane between two classes.

    Parameters
    ----------
    X : array or CSR matrix, shape (n, d)
        Examples.
    y : array, shape (n,)
        Labels of two classes, of any kind.
    intercept : bool, default True
        With a free bias, or homogeneous: planes through the origin only.
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
    if not isinstance(intercept, bool | np.bool_):
        msg = f"The 'intercept' parameter of margin_bracket must be True or False. Got {intercept!r} instead."
        raise InputError(msg)
    if np.unique(np.asarray(y)).size > 2:
        msg = "margin_bracket is a question about two classes. Ask for each class against the rest, e.g. y == label."
        raise InputError(msg)
    gap = 1.0 - (1.0 - float(tol)) ** 2  # values are inverse squares of margins
    model = AdaTron(C=np.inf, tol=gap, intercept="free" if intercept else "none", max_iter=10**9, max_time=max_time)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GapWarning)
        warnings.simplefilter("ignore", NotSeparatedWarning)
        model.fit(X, y)
    proof = model.certificate_
    strengths = _whole(proof.multipliers, model.alpha_.size) if isinstance(proof, Separability) else model.alpha_
    bias = float(model.intercept_[0]) if intercept else None
    positive = model.classes_[1:].tolist()[0]
    return MarginBracket.measure(X, y, weights=model.coef_[0], strengths=strengths, positive=positive, bias=bias)


def _whole(multipliers: dict[int, Fraction], n: int) -> FloatArray:
    """Return multipliers as floats, as whole numbers where floats hold these exactly."""
    common = math.lcm(*(share.denominator for share in multipliers.values()))
    exact = all(share * common < 2**53 for share in multipliers.values())
    strengths = np.zeros(n)
    for row, share in multipliers.items():
        strengths[row] = float(share * common) if exact else float(share)
    return strengths
