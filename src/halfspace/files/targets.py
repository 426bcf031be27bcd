"""Targets: which column holds what is to be predicted, whether that is classes or numbers, and labels from its values.

Task     `task_of` decides by the values, once for the command and for Python:

         text, true and false, two different values      classes
         up to 5 different numbers                       classes, if there are 3 rows of each on average: ratings 1 to 5
         up to 10 different whole numbers                classes, if there are 3 rows of every one: digits; few of some: counts
         more different whole numbers                    classes, if they are codes: 0, 1, 2, ... or 1, 2, 3, ... without a gap,
                                                         about equally often, 5 rows of each on average
         all others                                      numbers: most counts, years, ages, prices in dollars

         Names of which most come once are neither (ids), and so are dates and whole numbers too long for a float.
Labels   of classes: bools stay bools, whole numbers (also written 1.0) become int64, words and other numbers strings.
         Numbers become float64.
"""

import difflib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from halfspace._text import listed
from halfspace._typing import FloatArray, IntArray, Labels
from halfspace.errors import FileError, InputError

__all__ = ["TASKS", "TaskChoice", "choice_of", "coded", "column_named", "is_whole", "labels_of", "numbers_from", "task_of"]

TASKS = ("auto", "classify", "regress")
FEW_NAMES = 5
"""Names that may all be different: a small example is no column of ids."""
FEW, FEW_WHOLE = 5, 10
"""Different numbers, and whole numbers, up to which they are classes."""
ROWS_EACH, ROWS_PER_CODE = 3, 5
"""Rows of each value that make a few numbers classes, and, on average, that make many whole numbers codes of classes."""
EVEN = 0.75
"""Share of the codes that would be left if all came equally often, 1/(K sum p²): counts and scores heap up in the middle."""
LONGEST_LABEL = 200
LARGEST_WHOLE = 2.0**53
"""Beyond, neighbouring whole numbers are the same double."""
CLASSIFY, REGRESS = '--task classify (task="classify")', '--task regress (task="regress")'


class TaskChoice(NamedTuple):
    """What is to be predicted, and why.

    Parameters
    ----------
    task : {"classify", "regress"}
        Classes, or numbers.
    reason : str
        A sentence: what the target holds, what was chosen, and how to choose otherwise.
    evident : bool
        Whether nobody would ask: words, true and false, two values, or what was asked for.
    """

    task: str
    reason: str
    evident: bool = False


def task_of(y: Any, name: str = "the target y") -> TaskChoice:
    """Decide whether a target holds classes or numbers.

    Parameters
    ----------
    y : array-like, shape (n,)
        The target: words, truth values or numbers, none missing.
    name : str
        How sentences call it.

    Returns
    -------
    TaskChoice
        The task, and the reason in a sentence; the rule is at the top of `halfspace/files/targets.py`.

    Raises
    ------
    InputError
        If it holds neither: one value only, dates, or names that hardly ever repeat.

    Examples
    --------
    >>> task_of(["rose", "lily", "rose"]).task, task_of([0, 1, 2] * 50).task
    ('classify', 'classify')
    >>> years = task_of(list(range(1950, 2010)) * 2, "the target 'year'")
    >>> years.task, years.reason.partition(";")[0]
    ('regress', "the target 'year' holds 60 different whole numbers in 120 rows and is predicted as a number")
    """
    y = np.asarray(y)
    if y.dtype.kind == "O":
        y = np.array([value if isinstance(value, bool | int | float) else str(value) for value in y.tolist()])
    _refuse_moments({"M": "dates", "m": "durations"}.get(y.dtype.kind), name)
    values, counts = np.unique(y, return_counts=True)
    return choice_of(values, counts, whole=is_whole(values), name=name)


def choice_of(values: Labels, counts: IntArray, *, whole: bool, name: str) -> TaskChoice:
    """Decide by the different values, shape (K,), and how often each comes, shape (K,)."""
    n, K = int(counts.sum()), values.size
    _refuse_one(n, values, name)
    if values.dtype.kind not in "iuf":
        if K > FEW_NAMES and int((counts == 1).sum()) > K / 2:
            words = _words(values)
            if 0 < words.size < K / 2:
                msg = f"{name} holds numbers, but also text such as {str(words[0])!r}; leave these cells empty."
                raise InputError(msg)
            msg = (
                f"{name} looks like an id, not classes ({K:,} different values in {n:,} rows, most of them once); choose"
                f" another target, or {CLASSIFY} to predict it all the same."
            )
            raise InputError(msg)
        return TaskChoice("classify", f"{name} holds names of classes.", evident=True)
    if K == 2:
        return TaskChoice("classify", f"{name} holds two different numbers, which are predicted as classes.", evident=True)
    if values.dtype.kind != "f" and float(np.abs(values.astype(float)).max()) >= LARGEST_WHOLE:
        msg = f"{name} looks like an id (whole numbers of more than 15 digits); choose another target."
        raise InputError(msg)
    few = K <= FEW and n >= ROWS_EACH * K
    what = f"{name} holds {K:,} different {'whole ' * whole}numbers in {n:,} rows"
    if few or (whole and ((K <= FEW_WHOLE and int(counts.min()) >= ROWS_EACH) or _are_codes(values, counts))):
        return TaskChoice("classify", f"{what} and is predicted as classes; {REGRESS} predicts the number.")
    return TaskChoice("regress", f"{what} and is predicted as a number; {CLASSIFY} makes classes of them.")


