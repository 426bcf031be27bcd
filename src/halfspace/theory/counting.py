"""How many labelings a plane can separate.

Theorem    Of the 2^P labelings of P points in general position in N dimensions, planes through the origin separate
           C(P, N) = 2 Σ_{k<N} binom(P-1, k). For points in any position it is an upper bound, with the rank for N.
           All if P <= N, half if P = 2N. A bias is one more input that is always 1: count with N + 1.
Reference  Schläfli (1852), Winder (1961); Cover (1965), theorem 1.
"""

from fractions import Fraction

from halfspace.theory.arguments import whole

__all__ = ["count", "separable_share"]


def count(P: int, N: int) -> int:
    """Return how many labelings of P points in general position planes through the origin separate, exactly.

    C(P, N) = 2 Σ_{k<N} binom(P-1, k) (Cover 1965, theorem 1). Points in any position of rank N: at most so many.

    Parameters
    ----------
    P : int
        Number of points, at least 1.
    N : int
        Number of dimensions; one more if there is a bias.

    Returns
    -------
    int
        Number of the 2^P labelings; both labelings of one class only are among them.

    Examples
    --------
    >>> import halfspace as hs
    >>> hs.theory.count(4, 3), 2**4  # four points in the plane, with a bias: all but exclusive-or
    (14, 16)
    """
    P, N = whole("count", "P", P, 1), whole("count", "N", N)
    if N >= P:
        return 1 << P
    term = total = int(N > 0)
    for k in range(1, N):
        term = term * (P - k) // k
        total += term
    return 2 * total


def separable_share(P: int, N: int) -> Fraction:
    """Return the share of all labelings of P points that planes through the origin separate, exactly.

    C(P, N)/2^P: the probability that labels by tosses of a fair coin are separable (Cover 1965).

    Parameters
    ----------
    P : int
        Number of points, at least 1.
    N : int
        Number of dimensions; one more if there is a bias.

    Returns
    -------
    Fraction
        `float` of it is correctly rounded, however small.

    Examples
    --------
    >>> import halfspace as hs
    >>> hs.theory.separable_share(40, 20), float(hs.theory.separable_share(44, 20))
    (Fraction(1, 2), 0.271...)
    """
    return Fraction(count(P, N), 1 << whole("separable_share", "P", P, 1))
