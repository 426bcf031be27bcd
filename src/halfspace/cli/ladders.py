"""A ladder on the command line: its progress while it climbs, and what it found as JSON and as text."""

import sys
import time
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from halfspace._text import listed, number, plural, shown
from halfspace._typing import IntArray
from halfspace.certificates import PrincipalComponents
from halfspace.cli.frame import clean
from halfspace.cli.text import proof_of, shortened, table
from halfspace.ladder.values import Rung
from halfspace.notes import sentences
from halfspace.questions.separability import renumbered

__all__ = ["Watch", "facts", "summary"]

MOST_COLUMNS = 8
HEADS = ("±", "seen", "fit", "support", "proof or reason")
"""Heads of the table after those of the rung and its score; "seen" is the score on rows learnt from."""


COMPILING = "compiling once for this machine"
FUNCTIONS, WIDTH = 60, 20
"""About as many functions a first `fit` compiles itself, while a second process does the others; characters of the bar."""
IMPORTED, PER_IMPORT = time.process_time(), 5.0
"""Seconds of this process up to here, most of them for imports, and about as many times these are needed to compile."""


class Watch:
    """A callback of `Ladder` that shows its progress."""

    def __init__(self, max_time: float | None, stream: TextIO | None = None) -> None:
        self._max_time = max_time
        self._stream = stream or sys.stderr
        self._live: Live | None = None
        self._last: Any = None
        self._heard = 0.0
        self._compiled = 0
        self._listening = ExitStack()

    def __enter__(self) -> Self:
        from halfspace._dispatch import hearing_compilations  # noqa: PLC0415  (those who only read a model need no Numba)

        self._listening.enter_context(hearing_compilations(self._compiling))
        if self._stream.isatty():
            screen = Console(file=self._stream)
            self._live = Live(console=screen, transient=True, refresh_per_second=4, get_renderable=self._shown)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._listening.close()
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Any) -> None:
        """Show a `Progress` of the ladder."""
        self._last, self._heard = progress, time.perf_counter()
        if self._live is not None:
            self._live.refresh()
        elif progress.fold == 0:
            self._say(f"{progress.title}: {clean(progress.message)}" if progress.message else f"{progress.title} ...")
        elif progress.fold == progress.folds:
            self._say(
                f"{progress.title}: score {progress.score:.3f} after {progress.folds} folds, {progress.seconds:.1f} s in all"
            )

    def _compiling(self) -> None:
        """Count a function that is compiled; without a live line, say so once."""
        self._compiled += 1
        if self._compiled == 1 and self._live is None:
            self._say(f"{COMPILING}, about {PER_IMPORT * IMPORTED:.0f} s (`halfspace warm` does it ahead) ...")

    def _shown(self) -> Text:
        """Return the live line; its clock runs between one report and the next."""
        if self._last is None:
            return Text("preparing the rows")
        since = time.perf_counter() - self._heard
        return Text(self.line(self._last, since), overflow="ellipsis", no_wrap=True)

    def line(self, progress: Any, since: float = 0.0) -> str:
        """Return the live line, `since` seconds after the report: rung, fold, score so far, message, time, time left."""
        parts = [progress.title, f"fold {progress.fold}/{progress.folds}"]
        if progress.fold:
            parts.append(f"score {progress.score:.3f}")
        if progress.message:
            parts.append(clean(progress.message))
        if self._compiled:
            done = min(WIDTH * self._compiled // FUNCTIONS, WIDTH)
            parts.append(f"{COMPILING} {'█' * done}{'░' * (WIDTH - done)} about {PER_IMPORT * IMPORTED:.0f} s")
        spent = progress.seconds + since
        parts.append(f"{spent:.0f} s")
        if self._max_time is not None:
            parts.append(f"{max(0.0, self._max_time - spent):.0f} s left")
        return "  ".join(parts)

    def _say(self, line: str) -> None:
        """Write one line at once."""
        self._stream.write(line + "\n")
        self._stream.flush()


def facts(ladder: Any) -> dict[str, Any]:
    """Return what is known of a fitted ladder, without its weights."""
    outcome, test, proof = ladder.outcome_, ladder.test_result_, ladder.certificate_
    return {
        "verdict": ladder.verdict_,
        "winner": ladder.winner_,
        "best": ladder.best_,
        "scoring": ladder.scoring_,
        "n_splits": ladder.n_splits_,
        "n_repeats": ladder.n_repeats_,
        "n_train": int(ladder.train_.size),
        "n_test": int(ladder.test_.size),
        **({"classes": ladder.classes_.tolist()} if ladder.task == "classify" else {}),
        "task": ladder.task,
        "pca": _components(ladder),
        "refitted": bool(getattr(ladder, "refitted_", False)),
        "yardstick": None if getattr(ladder, "yardstick_", None) is None else vars(ladder.yardstick_),
        "evidence": None if getattr(ladder, "evidence_", None) is None else str(ladder.evidence_),
        "seconds": ladder.seconds_,
        "outcome": {"reason": outcome.reason, "sentence": outcome.sentence, "remedy": outcome.remedy},
        "rungs": [vars(rung) for rung in ladder.rungs_],
        "test": None if test is None else vars(test),
        "separability": [
            {"label": label, "verdict": found.verdict, "sentence": str(found)}
            for label, found in renumbered(getattr(ladder, "separability_", ()), _file_rows(ladder))
        ],
        "proof": proof_of(proof),
        "relevances": [{"column": name, "share": share} for name, share in ladder.relevances_],
        "notes": sentences(ladder.notes_),
    }


def _components(ladder: Any) -> dict[str, Any] | None:
    """Return how many principal components the winner sees, and what share of the variance they hold."""
    proof = ladder.certificate_
    if not isinstance(proof, PrincipalComponents):
        return None
    return {"components": len(proof.components), "share": proof.share}


def _file_rows(ladder: Any) -> IntArray:
    """Return the number in the file of each training row; without an origin, its number in what `fit` was given."""
    used = getattr(ladder, "origin_", {}).get("rows")
    train: IntArray = ladder.train_
    return train if used is None else used[train]


def summary(ladder: Any) -> str:
    """Return what is known of a fitted ladder as text: table, verdict, separability, proof."""
    rows = [_row(rung, ladder) for rung in ladder.rungs_]
    heads = ("rung", ladder.measure_.title, *HEADS)
    parts = [table(heads, rows, right="lrrrrrl"), "", ladder.verdict_]
    point = getattr(ladder, "operating_point_", None)
    if point is not None and not point.most_probable:
        parts.append(point.sentence(ladder.classes_))
    trees = getattr(ladder, "yardstick_", None)
    if trees is not None:
        parts.append(trees.sentence(next(rung for rung in ladder.rungs_ if rung.name == ladder.winner_), ladder.measure_))
    if ladder.outcome_.reason not in {"converged", "solved"}:
        parts.append(f"{ladder.outcome_.sentence} {ladder.outcome_.remedy}".strip())
    proofs = renumbered(getattr(ladder, "separability_", ()), _file_rows(ladder))
    if len(proofs) == 1:
        parts.append(f"The training rows are {proofs[0][1]}.")
    else:
        for verdict in ("separable", "inseparable", "undecided"):
            labels = [label for label, proof in proofs if proof.verdict == verdict]
            parts += [f"One class against the rest, {verdict}: {listed(labels, 10, clean)}."] if labels else []
    if ladder.relevances_:
        parts.append(f"The metric relies on {_relevances(ladder.relevances_)}.")
    return "\n".join([*parts, f"Proof: {shortened(str(ladder.certificate_))}"])


def _row(rung: Rung, ladder: Any) -> list[Any]:
    """Return one line of the ladder table."""
    name = f"{rung.title}  <- winner" if rung.name == ladder.winner_ else rung.title
    if rung.skipped:
        return [name, "-", None, None, None, None, f"skipped: {rung.skipped}"]
    remark = "; ".join(filter(None, (rung.proof, rung.chosen, rung.note)))
    scores = [_digits(value) for value in (rung.score, rung.error, rung.train_score)]
    return [name, *scores, f"{rung.fit_seconds:.2g} s", rung.support, remark]


def _digits(value: float) -> str:
    """Write a score with three decimals, large ones with four digits."""
    return f"{value:.3f}" if abs(value) < 100 else number(value)


def _relevances(found: tuple[tuple[str, float], ...]) -> str:
    """Name the columns of the largest shares of a metric."""
    most = [f"{shown(name)} ({100 * share:.0f} %)" for name, share in found[:MOST_COLUMNS]]
    rest = 100 * sum(share for _, share in found[MOST_COLUMNS:])
    others = len(found) - len(most)
    return ", ".join(most) + (f" and {plural(others, 'other column')} ({rest:.0f} %)" if others else "")
