"""`halfspace query`: which rows of a file to label next, by a saved model."""

from contextlib import closing
from typing import Any

import numpy as np
import pyarrow as pa

from halfspace import __version__
from halfspace._memory import memory_limit
from halfspace._text import plural
from halfspace.cli.frame import Answer, notes, refuse
from halfspace.cli.outputs import check_outputs, complete_file, writer_for
from halfspace.cli.predict import _as_wide, _without_target
from halfspace.cli.reading import as_numbers, bytes_on_disk, labels, read_data
from halfspace.files import stream
from halfspace.ladder import Ladder
from halfspace.ladder.base import BaseLadder
from halfspace.modelfiles import load
from halfspace.notes import Note, sentences
from halfspace.questions.query import Query, audit, query

__all__ = ["run"]

ALL = 1 << 31
"""More rows than a pool has."""


def run(
    model: str,
    file: str,
    *,
    k: int = 20,
    strategy: str = "margin",
    n_audit: int = 0,
    audited: str | None = None,
    labelled: str | None = None,
    target: str | None = None,
    out: str | None = None,
    format_: str | None = None,
    max_memory: str | None = None,
    seed: int = 0,
) -> Answer:
    """Choose rows; `audited` and `labelled` are files with labels."""
    check_outputs([model, file, audited, labelled], {"--out": out}, devices=True)
    with memory_limit(max_memory, bytes_on_disk(file)):
        fitted = load(model)
        if isinstance(fitted, BaseLadder) and not isinstance(fitted, Ladder):
            refuse(f"{model} predicts numbers; query is about classes")
        said: list[Note] = []
        target = target or getattr(fitted, "origin_", {}).get("target")
        pool = _pool(fitted, file, format_, said)
        known = None if labelled is None else _known(fitted, labelled, target, said)
        found = query(fitted, pool, k, strategy, labelled=known, n_audit=n_audit, random_state=seed)
        measured = None
        if audited is not None:
            X, y = _known(fitted, audited, target, said)
            measured = audit(y, fitted.predict(X))
    table = _table(found)
    if out:
        with complete_file(out) as opened:
            writer = writer_for(out, opened)
            writer.write(table)
            writer.close()
    body = {
        "command": "query",
        "halfspace": __version__,
        "model": model,
        "n_pool": found.n_pool,
        "unsure": found.unsure,
        "rows": table.to_pylist(),
        "audit": None if measured is None else {**vars(measured), "sentence": str(measured)},
        "advice": found.advice,
        "out": out,
        "notes": sentences(said),
    }
    notes(sentences(said))
    lines = [f"{out}: {plural(table.num_rows, 'row')}"] if out else _lines(table)
    return Answer(body, "\n".join([*lines, *([str(measured)] if measured else []), found.advice]))


def _pool(fitted: Any, file: str, format_: str | None, said: list[Note]) -> Any:
    """Return all rows of a file as the model takes them."""
    origin = getattr(fitted, "origin_", {})
    types = {"first_index": origin.get("first_index"), **{name: origin.get(name, ()) for name in ("texts", "day_first")}}
    with closing(stream(file, format=format_, batch_rows=ALL, **types)) as batches:
        first = next(batches, None)
    if first is None:
        refuse(f"{file} has no rows")
    return _as_taken(fitted, first.X, said)


def _known(fitted: Any, file: str, target: str | None, said: list[Note]) -> tuple[Any, Any]:
    """Return the rows of a file with labels, and these."""
    data = read_data(file, target)
    return _as_taken(fitted, data.X, said), labels(data)


def _as_taken(fitted: Any, X: Any, said: list[Note]) -> Any:
    """Return rows as the model takes them: with its columns, as numbers where it has no preprocessing of its own."""
    if isinstance(fitted, BaseLadder):
        return _as_wide(_without_target(fitted, X), fitted, said)
    return _as_wide(as_numbers(X, getattr(fitted, "feature_names_in_", None)), fitted, said)


def _table(found: Query) -> pa.Table:
    """Return the rows to label, those to ask first and then those of the audit."""
    rows, more = found.rows.tolist(), found.audit_rows.tolist()
    forced = [str(found.forced[row].label) if row in found.forced else None for row in rows]
    margins = [None if np.isnan(margin) else margin for margin in found.margins.tolist()]
    return pa.table(
        {
            "row": pa.array([*rows, *more], pa.int64()),
            "purpose": pa.array([*["label"] * len(rows), *["audit"] * len(more)]),
            "prediction": pa.array([*map(str, found.predicted.tolist()), *[None] * len(more)], pa.string()),
            "margin": pa.array([*margins, *[None] * len(more)], pa.float64()),
            "forced": pa.array([*forced, *[None] * len(more)], pa.string()),
            "reason": pa.array([*found.reasons, *["random"] * len(more)]),
        }
    )


def _lines(table: pa.Table) -> list[str]:
    """Return the rows for people."""
    return [
        f"row {one['row']}: " + (f"{one['prediction']}? {one['reason']}" if one["purpose"] == "label" else "audit")
        for one in table.to_pylist()
    ]
