"""What the folds said about rows they did not see: potentials, hard examples, and whether probabilities come true.

The potential of a row is y f(x) with two classes, and with more the output of its own class less that of its strongest
rival: positive if and only if the row is classified correctly. For planes it is divided by ‖w‖, or by the length of the
difference of the two weights, and is then the distance of the row from the boundary: its stability.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfspace._text import shown
from halfspace._typing import FloatArray, IntArray
from halfspace.report.findings import Example, Histogram, ReliabilityBin

__all__ = ["Potentials", "hardest", "histogram", "measure_reliability", "potentials", "reliability", "stability"]

BINS = 30
TAIL = 0.002
"""Share of the rows at either end that may be counted in the outermost bars, so that a few do not squeeze the rest."""
MOST_EXAMPLES = 15
LEAST_RELIABLE, MOST_RELIABLE = 30, 100_000
"""Fewer rows give no reliability curve; of more outputs than this a sample of the rows does."""


@dataclass(frozen=True)
class Potentials:
    """Potentials of the training rows that have one.

    Parameters
    ----------
    E : ndarray, shape (m,)
        The potentials.
    rows : ndarray, shape (m,)
        Which of the training rows these are.
    truth, predicted : ndarray, shape (m,)
        Class numbers.
    """

    E: FloatArray
    rows: IntArray
    truth: IntArray
    predicted: IntArray


def potentials(outputs: FloatArray, truth: IntArray, coef: FloatArray | None) -> Potentials:
    """Measure the potentials of outputs, shape (n,) or (n, K), by class numbers (n,) and the winner's weights, if any."""
    outputs = np.asarray(outputs, dtype=np.float64)
    rows = np.flatnonzero(np.isfinite(outputs).all(axis=tuple(range(1, outputs.ndim))))
    f, truth = outputs[rows], truth[rows]
    if f.ndim == 1:
        E = np.where(truth == 1, f, -f) / (_length(coef[0]) if coef is not None else 1.0)
        return Potentials(E, rows, truth, (f > 0).astype(np.int64))
    own = f[np.arange(rows.size), truth]
    others = f.copy()
    others[np.arange(rows.size), truth] = -np.inf
    rivals = others.argmax(axis=1) if rows.size else truth
    E = own - others.max(axis=1, initial=-np.inf)
    if coef is not None and len(coef) == f.shape[1]:
        E = E / _pair_lengths(coef)[truth, rivals]
    return Potentials(E, rows, truth, f.argmax(axis=1).astype(np.int64))


def _length(w: FloatArray) -> float:
    """Return ‖w‖, or 1 for weights of zero."""
    return float(np.linalg.norm(w)) or 1.0


def _pair_lengths(W: FloatArray) -> FloatArray:
    """Return ‖w_j - w_k‖ for all pairs of rows, 1 where that is zero."""
    squares = (W * W).sum(axis=1)
    lengths: FloatArray = np.sqrt(np.maximum(squares[:, None] + squares - 2 * (W @ W.T), 0.0))
    return np.where(lengths > 0, lengths, 1.0)


def histogram(found: Potentials, support: IntArray | None, quantity: str) -> Histogram | None:
    """Count the potentials in bars of equal width that meet at 0, and among them the support vectors (training rows)."""
    if not found.E.size or np.ptp(found.E) == 0:
        return None
    low, high = (min(np.quantile(found.E, TAIL), 0.0), max(np.quantile(found.E, 1 - TAIL), 0.0))
    step = (high - low) / BINS
    edges = step * np.arange(np.floor(low / step), np.ceil(high / step) + 1)
    inside = np.clip(found.E, edges[0], edges[-1])
    marked = np.isin(found.rows, support if support is not None else [])
    return Histogram(
        quantity=quantity,
        edges=tuple(edges.tolist()),
        counts=tuple(np.histogram(inside, edges)[0].tolist()),
        support=tuple(np.histogram(inside[marked], edges)[0].tolist()) if support is not None else (),
        n_wrong=int(np.count_nonzero(found.predicted != found.truth)),
        n=int(found.E.size),
    )


