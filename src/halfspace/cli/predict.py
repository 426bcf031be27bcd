"""`halfspace predict`: the rows of a file through a saved model, a batch at a time."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from typing import IO, Any

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
from halfspace.ladder.tasks import labels_of
from halfspace.modelfiles import load
from halfspace.notes import Note, sentences, total

__all__ = ["run"]

NUMBER_BYTES = 48
"""Bytes of an input or output of a row while it is predicted and written."""


def run(
    model: str,
    file: str,
    *,
    proba: bool = False,
    out: str | None = None,
    guard: bool = True,
    format_: str | None = None,
    max_memory: str | None = None,
    wants_json: bool = False,
) -> Answer:
    """Predict a file and write a table: to `out`, to standard output, or into the JSON object."""
    with memory_limit(max_memory, bytes_on_disk(file)):
        return _answer(model, file, out, format_, proba=proba, guard=guard, wants_json=wants_json)


def _answer(
    model: str, file: str, out: str | None, format_: str | None, *, proba: bool, guard: bool, wants_json: bool
) -> Answer:
    """Predict within the memory limit in force."""
    check_outputs([model, file], {"--out": out}, devices=True)
    fitted = load(model)
    if not hasattr(fitted, "predict"):
        refuse(f"{model} holds a {type(fitted).__name__}, which predicts nothing")
    if proba and not hasattr(fitted, "predict_proba"):
        refuse(f"{model} holds a {type(fitted).__name__}, which has no probabilities; leave out --proba")
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
            n_rows = 0
            for batch in batches:
                table = _predicted(fitted, batch, proba=proba, said=said)
                writer.write(without_formulas(table, said) if guard else table)
                n_rows += table.num_rows
            writer.close()
    body = {
        "command": "predict",
        "halfspace": __version__,
        "model": model,
        "classes": np.asarray(fitted.classes_).tolist(),
        "proba": proba,
        "n_rows": n_rows,
        "out": out,
        "notes": sentences(said),
    }
    notes(body["notes"])
    text = f"{out}: {plural(n_rows, 'row')} predicted" if out else ""
    return Answer(body, text, pieces=_object(body, spool) if spool else ())


def _batch_rows(fitted: Any) -> int:
    """Return how many rows to predict at a time: as many as there is room for, once encoded and with all their outputs."""
    groups = getattr(getattr(fitted, "encoder_", None), "groups_", ())
    inputs = groups[-1][2] if groups else getattr(fitted, "n_features_in_", 1)
    numbers = inputs + np.size(getattr(fitted, "classes_", ()))
    return max(1, min(BATCH_ROWS, room() // (NUMBER_BYTES * numbers)))


def _predicted(fitted: Any, batch: Any, *, proba: bool, said: list[Note]) -> pa.Table:
    """Return the predictions of one batch as a table."""
    if isinstance(fitted, Ladder):  # encoded once for both
        X, remarks = fitted.encoder_.transform_with_notes(_as_wide(_without_target(fitted, batch.X), fitted, said))
        said[:] = total([*said, *remarks])
        outputs = fitted.estimator_.decision_function(X)
        labels = labels_of(outputs, fitted.classes_)
        shares = fitted.calibration_.probabilities(outputs) if proba else None
    else:
        X = _as_wide(as_numbers(batch.X, getattr(fitted, "feature_names_in_", None)), fitted, said)
        labels = fitted.predict(X)
        shares = fitted.predict_proba(X) if proba else None
    columns = {"row": np.arange(batch.first, batch.first + len(labels)), "prediction": pa.array(labels.tolist())}
    if shares is not None:
        columns.update({f"probability_{label}": shares[:, k] for k, label in enumerate(fitted.classes_.tolist())})
    return pa.table(columns)


def _without_target(ladder: Ladder, X: Any) -> Any:
    """Return the columns without the labels, if the file has them: no note is needed for these."""
    target = getattr(ladder, "origin_", {}).get("target")
    named = target is not None and target in getattr(X, "column_names", ())
    return X.drop_columns([target]) if named and target not in ladder.encoder_.columns_ else X


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
