"""Problems to try things on, without a download: bundled and typed-in data, the toy problems, and a table of customers."""

import csv
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from halfspace._typing import Labels
from halfspace.data import toys
from halfspace.data.tables import customers, hubble
from halfspace.errors import InputError

__all__ = ["Columns", "Problem", "make", "problems", "write_csv"]

Columns = dict[str, Labels]
"""Column name to values, shape (n,); text, numbers, bools or dates; missing: "", NaN, NaT."""


@dataclass(frozen=True)
class Problem:
    """A problem of the catalogue.

    Parameters
    ----------
    name, description : str
        What it is called, and what it is.
    kind : {"built-in", "generated"}
        Measured data, or generated at random.
    n_rows, n_columns, n_classes : int
        Size (for a generated one: unless asked otherwise), number of columns besides the target, and of classes; 0 if the
        target is a number.
    target : str
        The column to be predicted.
    """

    name: str
    kind: str
    description: str
    n_rows: int
    n_columns: int
    n_classes: int
    target: str


_BUILT_IN = (
    Problem("breast_cancer", "built-in", "Tumours measured under the microscope: malignant or benign", 569, 30, 2, "diagnosis"),
    Problem("iris", "built-in", "Irises of three species, by the size of sepals and petals", 150, 4, 3, "species"),
    Problem("wine", "built-in", "Wines of three cultivars, by chemical analysis", 178, 13, 3, "cultivar"),
    Problem("digits", "built-in", "Handwritten digits as pictures of 8 by 8 points", 1797, 64, 10, "digit"),
    Problem(
        "hubble",
        "built-in",
        "Nebulae of 1929: how fast do they recede, in km/s, at which distance in Mpc?",
        24,
        2,
        0,
        "velocity",
    ),
)
_GENERATED = (
    Problem("two_clouds", "generated", "Two round clouds that overlap a little", 200, 2, 2, "label"),
    Problem("xor", "generated", "The corners of a square, opposite ones alike: no line separates them", 4, 2, 2, "label"),
    Problem("rings", "generated", "One class on a ring around the other", 400, 2, 2, "label"),
    Problem("spirals", "generated", "Two spirals wound into each other", 194, 2, 2, "label"),
    Problem("checkerboard", "generated", "A chess board of 4 by 4 fields", 1000, 2, 2, "label"),
    Problem("teacher_student", "generated", "Points labelled by a plane, none nearer to it than 0.1", 200, 20, 2, "label"),
    Problem(
        "customers",
        "generated",
        "Who leaves? Numbers, categories, dates, missing values, an id, a constant, and rows that contradict each other",
        1000,
        11,
        2,
        "left",
    ),
)


def problems() -> tuple[Problem, ...]:
    """Return all problems of the catalogue.

    Examples
    --------
    >>> [problem.name for problem in problems()][:3]
    ['breast_cancer', 'iris', 'wine']
    """
    return _BUILT_IN + _GENERATED


def make(name: str, n: int | None = None, random_state: int = 0) -> tuple[Columns, str]:
    """Return the columns of a problem and the name of the target among them.

    Parameters
    ----------
    name : str
        One of `problems()`.
    n : int or None
        Number of rows, at least 4. Of a built-in problem, so many rows are drawn without replacement and kept in their order.
    random_state : int, default 0
        Seed of the drawing or the generator.

    Returns
    -------
    columns : dict of str to ndarray, shape (n,)
        The target is the last one.
    target : str
        Its name.
    """
    problem = _named(name)
    _check_rows(problem, n)
    columns = _built_in(problem, n, random_state) if problem.kind == "built-in" else _generated(problem, n, random_state)
    return columns, problem.target


def _named(name: str) -> Problem:
    """Find a problem by name; dashes count as underscores."""
    for problem in problems():
        if problem.name == name.replace("-", "_"):
            return problem
    known = ", ".join(problem.name for problem in problems())
    msg = f"make: there is no problem {name!r}. Give one of: {known}."
    raise InputError(msg)


def _check_rows(problem: Problem, n: int | None) -> None:
    """Refuse an impossible number of rows."""
    if n is None:
        return
    most = problem.n_rows if problem.kind == "built-in" else None
    if n < 4 or (most is not None and n > most):
        expected = "at least 4" if most is None else f"from 4 to {most:,}, as many as {problem.name} has"
        msg = f"make: 'n', the number of rows, must be {expected}. Got {n!r} instead."
        raise InputError(msg)


def _built_in(problem: Problem, n: int | None, random_state: int) -> Columns:
    """Return measured data, all of them or some rows."""
    columns = hubble() if problem.name == "hubble" else _bundled(problem)
    if n is None:
        return columns
    rows = np.sort(np.random.default_rng(random_state).choice(problem.n_rows, size=n, replace=False))
    return {name: values[rows] for name, values in columns.items()}


def _bundled(problem: Problem) -> Columns:
    """Load scikit-learn's data with their feature names, the labels as words where there are any."""
    from sklearn import datasets  # noqa: PLC0415 - slow to import, and the other problems do not need it

    bunch: Any = getattr(datasets, f"load_{problem.name}")()
    columns: Columns = {str(name): bunch.data[:, j] for j, name in enumerate(bunch.feature_names)}
    columns[problem.target] = np.asarray(bunch.target_names)[bunch.target]
    return columns


def _xor(n_examples: int, random_state: np.random.Generator) -> toys.Toy:
    """Return the four corners repeatedly; all but the first four with a little noise."""
    corners = toys.xor()
    which = np.arange(n_examples) % 4
    moved = 0.2 * random_state.standard_normal((n_examples, 2)) * (np.arange(n_examples) >= 4)[:, None]
    return toys.Toy(corners.X[which] + moved, corners.y[which])


_TOYS: dict[str, Callable[..., toys.Toy]] = {
    "two_clouds": toys.two_clouds,
    "xor": _xor,
    "rings": toys.rings,
    "spirals": toys.spirals,
    "checkerboard": toys.checkerboard,
    "teacher_student": partial(toys.teacher_student, margin=0.1),
}


def _generated(problem: Problem, n: int | None, random_state: int) -> Columns:
    """Generate a problem at random."""
    rng = np.random.default_rng(random_state)
    n_rows = problem.n_rows if n is None else n
    if problem.name == "customers":
        return customers(n_rows, rng)
    toy = _TOYS[problem.name](n_rows, random_state=rng)
    columns: Columns = {f"x{j}": toy.X[:, j] for j in range(toy.X.shape[1])}
    columns[problem.target] = toy.y
    return columns


def write_csv(name: str, to: str | Path | TextIO, n: int | None = None, random_state: int = 0) -> str:
    """Write a problem as CSV in UTF-8 with a header line, and return the name of the target column.

    Parameters
    ----------
    name, n, random_state
        As for `make`.
    to : str, Path or text file
        Where to write.
    """
    columns, target = make(name, n, random_state)
    with ExitStack() as stack:
        if isinstance(to, str | Path):
            file: TextIO = stack.enter_context(Path(to).open("w", encoding="utf-8", newline=""))
        else:
            file = to
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*map(_as_text, columns.values()), strict=True))
    return target


def _as_text(values: Labels) -> list[Any]:
    """Return a column as CSV has it: "" where missing, true and false, dates in ISO form, numbers in full."""
    if values.dtype.kind == "b":
        return np.where(values, "true", "false").tolist()
    if values.dtype.kind == "M":
        return np.where(np.isnat(values), "", np.datetime_as_string(values)).tolist()
    if values.dtype.kind == "f":
        return ["" if value != value else value for value in values.tolist()]  # noqa: PLR0124 - only NaN differs from itself
    return values.tolist()