def _words(values: Labels) -> Labels:
    """Return the texts among texts that are no numbers."""

    def is_word(text: str) -> bool:
        try:
            float(text.replace(",", ""))
        except ValueError:
            return True
        return False

    return values[[is_word(str(value)) for value in values.tolist()]]


def _are_codes(values: Labels, counts: IntArray) -> bool:
    """Tell whether whole numbers count classes: from 0 or 1 without a gap, about equally often, several rows of each."""
    low, high, n = float(values.min()), float(values.max()), float(counts.sum())
    unbroken = low in {0.0, 1.0} and high - low == values.size - 1
    share = n * n / (values.size * float(np.square(counts, dtype=float).sum()))
    return unbroken and n >= ROWS_PER_CODE * values.size and share >= EVEN


def _refuse_one(n: int, values: Labels, name: str) -> None:
    """Raise the sentence that fits, if there is nothing to tell apart."""
    if n == 0:
        msg = f"{name} has no values; expected one for every row."
        raise InputError(msg)
    if values.size == 1:
        msg = f"{name} has only one class, {values[0]}; expected at least two."
        raise InputError(msg)


def _refuse_moments(kind: str | None, name: str) -> None:
    if kind:
        msg = f"{name} holds {kind} values; expected classes or numbers: words, numbers or true and false."
        raise InputError(msg)


def column_named(target: str | int | None, names: tuple[str, ...], file: str, again: Sequence[str] = ()) -> str:
    """Return the name of the target column: `target` itself, or the column at that place (from 0; -1 is the last).

    `again` holds the names given to further columns that the file calls by the name of the target: which one is meant?
    """
    columns, again = listed(names, 20), [name for name in again if name in names]  # others hold nothing that can be used
    if target is None:
        msg = f"{file}: name the column to predict with --target (target=); the columns are: {columns}."
        raise FileError(msg)
    text = str(target)
    if text in names and again:
        places = " or ".join(str(names.index(name)) for name in (text, *again))
        msg = f"{file}: {1 + len(again)} columns are named {text!r}; say which one by its number: --target {places}."
        raise FileError(msg)
    if text in names:
        return text
    place = int(text) if text.removeprefix("-").isdecimal() else None
    if place is not None and -len(names) <= place < len(names):
        return names[place]
    close = difflib.get_close_matches(text, names, n=1) or [n for n in names if n.lower() == text.lower()]
    hint = f"did you mean {close[0]!r}? The" if close else "the"
    msg = f"{file}: there is no column {text!r}; {hint} columns are: {columns}."
    raise FileError(msg)


def is_whole(values: Any) -> bool:
    """Tell whether all numbers are whole; what is not a number does not count as whole."""
    try:
        numbers = np.asarray(values.cast("float64") if hasattr(values, "cast") else values, dtype=float)
    except (ValueError, TypeError, NotImplementedError):
        return False
    return bool(np.all((np.abs(numbers) < LARGEST_WHOLE) & (numbers == np.floor(numbers))))


def coded(column: Any, name: str = "the target") -> tuple[IntArray, Labels]:
    """Split a column without missing values into codes (n,) and the distinct values (K,) they stand for."""
    if not hasattr(column, "dictionary_encode"):
        values, codes = np.unique(column, return_inverse=True)
        return codes, values
    kind = str(column.type)
    _refuse_moments(kind if kind.startswith(("timestamp", "date", "time", "duration")) else None, name)
    encoded = column.dictionary_encode().unify_dictionaries()
    codes = np.concatenate([chunk.indices.to_numpy(zero_copy_only=False) for chunk in encoded.chunks] or [np.empty(0, int)])
    words = encoded.chunk(0).dictionary if encoded.num_chunks else column
    if kind == "string" and (longest := max(map(len, words.to_pylist()), default=0)) > LONGEST_LABEL:
        msg = f"{name} holds text of up to {longest} characters; expected names of classes."
        raise InputError(msg)
    return codes.astype(np.int64), np.array(words.to_pylist()) if kind in {"string", "bool"} else words.to_numpy()


def labels_of(codes: IntArray, values: Labels, *, whole: bool, name: str, check: bool = True) -> Labels:
    """Return the labels of classes, shape (n,); `check` refuses a target with nothing to tell apart."""
    if check:
        _refuse_one(codes.size, values, name)
    if values.dtype.kind in "bU":
        return np.asarray(values[codes])
    if values.dtype.kind == "i" or whole:
        return np.asarray(values.astype(np.int64)[codes])
    return np.array([str(value) for value in values.tolist()])[codes]


def numbers_from(codes: IntArray, values: Labels, *, name: str, check: bool = True) -> FloatArray:
    """Return the target as numbers, shape (n,), or say why it holds none."""
    if values.dtype.kind not in "biuf":
        words = _words(values)
        word = words[0] if words.size else values[0]
        msg = f"{name} holds text such as {str(word)!r}; expected numbers. {CLASSIFY} predicts it as classes."
        raise InputError(msg)
    numbers = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        msg = f"{name} holds infinite numbers; leave these cells empty, or put finite numbers there."
        raise InputError(msg)
    if check:
        _refuse_one(codes.size, values, name)
    return np.asarray(numbers[codes])
