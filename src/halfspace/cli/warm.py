"""`halfspace warm`: compile ahead what the commands use, once for this machine, in two processes.

`python -m halfspace.cli.warm` is the second process of a first `fit` (`beside.py`).
"""

import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any, NamedTuple

import click
import numpy as np
from scipy import sparse

from halfspace import __version__
from halfspace._dispatch import hearing_compilations
from halfspace._text import plural
from halfspace.cli.frame import NO_ANSWER, Answer
from halfspace.ladder import Ladder, RegressionLadder
from halfspace.models.planes.adatron import AdaTron
from halfspace.models.regression.relevance import RelevanceKernelClassifier
from halfspace.questions.leave_one_out import leave_one_out

__all__ = ["run"]

PROCESSES = 2
SPAM, HAM = b"Subject: win\n\nBuy now at http://a.example/\n", b"Subject: minutes\n\nSee you on Monday.\n"


class Warmed(NamedTuple):
    """What a job has compiled."""

    name: str
    functions: int
    seconds: float
    kept: bool


SIZES = (200, 450, 3_000)
"""Rows of tables that are solved in different ways."""


def _fit(X: Any, y: Any, rungs: tuple[str, ...] | None = None) -> None:
    """Climb rungs, all if none are named, as `fit` does, and predict."""
    kind = RegressionLadder if y.dtype.kind == "f" else Ladder
    kind(rungs=rungs, yardstick=False, novelty=True).fit(X, y).predict(X[:2])


def _rows(n: int, d: int) -> Any:
    return np.random.default_rng(0).normal(size=(n, d))


def _halves(X: Any) -> Any:
    """Return labels, shape (n,), that no plane tells apart and some noise disturbs."""
    return X[:, 0] * X[:, 1] + 0.5 * X[:, 2] + 0.3 * X[:, 3] > 0.0


def _classes() -> None:
    for n in SIZES:
        X = _rows(n, 4)
        _fit(X, _halves(X))
        leave_one_out(AdaTron(), X, _halves(X), max_time=20.0)
    X = _rows(SIZES[0], 4)
    _fit(X, np.digitize(X[:, 0] * X[:, 1], [-0.3, 0.3]))


def _numbers() -> None:
    for n in SIZES:
        X = _rows(n, 4)
        _fit(X, np.sin(2.0 * X[:, 0]) * X[:, 1])


def _later() -> None:
    """Do what a `fit` of some hundred rows does after its first rungs, backwards: the other process begins at the front."""
    X = _rows(SIZES[1], 20)
    y = X[:, 0] + 0.1 * X[:, 1] ** 3 > 0.0  # all but a few on the right side of a plane, as in most tables
    leave_one_out(AdaTron(), X, y, max_time=20.0)
    _fit(X, y, ("majority",))
    RelevanceKernelClassifier().fit(X, y)
    _fit(X, y, ("majority", "glvq", "gmlvq"))


def _sparse_rows() -> None:
    X = sparse.csr_matrix(np.where(_rows(200, 60) > 1.0, 1.0, 0.0))
    _fit(X, np.asarray(X @ _rows(60, 1)).ravel() > 0.0)


def _mail() -> None:
    from halfspace.mail import MailFilter  # noqa: PLC0415  (other jobs need none of it)

    messages = MailFilter()
    for message, label in ((SPAM, "spam"), (HAM, "ham")) * 2:
        messages.learn(message, label)
        messages.score(message)


JOBS: dict[str, Callable[[], None]] = {
    "classes": _classes,
    "numbers": _numbers,
    "sparse rows": _sparse_rows,
    "mail": _mail,
}


def _do(name: str) -> Warmed:
    """Do a job in this process and count what it compiled; Numba keeps it on disk."""
    began, compiled = time.perf_counter(), list[None]()
    with hearing_compilations(lambda: compiled.append(None)), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        JOBS[name]()
    kept = not any("cannot keep its compiled code" in str(warning.message) for warning in warned)
    return Warmed(name, len(compiled), time.perf_counter() - began, kept)


def run() -> Answer:
    """Do all jobs."""
    began, done = time.perf_counter(), list[Warmed]()
    with ProcessPoolExecutor(PROCESSES, get_context("spawn")) as pool:
        for ready in as_completed([pool.submit(_do, name) for name in JOBS]):
            done.append(job := ready.result())
            click.echo(f"{job.name}: {plural(job.functions, 'function')}, {job.seconds:.1f} s", err=True)
    seconds, functions = time.perf_counter() - began, sum(job.functions for job in done)
    body = {
        "command": "warm",
        "halfspace": __version__,
        "functions": functions,
        "seconds": seconds,
        "kept": all(job.kept for job in done),
        "jobs": [job._asdict() for job in done],
    }
    if not body["kept"]:
        return Answer(body, failure="nothing was kept: set NUMBA_CACHE_DIR to a folder that can be written", code=NO_ANSWER)
    if not functions:
        return Answer(body, f"Everything was compiled already ({seconds:.1f} s to make sure).")
    return Answer(body, f"Compiled {plural(functions, 'function')} in {seconds:.1f} s. Commands now start at once.")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    _later()
