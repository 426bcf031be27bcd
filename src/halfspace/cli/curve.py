"""`halfspace curve`: would more rows help, by a learning curve carried on beyond the rows of a file."""

import re
from typing import Any

import numpy as np

from halfspace import __version__
from halfspace._memory import memory_limit
from halfspace.cli.frame import Answer, notes, refuse, seconds_left
from halfspace.cli.outputs import check_outputs, complete_file
from halfspace.cli.reading import bytes_on_disk, labels, read_data
from halfspace.models.planes.adatron import AdaTron
from halfspace.notes import sentences
from halfspace.questions.learning_curve import LearningCurve
from halfspace.tables import TableEncoder

__all__ = ["run"]

CARRYING = 0.5
"""Seconds that carrying a curve on to a number of rows may take."""
MOST = 2000
"""Rows that the curve is measured on, at most: more say little about the shape and take long."""


def run(
    file: str,
    target: str | None = None,
    *,
    at: str = "10x",
    C: float = 0.1,
    repeats: int = 25,
    plot: str | None = None,
    max_time: float | None = None,
    max_memory: str | None = None,
    scale: str = "standard",
    format_: str | None = None,
    max_rows: int | None = None,
    seed: int = 0,
) -> Answer:
    """Measure the curve of a linear large-margin model and say what more rows would give."""
    check_outputs([file], {"--plot": plot})
    with memory_limit(max_memory, bytes_on_disk(file)):
        data = read_data(file, target, format=format_, max_rows=min(max_rows or MOST, MOST), random_state=seed)
        encoder = TableEncoder(scale=scale)
        X, y = encoder.fit(data.X).transform(data.X), labels(data)
        said = sentences([*data.notes, *encoder.notes_])
        notes(said)
        counts = _sizes(at, int(data.rows.size))
        left = seconds_left(max_time)
        seconds = None if left is None else max(left - min(CARRYING * len(counts), 0.5 * left), 1e-3)
        curve = LearningCurve(AdaTron(C=C, tol=1e-3), n_repeats=repeats, max_time=seconds, random_state=seed)
        curve.fit(X, y)
    found = [curve.predict(n) for n in counts]
    if plot:
        _draw(curve, plot)
    body: dict[str, Any] = {
        "command": "curve",
        "halfspace": __version__,
        "source": data.source.name,
        "target": data.target,
        "n_rows": int(data.n_rows),
        "n_used": int(data.rows.size),
        "repeats": curve.n_repeats_,
        "curve": [{"n": n, "error": error, "standard_error": spread} for n, error, spread in _measured(curve)],
        "predictions": [{**vars(one), "sentence": str(one), "record": one.record} for one in found],
        "plot": plot,
        "notes": said,
    }
    lines = [f"{n:,} rows: error {100 * error:.1f} ± {100 * spread:.1f} %" for n, error, spread in _measured(curve)]
    return Answer(body, "\n".join([*lines, *(f"{one} {one.record}" for one in found)]))


def _measured(curve: LearningCurve) -> list[tuple[int, float, float]]:
    """Return size, error and standard error of every point."""
    return list(zip(curve.sizes_.tolist(), curve.errors_.tolist(), curve.standard_errors_.tolist(), strict=True))


def _sizes(at: str, n: int) -> list[int]:
    """Return the numbers of rows asked for: whole numbers, or multiples such as 10x."""
    found = []
    for text in at.split(","):
        matched = re.fullmatch(r"(\d+(?:\.\d+)?)(x?)", text.strip())
        size = 0 if matched is None else int(np.rint(float(matched[1]) * (n if matched[2] else 1)))
        if size < 40:
            refuse(f"--at {text}: give a number of rows of at least 40, or a multiple of those there are, such as 10x")
        found.append(size)
    return found


def _draw(curve: LearningCurve, name: str) -> None:
    """Write the curve as a picture."""
    from halfspace.plots import ExtrapolationDisplay  # noqa: PLC0415  (matplotlib is an extra)

    display: Any = ExtrapolationDisplay.from_estimator(curve)
    suffix = name.rpartition(".")[2].lower()
    if suffix not in {"png", "svg", "pdf"}:
        refuse(f"--plot {name}: pictures are written as .png, .svg or .pdf")
    with complete_file(name) as file:
        display.figure_.savefig(file, format=suffix)
