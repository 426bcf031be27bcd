"""`halfspace fit`: read the data, climb the ladder, write the model and the report, print what was found."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from halfspace import __version__
from halfspace._memory import memory_limit
from halfspace._paths import is_lasting
from halfspace._text import listed, plural
from halfspace.cli.frame import INTERRUPTED, NO_ANSWER, Answer, clean, notes, refuse, seconds_left
from halfspace.cli.ladders import Watch, facts, summary
from halfspace.cli.origin import describe
from halfspace.cli.outputs import check_outputs
from halfspace.cli.reading import BUILT_IN, bytes_on_disk, labels, read_data
from halfspace.errors import FileError, ModelFileError
from halfspace.files import Dataset
from halfspace.ladder import Ladder, RegressionLadder
from halfspace.ladder.base import BaseLadder
from halfspace.ladder.measures import MEASURES
from halfspace.modelfiles import save
from halfspace.notes import sentences
from halfspace.report import write
from halfspace.report.claims import command
from halfspace.tables import TableEncoder

__all__ = ["Options", "run"]

WRITING = {False: 0.1, True: 1.0}
"""Seconds for the model file and the answer, without and with a report."""
DEMO_MODEL, DEMO_REPORT = "model.halfspace", "halfspace-report.html"


@dataclass(frozen=True)
class Options:
    """The options of the command line, by their names."""

    file: str | None = None
    target: str | None = None
    save: str | None = None
    report: str | None = None
    max_time: float | None = None
    max_memory: str | None = None
    kernel: str = "rbf"
    rungs: str | None = None
    task: str = "auto"
    score: str = "auto"
    positive: str | None = None
    cost: str | None = None
    threshold: str | None = None
    drop: str | None = None
    id_: str | None = None
    group: str | None = None
    time: str | None = None
    refit: bool = True
    yardstick: bool = True
    novelty: bool = True
    keep_text: str = "auto"
    scale: str = "standard"
    pca: float | int | None = None
    max_rows: int | None = None
    test_size: float = 0.2
    format_: str | None = None
    seed: int = 0

    @property
    def columns(self) -> dict[str, Any]:
        """Columns that are no inputs, as `read` takes them."""
        drop = tuple(name.strip() for name in self.drop.split(",")) if self.drop else ()
        return {"drop": drop, "id": self.id_, "group": self.group, "time": self.time}

    @property
    def model_path(self) -> str | None:
        """Path of the model file: the one asked for; without FILE a default for the demonstration."""
        return self.save or (DEMO_MODEL if self.file is None else None)

    @property
    def report_path(self) -> str | None:
        """Path of the report, by the same rule."""
        return self.report or (DEMO_REPORT if self.file is None else None)


def run(**given: Any) -> Answer:
    """Fit a ladder as the fields of `Options` say."""
    options = Options(**given)
    with memory_limit(options.max_memory, bytes_on_disk(options.file)):
        check_outputs([options.file], {"--save": options.model_path, "--report": options.report_path})
        sample = {"max_rows": options.max_rows, "random_state": options.seed}
        data = read_data(options.file, options.target, format=options.format_, task=options.task, **options.columns, **sample)
        notes(sentences(data.notes))
        ladder = _ladder(data, options)
        known = {"groups": data.groups, "times": data.times}
        with Watch(options.max_time) as ladder.on_progress:
            ladder.fit(
                data.X, labels(data, numbers=True), **{name: values for name, values in known.items() if values is not None}
            )
        return _answer(ladder, data, options)


def _ladder(data: Dataset, options: Options) -> BaseLadder:
    """Return the ladder that the target asks for, not yet fitted."""
    kind = RegressionLadder if data.task is not None and data.task.task == "regress" else Ladder
    known = [measure.name for measure in MEASURES.values() if measure.task == kind.task]
    if options.score not in {"auto", *known}:
        what = "numbers" if kind is RegressionLadder else "classes"
        refuse(f"--score {options.score} does not measure {what}; for these there are: {', '.join(known)}")
    named = {name: getattr(options, name) for name in ("positive", "cost", "threshold")}
    if kind is RegressionLadder:
        for name, value in named.items():
            if value is not None:
                refuse(f"--{name} is about classes, but the target holds numbers; leave it out, or use --task classify")
        named = {}
    return kind(
        rungs=_rungs(options.rungs, kind.plans),
        encoder=TableEncoder(scale=options.scale, keep_text={"yes": True, "no": False}.get(options.keep_text, "auto")),
        pca=options.pca,
        kernel=options.kernel,
        test_size=options.test_size,
        scoring=options.score,
        refit=options.refit,
        yardstick=options.yardstick,
        novelty=options.novelty,
        max_time=_for_climbing(options),
        curve=options.report_path is not None,
        random_state=options.seed,
        **named,
    )


def _answer(ladder: BaseLadder, data: Dataset, options: Options) -> Answer:
    """Write what was asked for, and return what there is to say."""
    ladder.on_progress = None
    ladder.origin_ = describe(ladder, data, options.columns, seed=options.seed, built_in=None if options.file else BUILT_IN)
    body = {
        "command": "fit",
        "halfspace": __version__,
        "data": {
            "source": data.source.name,
            "format": data.source.format,
            "target": data.target,
            "n_rows": int(data.n_rows),
            "n_used": int(data.rows.size),
            "n_columns": int(data.X.shape[1]),
        },
        **facts(ladder),
        "notes": sentences([*data.notes, *ladder.notes_]),
    }
    notes(sentences(ladder.notes_))
    written, failure = _write(ladder, options, data)
    body |= {**written, "recheck": _recheck(options, written["model"])} | ({"error": failure} if failure else {})
    interrupted = INTERRUPTED if ladder.outcome_.reason == "interrupted" else 0
    return Answer(body, _text(body, summary(ladder)), NO_ANSWER if failure else interrupted, failure=failure)


def _for_climbing(options: Options) -> float | None:
    """Return the time for the ladder, from now on: files are to be written and the answer printed afterwards."""
    left = seconds_left(options.max_time)
    return None if left is None else max(left - min(WRITING[options.report_path is not None], 0.2 * left), 1e-3)


def _rungs(names: str | None, known: Mapping[str, Any]) -> tuple[str, ...] | None:
    """Return the rungs named in `--rungs`."""
    if names is None:
        return None
    rungs = tuple(name.strip() for name in names.split(","))
    for name in rungs:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            refuse(f"--rungs: there is no rung {name!r}; {hint}The rungs are: {', '.join(known)}")
    return rungs


def _write(ladder: Any, options: Options, data: Dataset) -> tuple[dict[str, str | None], str]:
    """Write model and report; return where they are, and what went wrong: the table is printed all the same."""
    written: dict[str, str | None] = {"model": None, "report": None}
    failures = []
    if options.model_path:
        try:
            save(ladder, options.model_path)
            written["model"] = options.model_path
        except (OSError, ModelFileError) as error:
            failures.append(f"the model was not written to {options.model_path}: {_reason(error)}")
    if options.report_path:
        lasting = options.file is None or is_lasting(options.file)
        paths = {"model_path": written["model"], "file_path": options.file if lasting else "FILE"}
        try:
            write(ladder, data.X, labels(data, numbers=True), options.report_path, dataset=data, **paths)
            written["report"] = options.report_path
        except (OSError, FileError) as error:
            failures.append(f"the report was not written to {options.report_path}: {_reason(error)}")
    return written, "; ".join(failures)


def _reason(error: Exception) -> str:
    """Return the system's word for an error, or ours."""
    return getattr(error, "strerror", None) or str(error)


