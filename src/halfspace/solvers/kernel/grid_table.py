"""What a grid has shown: the point to choose, and a table of all."""

from typing import Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray
from halfspace.solvers.kernel.grid_search import GridRun

__all__ = ["Point", "chosen_point", "results_table"]


class Point(NamedTuple):
    """A point of the grid by the numbers of its width and cap, and its mean score."""

    width: int
    cap: int
    score: float


def chosen_point(run: GridRun, *, one_standard_error: bool) -> Point:
    """Return the point with the best mean score: of equals the smallest cap, then the smallest gamma.

    One standard error: the smallest cap that has a point within that of the best, and of its widths the best. If no point has
    all its folds, because the run was stopped, the mean is over those it has; if none has any, the middle of the grid is taken.
    """
    means, done = run.means(), np.isfinite(run.scores)
    if not done.any():
        if run.reason == "interrupted":
            raise KeyboardInterrupt
        return Point(means.shape[0] // 2, means.shape[1] // 2, float("nan"))
    if not np.isfinite(means).any():
        means = np.nansum(run.scores, axis=2) / np.where(done.any(axis=2), done.sum(axis=2), np.nan)
    known = np.where(np.isnan(means), -np.inf, means).T  # caps first
    cap, width = np.unravel_index(np.argmax(known), known.shape)
    folds = run.scores.shape[2]
    if one_standard_error and folds > 1:
        spare = np.nan_to_num(run.scores[width, cap].std(ddof=1) / np.sqrt(folds))
        cap = np.flatnonzero(known.max(axis=1) >= known[cap, width] - spare)[0]
        width = np.argmax(known[cap])
    return Point(int(width), int(cap), float(known[cap, width]))


def results_table(run: GridRun, gammas: FloatArray) -> dict[str, Any]:
    """Return what is known of every point, in scikit-learn's form: gammas (NaN: none) outside, caps inside."""
    points = gammas.size * run.Cs.size
    scores, gaps = run.scores.reshape(points, -1), run.gaps.reshape(points, -1)
    done = np.isfinite(scores)
    count = np.where(done.any(axis=1), done.sum(axis=1), np.nan)
    mean = np.nansum(scores, axis=1) / count
    spread = np.sqrt(np.nansum((scores - mean[:, None]) ** 2, axis=1) / count)
    Cs, widths = np.tile(run.Cs, gammas.size), np.repeat(gammas, run.Cs.size)
    best_first = np.where(np.isnan(mean), np.inf, -mean)
    pairs = zip(Cs.tolist(), widths.tolist(), strict=True)
    return {
        "params": [{"C": C} if np.isnan(gamma) else {"C": C, "gamma": gamma} for C, gamma in pairs],
        "param_C": Cs,
        "param_gamma": widths,
        **{f"split{fold}_test_score": scores[:, fold] for fold in range(scores.shape[1])},
        "mean_test_score": mean,
        "std_test_score": spread,
        "rank_test_score": 1 + np.searchsorted(np.sort(best_first), best_first),
        "skipped_folds": (~done).sum(axis=1),
        "reachable_score": np.where(done, scores, 1.0).mean(axis=1),
        "mean_gap": np.nansum(gaps, axis=1) / count,
        "steps": run.steps.reshape(points, -1).sum(axis=1),
    }
