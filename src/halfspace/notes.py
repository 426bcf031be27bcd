"""Notes: what was assumed, renamed, filled in or left out, as values; `sentences` alone puts them into words."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace

from halfspace._text import listed, plural

__all__ = ["Note", "sentences", "total"]


@dataclass(frozen=True)
class Note:
    """A fact about a file, a table or a fit.

    Parameters
    ----------
    kind : str
        A key of `WORDS`.
    column : str
        Name of the column concerned, if there is one.
    count : int
        How many values, rows or classes are concerned.
    detail : str
        What else the sentence needs: a reason, a type, a file name.

    Examples
    --------
    >>> print(Note("unseen", "colour", 2))
    Column 'colour': 2 values were never seen in training.
    """

    kind: str
    column: str = ""
    count: int = 0
    detail: str = ""

    def __str__(self) -> str:
        return sentences([self])[0]


WORDS: dict[str, str | tuple[str, str]] = {
    # files
    "encoding": "{detail} is not all UTF-8; lines that are not were read as Windows-1252.",
    "no header": "{detail} has no header; its columns are called x0, x1, ...",
    "decimal comma": "numbers are written with a decimal comma.",
    "nameless": "column {count} has no name and is called {column!r}.",
    "renamed": "another column named {detail!r} is called {column!r}.",
    "nested": "column {column!r} holds {detail}, not plain values, and is left out.",
    "grouped": "column {column!r} has numbers with grouped thousands: 1{detail}234 was read as 1234.",
    "currency": "column {column!r} has amounts of money: {detail}5 was read as 5.",
    "percent": "column {column!r} has percentages: 12.3% was read as 12.3.",
    "owed": "column {column!r} has numbers in parentheses: (123) was read as -123.",
    "comma": "column {column!r} has a decimal comma: 1.234,50 was read as 1234.5.",
    "date order": "column {column!r} has dates such as 3/4/2023 that fit both orders; they were read as month/day/year.",
    "query numbers": "query numbers (qid) are ignored.",
    "sheet": "sheet {column!r} was read; the workbook also has {detail}.",
    "task": "{detail}",
    "individuals": (
        "column {column!r} repeats {count:,} values in {detail} rows, as rows of the same individual do, which make scores"
        " too good where a split divides them: --group {column} (group=) keeps them together."
    ),
    "times": (
        "column {column!r} holds times: where the future is to be predicted, --time {column} (time=) validates forwards.",
        "{n:,} columns hold times: where the future is to be predicted, --time (time=) validates forwards ({columns}).",
    ),
    "unlabelled": "{count:,} of {detail} rows {have} no target and {are} left out.",
    "sample": "a sample of {count:,} of {detail} rows.",
    "sample for memory": (
        "a sample of {count:,} of {detail} rows: more would not fit the memory limit; --max-memory (max_memory=) raises it."
    ),
    "sample for time": (
        "a sample of {count:,} of {detail} rows: more would not be learnt from within the time limit; --max-time raises it."
    ),
    "own labels": "{detail} contains the labels; the target {column!r} was not used.",
    # tables
    "filled": "Missing values were filled in, and one more input says where: {counts}.",
    "misread": "Text that could not be read like the rest of its column counts as missing: {counts}.",
    "left out": ("Column {column!r} was left out: {detail}.", "{n:,} columns were left out: {detail} ({columns})."),
    "long numbers": (
        "Column {column!r} has whole numbers that floating point would round; they were read as text.",
        "{n:,} columns have whole numbers that floating point would round; they were read as text ({columns}).",
    ),
    "extreme": (
        "Column {column!r} has numbers beyond 1e100; consider scale='rank'.",
        "{n:,} columns have numbers beyond 1e100; consider scale='rank' ({columns}).",
    ),
    "words": "Column {column!r} is free text: {count:,} words and pairs of words that come in two or more rows are its inputs.",
    "pooled": (
        "Column {column!r} has many values: the less frequent share one output.",
        "{n:,} columns have many values: the less frequent share one output ({columns}).",
    ),
    "absent": (
        "Column {column!r} is absent: all its values count as missing.",
        "{n:,} columns are absent: all their values count as missing ({columns}).",
    ),
    "ignored": (
        "Column {column!r} was ignored: not seen in training.",
        "{n:,} columns were ignored: not seen in training ({columns}).",
    ),
    "unreadable": "Column {column!r}: {values} cannot be read and {counts_verb} as missing.",
    "unseen": "Column {column!r}: {values} {were} never seen in training.",
    "too wide": "Columns beyond the {detail} that the model knows are ignored.",
    "guarded": (
        "Column {column!r}: {values} {were} written with an apostrophe in front, because a spreadsheet would run a cell that"
        " begins so as a formula; --no-guard leaves it out."
    ),
    "drift": "{detail}",
    # ladder
    "gives away": (
        "Column {column!r} alone predicts {detail}: is it known before the outcome?",
        "{n:,} columns alone predict {detail}: are they known before the outcome? ({columns})",
    ),
    "seen before": "{count:,} of {detail} held-out rows {have} the values of a training row in every column and the target.",
    "components": "Rungs see {detail} (--pca, pca=).",
    "no test": "Too few rows of each class to hold some out: there is no test.",
    "no guarantee": "Intervals and sets of predictions are not available: {detail}.",
    "no novelty": "What the training rows look like could not be learnt: rows unlike them will not be told.",
    "not refitted": "The winner was not fitted again to all rows{detail}; it learnt from the training rows alone.",
    "balanced": (
        "The largest class has {count} % of the rows: rungs are scored by balanced accuracy (recall averaged over the"
        " classes) and learn with balanced class weights."
    ),
    "single rows": "{classes} {have} a single training row: {they_are} never tested.",
    "no time": "The time limit left no time to test the last {classes} for separability from the rest.",
    "contradictions": "Contradicting rows were looked for among the first {count:,} rows only.",
}
"""Kind to sentence; where there are two, the second is for several columns with the same detail."""


TOGETHER = {kind for kind, words in WORDS.items() if isinstance(words, tuple) or "{counts}" in words}


def total(notes: Iterable[Note]) -> list[Note]:
    """Add up the counts of notes on several batches of one file that are otherwise the same, in order of first appearance."""
    counts: dict[Note, int] = {}
    for note in notes:
        key = replace(note, count=0)
        counts[key] = counts.get(key, 0) + note.count
    return [replace(key, count=n) for key, n in counts.items()]


def sentences(notes: Iterable[Note | str]) -> list[str]:
    """Put notes into words: each once, columns with the same fate in one sentence.

    Strings, from encoders of other make and from old model files, are sentences already.
    """
    groups: dict[Note | str, list[Note]] = {}
    for note in dict.fromkeys(notes):
        if isinstance(note, str):
            groups[note] = []
        elif note.kind in TOGETHER:
            groups.setdefault(Note(note.kind, detail="" if note.kind == "filled" else note.detail), []).append(note)
        else:
            groups[note] = [note]
    return [key if isinstance(key, str) else _sentence(group) for key, group in groups.items()]


def _sentence(group: list[Note]) -> str:
    """Return the sentence of one note, or of several of the same kind on different columns."""
    first, words = group[0], WORDS[group[0].kind]
    if isinstance(words, tuple):
        words = words[len(group) > 1]
    one = first.count == 1
    return words.format(
        **asdict(first),
        n=len(group),
        columns=listed((note.column for note in group), show=repr),
        counts=listed(f"{note.column!r} {note.count:,}{note.detail and f' of {note.detail}'}" for note in group),
        values=plural(first.count, "value"),
        classes=plural(first.count, "class", "classes"),
        were="was" if one else "were",
        are="is" if one else "are",
        have="has" if one else "have",
        they_are="it is" if one else "they are",
        counts_verb="counts" if one else "count",
    )
