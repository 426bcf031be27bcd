"""Many classes as two-class problems: each against the rest or each against each; what their answers say together."""

import sys
import warnings
from itertools import combinations
from typing import Annotated, Any, NamedTuple

import numpy as np

from halfspace._typing import FloatArray, IntArray, Label, Labels
from halfspace.certificates import Certificate, PerClass, PerPair
from halfspace.errors import GapWarning, InputError, NotSeparatedWarning
from halfspace.models.parameters import Examples
from halfspace.solvers.outcome import Outcome, Reason
from halfspace.solvers.run import Run

__all__ = [
    "Task",
    "certificate_of",
    "fit_outcome",
    "history_of",
    "pair_groups",
    "report_outcome",
    "support_table",
    "tasks_of",
    "votes",
]


class Task(NamedTuple):
    """One two-class problem: the examples it is about, their labels ±1 and weights, and the label that counts as +1."""

    rows: Annotated[IntArray, "i8(_r) in 0..n"]
    sign: Annotated[FloatArray, "f8(_r)"]
    s: Annotated[FloatArray, "f8(_r)"]
    positive: Annotated[Label, "label"]


def tasks_of(data: Examples, s: FloatArray, *, pairs: bool = False) -> list[Task]:
    """Return the two-class problems of a data set: each class against the rest, or each pair of classes."""
    labels: list[Label] = data.classes.tolist()
    absent = np.bincount(data.target[s > 0], minlength=data.classes.size) == 0
    if absent.any():
        msg = f"Every class needs an example of positive weight, but these have none: {data.classes[absent].tolist()}."
        raise InputError(msg)
    if not pairs or data.classes.size == 2:
        everyone = np.arange(data.y.size)
        return [Task(everyone, np.where(data.target == k, 1.0, -1.0), s, labels[k]) for k in data.positive]
    tasks = []
    for i, j in combinations(range(data.classes.size), 2):
        rows = np.flatnonzero((data.target == i) | (data.target == j))
        tasks.append(Task(rows, np.where(data.target[rows] == j, 1.0, -1.0), s[rows], labels[j]))
    return tasks


def pair_groups(data: Examples, rows: IntArray) -> tuple[tuple[IntArray, IntArray], ...]:
    """Return, of each class, which of these examples are in it, and the problems of pairs that it is part of."""
    pairs = np.array(list(combinations(range(data.classes.size), 2)))
    classes = range(data.classes.size)
    members = [np.flatnonzero(data.target[rows] == k) for k in classes]
    return tuple((members[k], np.flatnonzero((pairs == k).any(axis=1))) for k in classes if members[k].size)


def votes(scores: FloatArray, classes: int) -> FloatArray:
    """Turn the outputs of all pairs of classes into one number per class: its votes, ties broken by the sum of outputs."""
    pairs = np.array(list(combinations(range(classes), 2)))
    every = np.arange(classes)
    second, first = (pairs[:, 1:] == every).astype(float), (pairs[:, :1] == every).astype(float)
    won = (scores > 0).astype(float)
    total = scores @ (second - first)
    decided: FloatArray = won @ second + (1.0 - won) @ first + total / (3.0 * (np.abs(total) + 1.0))
    return decided


def certificate_of(data: Examples, parts: list[Any]) -> Certificate:
    """Return one certificate of the parts: of the only one, of each class, or of each pair of classes."""
    labels: tuple[Any, ...] = tuple(data.classes.tolist())
    if len(parts) == 1:
        only: Certificate = parts[0]
        return only
    if len(parts) == len(labels) and all(part.positive == label for part, label in zip(parts, labels, strict=True)):
        return PerClass(labels, tuple(parts))
    return PerPair(labels, tuple(combinations(range(len(labels)), 2)), tuple(parts))


def history_of(run: Run, unit: str, primal: float, dual: float) -> dict[str, FloatArray]:
    """Return the course of a run and the values of its answer, by name."""
    course = run.course.history()
    last = {"round": run.rounds, "seconds": run.seconds, "primal": primal, "dual": dual}
    return {unit if name == "round" else name: np.append(course[name], last[name]) for name in last}


