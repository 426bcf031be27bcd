"""From a fitted ladder and its data to what a report says."""

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse

import halfspace
from halfspace._text import shown
from halfspace._typing import IntArray, Labels, Matrix
from halfspace.errors import InputError
from halfspace.ladder.mislabelled import find_mislabelled
from halfspace.ladder.preparing import input_groups
from halfspace.notes import Note, sentences
from halfspace.questions.separability import renumbered
from halfspace.report import outputs
from halfspace.report.claims import claim, command
from halfspace.report.findings import Balance, Contradictions, Findings, Ranking
from halfspace.report.influence import find_influence, importances, linear_weights
from halfspace.report.numbers import find_numbers
from halfspace.report.overview import constant_score, draw_table, try_guarantee
from halfspace.report.theory import theory_of
from halfspace.rows.labels import positive_number
from halfspace.tables.columns import take

__all__ = ["balance", "contradictions", "gather"]

BATCH, MOST_ROWS = 16_384, 1_000_000
"""Rows encoded at a time, and rows that are compared at most."""
MOST_GROUPS, MOST_LABELS, MOST_OUTPUTS = 10, 10, 20_000


def gather(
    ladder: Any,
    X: Any,
    y: Labels,
    *,
    dataset: Any = None,
    model_path: str | PathLike[str] | None = None,
    file_path: str | PathLike[str] | None = None,
) -> Findings:
    """Collect what a report says about a fitted ladder.

    Parameters
    ----------
    ladder : Ladder or RegressionLadder
        Fitted.
    X : array, sparse matrix, data frame or pyarrow table, shape (n, d)
        The rows given to its `fit`, held-out ones included.
    y : array, shape (n,)
        Their labels or numbers.
    dataset : Dataset, optional
        What `halfspace.files.read` returned: names the file and numbers its rows.
    model_path, file_path : path, optional
        Model file and data file, for the command that checks the certificate.

    Returns
    -------
    Findings
        For `render`, or as JSON by `to_dict`.
    """
    y = np.asarray(y)
    _check_rows(ladder, X, y)
    file_rows = np.asarray(dataset.rows) if dataset is not None else np.arange(y.size)
    names, _ = input_groups(ladder.encoder_, ladder.encode(take(X, np.arange(1))).shape[1])
    check = command(model_path, file_path, built_in=dataset is not None and file_path is None)
    missing: dict[str, str] = {}
    about = (_about_numbers if ladder.task == "regress" else _about_classes)(ladder, X, y, names, file_rows, missing)
    trees, rung = getattr(ladder, "yardstick_", None), next(r for r in ladder.rungs_ if r.name == ladder.winner_)
    return Findings(
        verdict=str(ladder.verdict_),
        source=_source(dataset, file_path),
        n_rows=int(y.size),
        n_train=int(np.size(ladder.train_)),
        n_test=int(np.size(ladder.test_)),
        n_columns=int(ladder.n_features_in_),
        n_inputs=len(names),
        winner=str(ladder.winner_),
        best=str(ladder.best_),
        task=ladder.task,
        scoring=str(ladder.scoring_),
        n_splits=int(ladder.n_splits_),
        n_repeats=int(ladder.n_repeats_),
        seconds=float(ladder.seconds_),
        outcome=str(ladder.outcome_),
        rungs=ladder.rungs_,
        evidence="" if ladder.evidence_ is None else str(ladder.evidence_),
        baseline=constant_score(ladder, y),
        yardstick="" if trees is None else trees.sentence(rung, ladder.measure_),
        test=ladder.test_result_,
        learning_curve=ladder.learning_curve_,
        claim=None if ladder.certificate_ is None else claim(ladder.certificate_, check),
        guarantee=try_guarantee(ladder, X, y, missing),
        picture=draw_table(ladder, X, y, missing),
        notes=_notes(ladder, dataset, y.size),
        missing=missing,
        version=halfspace.__version__,
        seed=str(ladder.random_state),
        **about,
    )


def _about_numbers(ladder: Any, X: Any, y: Labels, names: list[str], file_rows: IntArray, _missing: Any) -> dict[str, Any]:
    """Return the fields that are about numbers."""
    y, importance = np.asarray(y, dtype=np.float64), importances(ladder, X, y)
    first = importance.names if importance is not None else ()
    columns = [name for name, a, b in input_groups(ladder.encoder_, len(names))[1] if b > a]
    columns.sort(key=lambda name: first.index(shown(name, 60)) if shown(name, 60) in first else len(first))
    return {"importance": importance, "numbers": find_numbers(ladder, X, y, names, columns, file_rows)}


def _about_classes(
    ladder: Any, X: Any, y: Labels, names: list[str], file_rows: IntArray, missing: dict[str, str]
) -> dict[str, Any]:
    """Return the fields that are about classes."""
    classes, train = ladder.classes_.tolist(), np.asarray(ladder.train_)
    truth = _class_numbers(ladder, y)
    coef = linear_weights(ladder)
    weighed, influence = find_influence(ladder, names)
    found = outputs.potentials(ladder.out_of_fold_, truth[train], coef)
    suspects = find_mislabelled(ladder.out_of_fold_, truth[train][: len(ladder.out_of_fold_)]).rows
    point = getattr(ladder, "operating_point_", None)
    return {
        "classes": tuple(shown(label) for label in classes),
        "balance": balance(classes, truth),
        "contradictions": contradictions(ladder.encode, X, truth, file_rows),
        "separability": tuple((shown(label), proof) for label, proof in renumbered(ladder.separability_, file_rows[train])),
        "theory": theory_of(ladder, ladder.encode(take(X, train)), truth[train]),
        "stability": outputs.stability(ladder, found, coef, missing),
        "importance": importances(ladder, X, y),
        "weighed": weighed,
        "influence": influence,
        "hardest": outputs.hardest(found, classes, file_rows[train], suspects) if ladder.winner_ != "majority" else (),
        "reliability": outputs.measure_reliability(ladder, truth[train], missing),
        "point": point,
        "operating": "" if point is None else point.sentence(ladder.classes_),
        "ranking": _ranking(ladder, truth),
    }