def hardest(
    found: Potentials, classes: Sequence[object], file_rows: IntArray, suspects: IntArray | None = None
) -> tuple[Example, ...]:
    """List the rows of lowest potential; suspect are those of which there is evidence that their labels are wrong."""
    order = np.argsort(found.E, kind="stable")[:MOST_EXAMPLES]
    suspect = np.isin(found.rows, [] if suspects is None else suspects)
    return tuple(
        Example(
            row=int(file_rows[found.rows[i]]),
            label=shown(classes[found.truth[i]]),
            predicted=shown(classes[found.predicted[i]]),
            potential=float(found.E[i]),
            suspect=bool(suspect[i]),
        )
        for i in order
    )


def reliability(probability: FloatArray, true: FloatArray, bins: int = 10) -> tuple[ReliabilityBin, ...]:
    """Compare probabilities (n,) with how often they came true (n,), in bins of equal counts."""
    order = np.argsort(probability, kind="stable")
    p, hits = probability[order], true[order]
    if not p.size:
        return ()
    starts = np.unique(np.searchsorted(p, p[np.arange(bins) * p.size // bins]))  # equal probabilities stay together
    parts = np.split(np.arange(p.size), starts[1:])
    return tuple(ReliabilityBin(float(p[part].mean()), float(hits[part].mean()), int(part.size)) for part in parts)


def stability(ladder: Any, found: Potentials, coef: FloatArray | None, missing: dict[str, str]) -> Histogram | None:
    """Return the histogram of potentials, with the support vectors; where there is none, `missing` gets the reason."""
    distance = "distance from the boundary" if coef is not None else "potential"
    if ladder.winner_ == "majority":
        missing["stability"] = "The majority class gives every row the same output."
        return None
    bars = histogram(found, _support(ladder), distance)
    if bars is None:
        missing["stability"] = "There are no out-of-fold outputs, or they are all equal."
    return bars


def _support(ladder: Any) -> IntArray | None:
    """Return which training rows the winner rests on; None where it rests on all, or on none."""
    alpha = getattr(ladder.estimator_, "alpha_", None)
    if ladder.winner_ == "adaline" or alpha is None or np.ndim(alpha) == 0 or np.shape(alpha)[-1] != np.size(ladder.learnt_):
        return None
    held = np.asarray(ladder.learnt_)[np.any(np.atleast_2d(alpha) != 0, axis=0)]
    return np.flatnonzero(np.isin(ladder.train_, held))


def measure_reliability(ladder: Any, truth: IntArray, missing: dict[str, str]) -> tuple[ReliabilityBin, ...]:
    """Compare calibrated out-of-fold probabilities with the truth; each fifth is calibrated on the other four."""
    f, rng = np.asarray(ladder.out_of_fold_, dtype=np.float64), np.random.default_rng(0)
    seen = np.flatnonzero(np.isfinite(f).all(axis=tuple(range(1, f.ndim))))
    if seen.size < LEAST_RELIABLE or ladder.winner_ == "majority":
        missing["reliability"] = (
            f"A reliability curve needs a winner that looks at the rows, and at least {LEAST_RELIABLE} of them."
        )
        return ()
    seen = rng.permutation(seen)[: max(MOST_RELIABLE // (f.size // len(f)), LEAST_RELIABLE)]
    f, truth, part = f[seen], truth[seen], np.arange(seen.size) % 5
    kind = type(ladder.calibration_)
    P = np.concatenate([kind.of(f[part != k], truth[part != k]).probabilities(f[part == k]) for k in range(5)])
    truth = np.concatenate([truth[part == k] for k in range(5)])
    if f.ndim == 1:
        return reliability(P[:, 1], (truth == 1).astype(np.float64))
    return reliability(P.max(axis=1), (P.argmax(axis=1) == truth).astype(np.float64))