def _recheck(options: Options, model: str | None) -> str | None:
    """Return the command that checks the proof again, if there is a model file and a file to check it against."""
    if model is None or not (options.file is None or is_lasting(options.file)):
        return None
    form = f" --format {options.format_}" if options.format_ else ""
    return command(model, options.file, built_in=options.file is None) + form


def _text(body: dict[str, Any], found: str) -> str:
    """Return the answer for people."""
    data, classes = body["data"], body.get("classes")
    used = (
        f"{plural(data['n_used'], 'row')} of {data['n_rows']:,}"
        if data["n_used"] < data["n_rows"]
        else plural(data["n_rows"], "row")
    )
    what = f"{data['target']!r} as a number" if data["target"] else "numbers"
    named = what if classes is None else f"{plural(len(classes), 'class', 'classes')} ({listed(classes, 6, clean)})"
    parts = [f"{data['source']}: {used}, {plural(data['n_columns'], 'column')}, {named}", "", found]
    if body["recheck"]:
        parts.append(f"Check it: {body['recheck']}")
    elif body["model"] is None and "error" not in body:
        parts.append("Add --save MODEL to keep the model and its proof, --report HTML for a report.")
    parts += [f"{name}: {body[key]}" for name, key in (("Model", "model"), ("Report", "report")) if body[key]]
    return "\n".join(parts)