def _ranking(ladder: Any, truth: IntArray) -> Ranking | None:
    """Return outputs and truth of the positive one of two classes, of held-out rows or else out of fold."""
    if ladder.classes_.size != 2 or ladder.winner_ == "majority":
        return None
    k = positive_number(ladder.classes_, getattr(ladder, "positive", None))
    held = bool(np.size(ladder.test_outputs_))
    rows, f = (ladder.test_, ladder.test_outputs_) if held else (ladder.train_[: len(ladder.out_of_fold_)], ladder.out_of_fold_)
    known = np.flatnonzero(np.isfinite(f))
    if known.size > MOST_OUTPUTS:
        known = np.sort(np.random.default_rng(0).choice(known, MOST_OUTPUTS, replace=False))
    f, own = np.asarray(f)[known], truth[rows][known] == k
    return Ranking(shown(ladder.classes_.tolist()[k]), tuple((f if k else -f).tolist()), tuple(own.tolist()), held)


def _check_rows(ladder: Any, X: Any, y: Labels) -> None:
    """Refuse other data than the ladder was fitted to."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    fitted = int(np.size(ladder.train_) + np.size(ladder.test_))
    if not n == y.size == fitted:
        msg = (
            f"report expects the rows and targets given to {type(ladder).__name__}.fit, {fitted:,} of them; "
            f"got {n:,} rows and {y.size:,} targets."
        )
        raise InputError(msg)


def _class_numbers(ladder: Any, y: Labels) -> IntArray:
    """Return the class number of each row; refuse labels that the ladder does not know."""
    numbers = np.searchsorted(ladder.classes_, y).clip(max=len(ladder.classes_) - 1)
    unknown = np.flatnonzero(ladder.classes_[numbers] != y)
    if unknown.size:
        label = y[unknown].tolist()[0]
        msg = f"report expects the labels given to Ladder.fit; got {label!r} in row {unknown[0]}, which is not one of them."
        raise InputError(msg)
    return np.asarray(numbers, dtype=np.int64)


def _source(dataset: Any, file_path: str | PathLike[str] | None) -> str:
    """Name the data."""
    if dataset is not None:
        return shown(dataset.source.name, 120)
    return shown(file_path, 120) if file_path is not None else "data in memory"


def _notes(ladder: Any, dataset: Any, n: int) -> tuple[str, ...]:
    """Join the notes of the file, of the encoder and of the ladder, each once."""
    notes = [*(dataset.notes if dataset is not None else ()), *getattr(ladder.encoder_, "notes_", ()), *ladder.notes_]
    if n > MOST_ROWS:
        notes.append(Note("contradictions", count=MOST_ROWS))
    return tuple(sentences(notes))


def balance(classes: Sequence[object], truth: IntArray) -> Balance:
    """Count the rows of the ten largest classes."""
    counts = np.bincount(truth, minlength=len(classes))
    order = np.argsort(-counts, kind="stable")[:MOST_LABELS]
    labels = tuple(shown(classes[k]) for k in order)
    return Balance(labels, tuple(counts[order].tolist()), len(classes) - order.size)


def contradictions(encode: Callable[[Any], Matrix], X: Any, truth: IntArray, file_rows: IntArray) -> Contradictions:
    """Find rows that the model cannot tell apart but whose labels differ; it compares at most a million rows.

    `encode` turns rows into numbers; `truth` are class numbers, `file_rows` the rows in the file.
    """
    n = min(truth.size, MOST_ROWS)
    starts = range(0, n, BATCH)
    digests = [d for a in starts for d in _digests(encode(take(X, np.arange(a, min(a + BATCH, n)))))]
    _, group = np.unique(np.array(digests, dtype=np.uint64), return_inverse=True)
    low, high = np.full(n, len(truth)), np.full(n, -1)
    np.minimum.at(low, group, truth[:n])
    np.maximum.at(high, group, truth[:n])
    mixed = np.flatnonzero(low < high)
    rows = np.flatnonzero(np.isin(group, mixed))
    order = rows[np.argsort(group[rows], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(group[order])) + 1) if order.size else []
    first = sorted(tuple(file_rows[part].tolist()) for part in groups)[:MOST_GROUPS]
    return Contradictions(n_groups=len(groups), n_rows=int(rows.size), groups=tuple(first))


def _digests(encoded: Matrix) -> Iterator[int]:
    """Return a number for each row, the same for equal rows; two others agree with probability 2⁻⁶⁴."""
    if sparse.issparse(encoded):
        encoded = encoded.tocsr(copy=True)
        encoded.sum_duplicates()
        encoded.eliminate_zeros()
        columns = encoded.indices.astype(np.int64)
        ends = zip(encoded.indptr[:-1], encoded.indptr[1:], strict=True)
        pieces = (columns[a:b].tobytes() + encoded.data[a:b].tobytes() for a, b in ends)
    else:
        pieces = (row.tobytes() for row in np.asarray(encoded) + 0.0)  # -0.0 becomes 0.0
    for piece in pieces:
        yield int.from_bytes(blake2b(piece, digest_size=8).digest(), "little")
