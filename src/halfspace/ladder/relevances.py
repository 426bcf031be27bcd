"""Which columns the metric of a prototype classifier looks at."""

from typing import Any

import numpy as np

__all__ = ["by_column"]


def by_column(ladder: Any) -> tuple[tuple[str, float], ...]:
    """Return each column's share of the winner's relevances, largest first; empty if the winner has learnt no metric.

    A column that was encoded as several inputs has their sum. The inputs have been brought to a common scale by the encoder, so
    shares compare; a column can still be relevant and yet decide little where all classes agree in it.

    Parameters
    ----------
    ladder : Ladder
        Fitted.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> X = np.column_stack([rng.standard_normal(200), 3.0 * y + rng.standard_normal(200)])
    >>> ladder = hs.Ladder(rungs=["gmlvq"], n_splits=2, curve=False).fit(X, y)
    >>> [name for name, _ in by_column(ladder)], round(sum(share for _, share in by_column(ladder)), 12)
    (['x1', 'x0'], 1.0)
    """
    found = getattr(ladder.estimator_, "relevances_", None)
    if found is None:
        return ()
    shares = np.atleast_2d(found).mean(axis=0)
    encoder = ladder.encoder_
    groups = getattr(encoder, "groups_", None)
    if groups is None:
        known = hasattr(encoder, "get_feature_names_out")
        names = encoder.get_feature_names_out() if known else [f"x{k}" for k in range(shares.size)]
        groups = [(str(name), k, k + 1) for k, name in enumerate(names)]
    sums = [(str(name), float(shares[a:b].sum())) for name, a, b in groups if b > a]
    return tuple(sorted(sums, key=lambda column: -column[1]))
