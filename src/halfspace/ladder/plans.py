"""What a rung is: how it is climbed, what all rungs share, and what its certificate says in a few words."""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from halfspace import AdaTron, KernelAdaTron
from halfspace._text import number
from halfspace._typing import FloatArray, Matrix
from halfspace.certificates import (
    Certificate,
    GaussianPosterior,
    KernelRidgeCells,
    KernelRidgeClasses,
    KernelRidgeGap,
    LogSmearing,
    NeighbourMeans,
    PerCell,
    PerClass,
    PerPair,
    PrototypeErrors,
    RidgeGap,
    TargetMean,
)
from halfspace.errors import GapWarning, NotSeparatedWarning
from halfspace.ladder.components import behind

__all__ = ["Chosen", "Plan", "Setting", "describe", "kept_metric", "quietly", "widest_gap"]


class Setting(NamedTuple):
    """What all rungs share: class weights, whether classes count the same, kernel, threads, seed and time limit."""

    class_weight: Any = None
    balanced: bool = False  # parameters are chosen by balanced accuracy
    kernel: Any = "rbf"
    n_jobs: int | None = None
    seed: int = 0
    max_time: float | None = None  # seconds for one fit
    most_rows: int = 10_000  # beyond them kernel machines are cut into cells
    draws: tuple[FloatArray, ...] = ()  # what the searches of the folds have scored, to choose by them all, not by one more

    def left_of(self, began: float) -> float | None:
        """Return what is left of the time limit of a fit that began then, and a little at least."""
        spent = time.perf_counter() - began
        return None if self.max_time is None else max(self.max_time - spent, 0.1 * self.max_time)

    def common(self) -> dict[str, Any]:
        """Return the parameters that all rungs with iterations share."""
        return {"class_weight": self.class_weight, "max_time": self.max_time}


class Chosen(NamedTuple):
    """A model with the parameters that were chosen for it, to be fitted, or already `fitted` to the rows given."""

    model: Any
    params: dict[str, Any]
    fitted: bool = False
    draw: FloatArray | None = None  # the score of every point of the grid, if there was a search


@dataclass(frozen=True)
class Plan:
    """How a rung is climbed.

    Parameters
    ----------
    name, title : str
        For programs and for people.
    keeps : int
        Order of simplicity: the rung with the smaller number keeps less.
    choose : function
        `choose(X, y, setting, sample_weight=None)` returns a `Chosen`.
    sampled : bool
        Whether it learns from a sample when there are very many rows.
    celled : bool
        Whether the sample may be ten times as large, for it is cut into cells.
    least : int
        Training rows below which it is climbed only if requested by name.
    weighs : bool
        Whether it takes weights of examples.
    own : bool
        Whether its model says itself what it would answer for rows that it did not learn from (`unseen_`), so that one fit
        scores it. Rows of groups or in time, and components, are scored in folds all the same.
    seconds : function
        `seconds(X, tested, folds)` predicts how long so many fits to rows X and tests of so many others take, of a rung that
        knows no time limit.
    """

    name: str
    title: str
    keeps: int
    choose: Callable[..., Chosen]
    sampled: bool = False
    celled: bool = False
    least: int = 0
    weighs: bool = True
    own: bool = False
    seconds: Callable[[Matrix, int, int], float] = lambda _X, _tested, _folds: 0.0


def kept_metric(model: Any) -> Chosen:
    """Return a fitted relevance kernel machine whose parameters are the metric and the ridge that it found."""
    name = type(model.kernel_.kernel).__name__.lower()
    params = {"kernel": name, "scale": model.kernel_.scale, "ridge": float(model.ridge_)}
    return Chosen(model.set_params(kernel=model.kernel_, ridge=model.ridge_), params, fitted=True)


@contextmanager
def quietly() -> Iterator[None]:
    """Silence a fit's warnings about its gap or its mistakes: the ladder's table says it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotSeparatedWarning)
        warnings.simplefilter("ignore", GapWarning)
        yield


def widest_gap(model: Any) -> str:
    """Return the widest relative gap of a large-margin model in words; empty for others."""
    model = behind(model)
    if not isinstance(model, AdaTron | KernelAdaTron):
        return ""
    proof = model.certificate_
    if isinstance(proof, PerCell):
        return f"{len(proof.parts)} cells, gap {proof.relative_gap:.1e}"
    gaps = [part.relative_gap for part in getattr(proof, "parts", [proof]) if hasattr(part, "relative_gap")]
    return f"gap {max(gaps):.1e}" if gaps else ""


def describe(model: Any) -> tuple[int | None, str]:
    """Return the number of examples or prototypes a model holds, and its proof in a few words."""
    model = behind(model)
    proof = model.certificate_
    if isinstance(proof, PrototypeErrors):
        mistakes = f"{proof.errors:,} training error{'' if proof.errors == 1 else 's'}"
        return len(proof.prototype_labels), f"{mistakes}, half of the rows safe by {proof.median_radius:.2g}"
    support = model.support_.size if hasattr(model, "support_") else getattr(model, "target_", np.empty(0)).size or None
    parts = list(proof.parts) if isinstance(proof, PerClass | PerPair) else [proof]
    gap = widest_gap(model) or _about_numbers(proof)
    if gap:
        return support, gap
    errors = [part.backward_error for part in parts if hasattr(part, "backward_error")]
    if errors:
        return support, f"backward error {max(errors):.1e}"
    brackets: list[Any] = [getattr(part, "bracket", part) for part in parts]
    lowest = min((b for b in brackets if hasattr(b, "lower")), key=lambda b: float(b.lower), default=None)
    if lowest is not None:
        return support, f"margin in [{lowest.lower:.3g}, {lowest.upper:.3g}]"
    return support, str(proof)


def _about_numbers(proof: Certificate) -> str:
    """Return the proof of a model of numbers in a few words; empty for others."""
    if isinstance(proof, LogSmearing | KernelRidgeClasses):
        return _about_numbers(proof.part)
    if isinstance(proof, RidgeGap):
        return f"backward error {proof.backward_error:.1e}"
    if isinstance(proof, GaussianPosterior):
        return f"posterior to {proof.precision:.1g}"
    if isinstance(proof, KernelRidgeGap | KernelRidgeCells):
        cells = f"{len(proof.parts)} cells, " if isinstance(proof, KernelRidgeCells) else ""
        return f"{cells}relative gap {proof.relative_gap:.1e}"
    if isinstance(proof, TargetMean):
        return f"mean {number(proof.mean, 4)}"
    return f"left-out RMSE at most {number(proof.error, 4)}" if isinstance(proof, NeighbourMeans) else ""
