"""`halfspace predict`: the rows of a file through a saved model, a batch at a time."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from typing import IO, Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy import sparse

from halfspace import __version__
from halfspace._memory import memory_limit, room
from halfspace._text import plural
from halfspace.cli.frame import Answer, as_json, notes, refuse
from halfspace.cli.outputs import check_outputs, complete_file, without_formulas, writer_for
from halfspace.cli.reading import as_numbers, bytes_on_disk
from halfspace.files import stream
from halfspace.files.reading import BATCH_ROWS
from halfspace.ladder import Ladder
from halfspace.ladder.base import BaseLadder
from halfspace.modelfiles import load
from halfspace.notes import Note, sentences, total

__all__ = ["run"]

NUMBER_BYTES = 48
"""Bytes of an input or output of a row while it is predicted and written."""


class Asked(NamedTuple):
    """What is asked for besides predictions: probabilities, p-values, and by their level an interval and a set."""

    proba: bool = False
    interval: float | None = None
    set_: float | None = None
    novelty: bool = False

    def check(self, fitted: Any, model: str) -> None:
        """Refuse what the model cannot answer."""
        kind = type(fitted).__name__
        if self.proba and not hasattr(fitted, "predict_proba"):
            refuse(f"{model} holds a {kind}, which has no probabilities; leave out --proba")
        if self.novelty and getattr(fitted, "novelty_", None) is None:
            refuse(f"{model} does not know what its training rows look like; fit a ladder with --novelty")
        for option, given, method in (("--interval", self.interval, "interval_of"), ("--set", self.set_, "set_of")):
            if given is not None and not hasattr(fitted, method):
                what = "a RegressionLadder, for numbers" if option == "--interval" else "a Ladder, for classes"
                refuse(f"{model} holds a {kind}; {option} needs {what}")
            if given is not None and getattr(fitted, "conformal_", None) is None:
                why = "".join(f": {note}" for note in fitted.notes_ if getattr(note, "kind", "") == "no guarantee")
                refuse(f"{model} was saved without the models of its folds, which {option} needs{why}")


def run(
    model: str,
    file: str,
    *,
    out: str | None = None,
    guard: bool = True,
    format_: str | None = None,
    max_memory: str | None = None,
    wants_json: bool = False,
    **asked: Any,
) -> Answer:
    """Predict a file and write a table: to `out`, to standard output, or into the JSON object."""
    with memory_limit(max_memory, bytes_on_disk(file)):
        return _answer(model, file, out, format_, Asked(**asked), guard=guard, wants_json=wants_json)


def _answer(
    model: str, file: str, out: str | None, format_: str | None, asked: Asked, *, guard: bool, wants_json: bool
) -> Answer:
    """Predict within the memory limit in force."""
    check_outputs([model, file], {"--out": out}, devices=True)
    fitted = load(model)
    if not hasattr(fitted, "predict"):
        refuse(f"{model} holds a {type(fitted).__name__}, which predicts nothing")
    asked.check(fitted, model)
    said: list[Note] = []
    origin = getattr(fitted, "origin_", {})
    types = {"first_index": origin.get("first_index"), **{name: origin.get(name, ()) for name in ("texts", "day_first")}}
    spool = tempfile.TemporaryFile() if wants_json and out is None else None  # noqa: SIM115  (closed when it was printed)
    place: AbstractContextManager[IO[bytes]] = complete_file(out) if out else nullcontext(spool or sys.stdout.buffer)
    name = out or ("rows.jsonl" if spool else "rows.csv")
    guard = guard and name.lower().endswith(".csv")
    with place as target:
        writer = writer_for(name, target)
        with closing(stream(file, format=format_, batch_rows=_batch_rows(fitted), **types)) as batches:
            n_rows, strange = 0, list[Any]()
            for batch in batches:
                table = _predicted(fitted, batch, asked, said, strange)
                writer.write(without_formulas(table, said) if guard else table)
                n_rows += table.num_rows
            writer.close()
    drift = fitted.novelty_.drift_of(np.concatenate(strange)) if strange else None
    if drift is not None and drift.found:
        said.append(Note("drift", detail=str(drift)))
    body = {
        "command": "predict",
        "halfspace": __version__,
        "model": model,
        "classes": np.asarray(fitted.classes_).tolist() if hasattr(fitted, "classes_") else None,
        "proba": asked.proba,
        "interval": asked.interval,
        "set": asked.set_,
        "drift": None if drift is None else drift._asdict(),
        "n_rows": n_rows,
        "out": out,
        "notes": sentences(said),
    }
    notes(sentences(said))
    text = f"{out}: {plural(n_rows, 'row')} predicted" if out else ""
    return Answer(body, text, pieces=_object(body, spool) if spool else ())


def _batch_rows(fitted: Any) -> int:
    """Return how many rows to predict at a time: as many as there is room for, once encoded and with all their outputs."""
    groups = getattr(getattr(fitted, "encoder_", None), "groups_", ())
    inputs = groups[-1][2] if groups else getattr(fitted, "n_features_in_", 1)
    numbers = inputs + np.size(getattr(fitted, "classes_", ()))
    return max(1, min(BATCH_ROWS, room() // (NUMBER_BYTES * numbers)))


def _predicted(fitted: Any, batch: Any, asked: Asked, said: list[Note], strange: list[Any]) -> pa.Table:
    """Return the predictions of one batch as a table; `strange` gets the p-values of its rows, where the model has them."""
    if isinstance(fitted, BaseLadder):
        X, remarks = fitted.encoder_.transform_with_notes(_as_wide(_without_target(fitted, batch.X), fitted, said))
        said[:] = total([*said, *remarks])
        answers = Answers(fitted, X)
    else:
        X = _as_wide(as_numbers(batch.X, getattr(fitted, "feature_names_in_", None)), fitted, said)
        answers = Answers(fitted, X)
    labels = answers.predictions()
    columns: dict[str, Any] = {"row": np.arange(batch.first, batch.first + len(labels))}
    name = getattr(fitted, "origin_", {}).get("roles", {}).get("id")
    if name is not None and name in getattr(batch.X, "column_names", ()):
        columns[name if name not in {"row", "prediction"} else f"id_{name}"] = batch.X[name]
    columns["prediction"] = pa.array(labels.tolist())
    if asked.proba:
        shares = answers.probabilities()
        columns.update({f"probability_{label}": shares[:, k] for k, label in enumerate(fitted.classes_.tolist())})
    if asked.interval is not None:
        ends = fitted.interval_of(X, asked.interval)
        columns |= {"low": ends[:, 0], "high": ends[:, 1]}
    if asked.set_ is not None:
        members, names = fitted.set_of(X, asked.set_), np.array([str(label) for label in fitted.classes_.tolist()])
        columns["set"] = pa.array(["|".join(names[row]) for row in members])
    if getattr(fitted, "novelty_", None) is not None:
        strange.append(fitted.novelty_.p_values(X))
        columns |= {"p_value": strange[-1]} if asked.novelty else {}
    return pa.table(columns)


class Answers:
    """What a model says about rows of numbers that were encoded once."""

    def __init__(self, fitted: Any, X: Any) -> None:
        self.fitted, self.X, self.outputs = fitted, X, None
        if isinstance(fitted, Ladder):
            self.outputs = fitted.estimator_.decision_function(X)

    def predictions(self) -> Any:
        """Return labels or numbers, shape (n,)."""
        if self.outputs is not None:
            return self.fitted.labels_of(self.outputs)
        inner = self.fitted.estimator_ if isinstance(self.fitted, BaseLadder) else self.fitted
        return inner.predict(self.X)

    def probabilities(self) -> Any:
        """Return the probabilities of the classes, shape (n, K)."""
        if self.outputs is not None:
            return self.fitted.calibration_.probabilities(self.outputs)
        return self.fitted.predict_proba(self.X)


def _without_target(ladder: BaseLadder, X: Any) -> Any:
    """Return the columns without the labels and those that are no inputs, if the file has them: no note is needed for these."""
    origin = getattr(ladder, "origin_", {})
    roles = origin.get("roles", {})
    named = {origin.get("target"), roles.get("id"), roles.get("group"), *roles.get("drop", ())}
    extra = [name for name in getattr(X, "column_names", ()) if name in named and name not in ladder.encoder_.columns_]
    return X.drop_columns(extra) if extra else X


def _as_wide(X: Any, fitted: Any, said: list[Note]) -> Any:
    """Return sparse rows with as many columns as the model knows: a file of them is as wide as its largest column number."""
    width = fitted.n_features_in_
    if not sparse.issparse(X) or X.shape[1] == width:  # tables find their columns by name
        return X
    if X.shape[1] > width:
        said[:] = total([*said, Note("too wide", detail=f"{width:,}")])
        return X[:, :width]
    return sparse.csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def _object(body: dict[str, Any], spool: IO[bytes]) -> Iterator[str]:
    """Yield the JSON object with the predictions that were spooled as lines."""
    with spool:
        spool.seek(0)
        yield as_json(body)[:-1] + ', "predictions": ['
        for place, line in enumerate(spool):
            yield (", " if place else "") + line.decode().rstrip("\n")
        yield "]}"
