"""`halfspace fit`: read, climb, write the model and the report, say what was found."""

import difflib
import shlex
from dataclasses import dataclass
from typing import Any

from halfspace import __version__
from halfspace._text import listed, plural
from halfspace.cli.answers import Answer, clean, notes
from halfspace.cli.frame import refuse
from halfspace.cli.ladders import facts, summary
from halfspace.cli.origin import describe
from halfspace.cli.outputs import check_outputs
from halfspace.cli.progress import Watch
from halfspace.cli.reading import BUILT_IN, labels, read_data
from halfspace.errors import FileError, ModelFileError
from halfspace.files import Dataset
from halfspace.ladder import Ladder
from halfspace.ladder.rungs import RUNGS
from halfspace.modelfiles import save
from halfspace.notes import sentences
from halfspace.report import write
from halfspace.tables import TableEncoder

__all__ = ["Asked", "run"]

DEMO_MODEL, DEMO_REPORT = "model.halfspace", "halfspace-report.html"


@dataclass(frozen=True)
class Asked:
    """What was asked for on the command line; the names are those of the options."""

    file: str | None = None
    target: str | None = None
    save: str | None = None
    report: str | None = None
    max_time: float | None = None
    kernel: str = "rbf"
    rungs: str | None = None
    scale: str = "standard"
    max_rows: int | None = None
    test_size: float = 0.2
    format_: str | None = None
    seed: int = 0

    @property
    def model_path(self) -> str | None:
        """Where the model goes: only where it is asked for, but in the demonstration without a file."""
        return self.save or (DEMO_MODEL if self.file is None else None)

    @property
    def report_path(self) -> str | None:
        """Where the report goes, by the same rule."""
        return self.report or (DEMO_REPORT if self.file is None else None)


def run(**options: Any) -> Answer:
    """Fit a ladder as the options of `Asked` say.

    Examples
    --------
    >>> import contextlib, io, os, tempfile
    >>> with contextlib.chdir(tempfile.mkdtemp()), contextlib.redirect_stderr(io.StringIO()):
    ...     answer = run(rungs="majority", max_rows=80)
    ...     sorted(os.listdir("."))
    ['halfspace-report.html', 'model.halfspace']
    >>> answer.body["winner"], answer.body["recheck"]
    ('majority', 'halfspace certify model.halfspace')
    """
    asked = Asked(**options)
    check_outputs([asked.file], {"--save": asked.model_path, "--report": asked.report_path})
    data = read_data(asked.file, asked.target, format=asked.format_, max_rows=asked.max_rows, random_state=asked.seed)
    notes(sentences(data.notes))
    ladder = _climb(asked, data)
    body = {
        "command": "fit",
        "halfspace": __version__,
        "data": _about(data),
        **facts(ladder),
        "notes": sentences([*data.notes, *ladder.notes_]),
        "model": asked.model_path,
        "report": asked.report_path,
        "recheck": _recheck(asked),
    }
    notes(sentences(ladder.notes_))
    failure = _write(ladder, asked, data)
    return Answer({**body, **({"error": failure} if failure else {})}, _text(body), 2 if failure else 0, failure=failure)


def _rungs(names: str | None) -> tuple[str, ...] | None:
    """Return the rungs that were asked for."""
    if names is None:
        return None
    rungs = tuple(name.strip() for name in names.split(","))
    for name in rungs:
        if name not in RUNGS:
            close = difflib.get_close_matches(name, RUNGS, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            refuse(f"--rungs: there is no rung {name!r}; {hint}The rungs are: {', '.join(RUNGS)}")
    return rungs


def _climb(asked: Asked, data: Dataset) -> Any:
    """Fit the ladder, with its progress on standard error."""
    rungs = _rungs(asked.rungs)
    with Watch(asked.max_time) as watch:
        ladder = Ladder(
            rungs=rungs,
            encoder=TableEncoder(scale=asked.scale),
            kernel=asked.kernel,
            test_size=asked.test_size,
            max_time=asked.max_time,
            curve=asked.report_path is not None,
            on_progress=watch,
            random_state=asked.seed,
        ).fit(data.X, labels(data))
    ladder.on_progress = None
    ladder.origin_ = describe(ladder, data, seed=asked.seed, built_in=BUILT_IN if asked.file is None else None)
    return ladder


def _write(ladder: Any, asked: Asked, data: Dataset) -> str:
    """Write model and report; return what went wrong, since a climb of minutes is worth its table all the same."""
    failures = []
    if asked.model_path:
        try:
            save(ladder, asked.model_path)
        except (OSError, ModelFileError) as error:
            failures.append(f"the model was not written to {asked.model_path}: {_reason(error)}")
    if asked.report_path:
        model_path = None if failures else asked.model_path
        try:
            write(ladder, data.X, labels(data), asked.report_path, dataset=data, model_path=model_path, file_path=asked.file)
        except (OSError, FileError) as error:
            failures.append(f"the report was not written to {asked.report_path}: {_reason(error)}")
    return "; ".join(failures)


def _reason(error: Exception) -> str:
    """Return the system's word for an error, or ours."""
    return getattr(error, "strerror", None) or str(error)


def _about(data: Dataset) -> dict[str, Any]:
    """Describe what was read."""
    source = data.source
    return {
        "source": source.name,
        "format": source.format,
        "target": data.target,
        "n_rows": int(data.n_rows),
        "n_used": int(data.rows.size),
        "n_columns": int(data.X.shape[1]),
    }


def _recheck(asked: Asked) -> str | None:
    """Return the command that checks the proof again, if there is a model file and a file to check it against."""
    if asked.model_path is None or asked.file == "-":
        return None
    file = [asked.file] if asked.file else []
    form = ["--format", asked.format_] if asked.format_ else []
    return shlex.join(["halfspace", "certify", asked.model_path, *file, *form])


def _text(body: dict[str, Any]) -> str:
    """Return the answer for people."""
    data, classes = body["data"], body["classes"]
    used = (
        f"{plural(data['n_used'], 'row')} of {data['n_rows']:,}"
        if data["n_used"] < data["n_rows"]
        else plural(data["n_rows"], "row")
    )
    named = f"{plural(len(classes), 'class', 'classes')} ({listed(classes, 6, clean)})"
    parts = [f"{data['source']}: {used}, {plural(data['n_columns'], 'column')}, {named}", "", summary(body)]
    if body["recheck"]:
        parts.append(f"Check it: {body['recheck']}")
    elif body["model"] is None:
        parts.append("Add --save MODEL to keep the model and its proof, --report HTML for a report.")
    parts += [f"{name}: {body[key]}" for name, key in (("Model", "model"), ("Report", "report")) if body[key]]
    return "\n".join(parts)
