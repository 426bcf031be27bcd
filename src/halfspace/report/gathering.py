"""From a fitted ladder and its data to what a report says."""

from os import PathLike
from typing import Any

import numpy as np

import halfspace
from halfspace._typing import IntArray, Labels
from halfspace.errors import InputError
from halfspace.notes import Note, sentences
from halfspace.report import outputs
from halfspace.report.claims import claim, command
from halfspace.report.findings import Findings, LearningPoint
from halfspace.report.origin import MOST_ROWS, balance, contradictions
from halfspace.report.scores import MOST_CLASSES, rung_score, separations, test_score
from halfspace.report.texts import shown
from halfspace.report.winner import came_true, how_weighed, inputs_of, linear_weights, looked_at, stability

__all__ = ["gather"]


def gather(
    ladder: Any,
    X: Any,
    y: Labels,
    *,
    dataset: Any = None,
    model_path: str | PathLike[str] | None = None,
    file_path: str | PathLike[str] | None = None,
) -> Findings:
    """Collect what a report says about a fitted ladder, as plain numbers and strings.

    Parameters
    ----------
    ladder : Ladder
        Fitted.
    X : array, sparse matrix, data frame or pyarrow table, shape (n, d)
        The rows given to its `fit`, held-out ones included.
    y : array, shape (n,)
        Their labels.
    dataset : Dataset, optional
        What `halfspace.files.read` returned: names the file and numbers its rows.
    model_path, file_path : path, optional
        Model file and data file, for the command that checks the certificate.

    Returns
    -------
    Findings
        For `render`, or as JSON by `to_dict`.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y, *_ = hs.data.two_clouds(60, distance=6.0)
    >>> ladder = hs.Ladder(rungs=("majority", "perceptron")).fit(X, y)
    >>> findings = gather(ladder, X, y, model_path="m.halfspace", file_path="clouds.csv")
    >>> findings.claim.command
    'halfspace certify m.halfspace clouds.csv'
    """
    y = np.asarray(y)
    classes = ladder.classes_.tolist()
    truth = _class_numbers(ladder, X, y)
    file_rows = np.asarray(dataset.rows) if dataset is not None else np.arange(truth.size)
    train = np.asarray(ladder.train_)
    names, _ = inputs_of(ladder, X)
    check = command(model_path, file_path, built_in=dataset is not None and file_path is None)
    missing: dict[str, str] = {}
    coef, weighed = linear_weights(ladder), how_weighed(ladder)
    found = outputs.potentials(ladder.out_of_fold_, truth[train], coef)
    return Findings(
        verdict=str(ladder.verdict_),
        source=_source(dataset, file_path),
        n_rows=int(truth.size),
        n_train=int(train.size),
        n_test=int(np.size(ladder.test_)),
        n_columns=int(ladder.n_features_in_),
        n_inputs=len(names),
        n_classes=len(classes),
        winner=str(ladder.winner_),
        best=str(ladder.best_),
        scoring=str(ladder.scoring_),
        n_splits=int(ladder.n_splits_),
        n_repeats=int(ladder.n_repeats_),
        seconds=float(ladder.seconds_),
        outcome=str(ladder.outcome_),
        classes=tuple(shown(label) for label in classes[:MOST_CLASSES]),
        rungs=tuple(rung_score(rung) for rung in ladder.rungs_),
        balance=balance(classes, truth),
        contradictions=contradictions(ladder.encode, X, truth, file_rows),
        test=test_score(ladder.test_result_, classes),
        separability=separations(ladder.separability_, file_rows[train]),
        n_separable=sum(proof.verdict == "separable" for _, proof in ladder.separability_),
        n_asked=len(ladder.separability_),
        stability=stability(ladder, found, coef, missing),
        weighed=weighed,
        influence=looked_at(ladder, X, truth, weighed),
        hardest=outputs.hardest(found, classes, file_rows[train]) if ladder.winner_ != "majority" else (),
        reliability=came_true(ladder, truth[train], missing),
        learning_curve=tuple(LearningPoint(int(n), float(score), float(error)) for n, score, error in ladder.learning_curve_),
        claim=None if ladder.certificate_ is None else claim(ladder.certificate_, check),
        notes=_notes(ladder, dataset, truth.size),
        missing=missing,
        version=halfspace.__version__,
        seed=str(ladder.random_state),
    )


def _class_numbers(ladder: Any, X: Any, y: Labels) -> IntArray:
    """Return the class number of each row; refuse other data than the ladder was fitted to."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    fitted = int(np.size(ladder.train_) + np.size(ladder.test_))
    if not n == y.size == fitted:
        msg = (
            f"report expects the rows and labels given to Ladder.fit, {fitted:,} of them; got {n:,} rows and {y.size:,} labels."
        )
        raise InputError(msg)
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