def fit_outcome(model: Any, gap: float, reasons: list[Reason], unit: str, *, unseparated: str, about: str = "") -> Outcome:
    """Return how far a fit came, and what to do if that is not far enough.

    Parameters
    ----------
    model : estimator
        With `n_iter_` and `tol`.
    gap : float
        The widest certified relative gap; infinite where classes are not separated though they should be.
    reasons : list of str
        Why each problem's run ended.
    unit : str
        What an iteration is called.
    unseparated : str
        What to do if the classes are not separated.
    about : str
        What the answer is an answer to, if not to the problem that was asked; a sentence.
    """
    when = f"after {model.n_iter_} {unit}{'' if model.n_iter_ == 1 else 's'}"
    early: list[Reason] = [reason for reason in reasons if reason not in {"converged", "solved"}]
    reason: Reason = early[0] if early else "rounding limit reached"
    remedy = "warm_start=True goes on from here; raise max_iter or max_time, scale the features, or accept a larger tol."
    if "proved inseparable" in early:
        reason, sentence = "proved inseparable", f"Proved inseparable {when}: no plane separates these data without errors."
        remedy = "Use a finite C, which tolerates errors, or a feature map (PolynomialFeatures, Nystroem)."
    elif gap <= model.tol and "interrupted" in early:  # said all the same: a ladder or a search must hear of it
        reason, remedy = "interrupted", ""
        sentence = f"Interrupted {when}, with relative duality gap {gap:.2g} <= tol={model.tol:g}."
    elif gap <= model.tol:
        reason, sentence = "converged", f"Converged {when}: relative duality gap {gap:.2g} <= tol={model.tol:g}."
        remedy = ""
    elif np.isinf(gap):
        sentence, remedy = f"Stopped {when} ({reason}): no separation without errors was found.", unseparated
    elif reason == "rounding limit reached":
        sentence = f"Stopped {when} with relative duality gap {gap:.2g} > tol={model.tol:g}: rounding errors hide smaller gaps."
        remedy = "Use a larger tol or a smaller C, or scale the features."
    else:
        sentence = f"Stopped {when} ({reason}) with relative duality gap {gap:.2g} > tol={model.tol:g}."
    return Outcome(reason, f"{sentence} {about}".rstrip(), remedy)


def report_outcome(model: Any, gap: float, reasons: set[Reason], stacklevel: int) -> None:
    """Print the outcome if asked to, and warn at the caller's line if its reason is one of these."""
    outcome: Outcome = model.outcome_
    if model.verbose:
        sys.stderr.write(f"[{type(model).__name__}] {outcome}\n")
    if outcome.reason in reasons:
        kind = NotSeparatedWarning if np.isinf(gap) or outcome.reason == "proved inseparable" else GapWarning
        warnings.warn(f"{type(model).__name__}: {outcome}", kind, stacklevel=stacklevel + 1)


def support_table(
    alpha: FloatArray, E: FloatArray, length: FloatArray, caps: FloatArray, y: Labels, classes: list[Any], *, everyone: bool
) -> Any:
    """List examples with strength, stability, slack and role; a DataFrame if pandas is there, else a structured array."""
    parts: list[dict[str, Any]] = []
    for k, label in enumerate(classes):
        rows = np.arange(y.size) if everyone else np.flatnonzero(alpha[k] > 0)
        a, potential = alpha[k, rows], E[k, rows]
        role = np.where(a <= 0, "outside", np.where(a >= caps[rows], "capped", "free"))
        stability = potential / length[k] if length[k] > 0 else np.zeros(rows.size)
        slack = np.maximum(0.0, 1.0 - potential)
        columns = {"row": rows, "label": y[rows], "strength": a, "stability": stability, "slack": slack, "role": role}
        parts.append({"class": np.full(rows.size, label), **columns} if len(classes) > 1 else columns)
    table = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    try:
        import pandas as pd  # noqa: PLC0415  (optional)
    except ImportError:
        kinds = [(name, column.dtype) for name, column in table.items()]
        array = np.empty(table["row"].size, dtype=kinds)
        for name, column in table.items():
            array[name] = column
        return array
    return pd.DataFrame(table)
