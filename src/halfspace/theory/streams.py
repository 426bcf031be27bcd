"""What the mistakes of a stream say about new examples.

Online     A learner sees n examples once, each drawn independently from one source, and answers before it is told the label. Of
           the n weight vectors that answered, the mean error on new examples is, with probability 1 - delta, at most
           M/n + sqrt(2 ln(1/delta)/n)  for M mistakes; its expectation is that of M/n, whatever the learner.
Compress   A perceptron that separates n examples is given back by the k of them it ever erred on, shown in the same order. If
           the order does not depend on the examples, its error e has, with probability 1 - delta,
           e <= 1 - exp(-(ln binom(n, k) + ln(n/delta))/(n - k)).
Reference  Cesa-Bianchi, Conconi and Gentile 2004, proposition 1; Littlestone and Warmuth 1986; of the perceptron Graepel,
           Herbrich and Williamson 2000.
"""

from math import expm1, lgamma, log, sqrt

from halfspace.errors import InputError
from halfspace.theory.arguments import whole

__all__ = ["compression_bound", "stream_bound"]


def stream_bound(mistakes: int, n: int, delta: float = 0.05) -> float:
    """Bound the mean error of the weights that a stream went through, from the mistakes made on it.

    M/n + sqrt(2 ln(1/delta)/n), with probability 1 - delta over a stream of independent examples (Cesa-Bianchi, Conconi and
    Gentile 2004, proposition 1). It is about weights picked at random among the n, or kept by a vote; for delta = 1 it is M/n,
    whose expectation is theirs.

    Parameters
    ----------
    mistakes : int
        Mistakes made on the stream, each example seen once.
    n : int
        Examples of the stream.
    delta : float, default 0.05
        Probability that the bound fails, above 0 and at most 1.

    Returns
    -------
    float
        The bound, at most 1.

    Examples
    --------
    >>> import halfspace as hs
    >>> round(hs.theory.stream_bound(100, 10_000), 4), hs.theory.stream_bound(100, 10_000, delta=1.0)
    (0.0345, 0.01)
    """
    mistakes, n = whole("stream_bound", "mistakes", mistakes), whole("stream_bound", "n", n, 1)
    delta = _probability("stream_bound", delta)
    return min(1.0, mistakes / n + sqrt(-2.0 * log(delta) / n))


def compression_bound(k: int, n: int, delta: float = 0.05) -> float:
    """Bound the error of a perceptron that separates n examples, by the number k of those it ever erred on.

    1 - exp(-(ln binom(n, k) + ln(n/delta))/(n - k)), with probability 1 - delta over n independent examples shown in an order
    that does not depend on them (Littlestone and Warmuth 1986; Graepel, Herbrich and Williamson 2000).

    Parameters
    ----------
    k : int
        Examples with a mistake, each counted once.
    n : int
        All examples.
    delta : float, default 0.05
        Probability that the bound fails, above 0 and at most 1.

    Returns
    -------
    float
        The bound; 1 if all examples were erred on.

    Examples
    --------
    >>> import halfspace as hs
    >>> round(hs.theory.compression_bound(20, 2000), 4), hs.theory.compression_bound(5, 5)
    (0.0589, 1.0)
    """
    k, n = whole("compression_bound", "k", k), whole("compression_bound", "n", n, 1)
    delta = _probability("compression_bound", delta)
    if k >= n:
        return 1.0
    ways = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    return -expm1(-(ways + log(n / delta)) / (n - k))


def _probability(owner: str, delta: float) -> float:
    """Refuse what is no probability above 0."""
    if isinstance(delta, bool) or not isinstance(delta, int | float) or not 0.0 < delta <= 1.0:
        msg = f"{owner}: 'delta' must be a probability above 0. Got {delta!r} instead."
        raise InputError(msg)
    return float(delta)
