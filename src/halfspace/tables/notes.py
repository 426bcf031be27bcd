"""What happened to the columns, in sentences for a report."""

from collections.abc import Sequence

from halfspace.tables.recipes import Learned

__all__ = ["listed", "notes_of_columns", "notes_of_fit", "notes_of_use"]

MOST_NAMES = 5


def listed(names: Sequence[str]) -> str:
    """Return a few names and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c", "d", "e", "f", "g"])
    'a, b, c, d, e and 2 more'
    """
    few = ", ".join(names[:MOST_NAMES])
    return few if len(names) <= MOST_NAMES else f"{few} and {len(names) - MOST_NAMES:,} more"


def _columns(names: Sequence[str], singular: str, plural: str) -> str:
    """Return the beginning of a sentence about one or more columns."""
    return f"Column {names[0]} {singular}" if len(names) == 1 else f"{len(names):,} columns {plural}"


def _sentence(names: Sequence[str], singular: str, plural: str, what: str) -> str:
    """Return a sentence about one column by name, or about several with a list of them."""
    subject = _columns(names, singular, plural)
    return f"{subject}: {what}." if len(names) == 1 else f"{subject}: {what} ({listed(names)})."


def notes_of_fit(columns: Sequence[str], learned: Sequence[Learned], n_rows: int) -> tuple[str, ...]:
    """Say which columns were left out and why, which values were filled in, and which were read differently.

    Examples
    --------
    >>> notes_of_fit(["a"], [Learned(reason="no value at all")], 10)
    ("Column 'a' was left out: no value at all.",)
    """
    left_out: dict[str, list[str]] = {}
    for name, one in zip(columns, learned, strict=True):
        if one.recipe is None:
            left_out.setdefault(one.reason, []).append(repr(name))
    kept = [(repr(name), one.recipe, one) for name, one in zip(columns, learned, strict=True) if one.recipe is not None]
    gaps = [f"{name} {one.gaps:,} of {n_rows:,}" for name, _, one in kept if one.gaps]
    lost = [f"{name} {one.lost:,}" for name, _, one in kept if one.lost]
    huge = [name for name, recipe, _ in kept if recipe["kind"] == "number" and recipe["parts"][0]["huge"]]
    pooled = [name for name, recipe, _ in kept if recipe["kind"] == "category" and recipe["other"]]
    notes = [_sentence(names, "was left out", "were left out", reason) for reason, names in left_out.items()]
    if gaps:
        notes.append(f"Missing values were filled in and marked by an output of their own: {listed(gaps)}.")
    if lost:
        notes.append(f"Text that could not be read like the rest of its column counts as missing: {listed(lost)}.")
    if huge:
        notes.append(_sentence(huge, "is extreme", "are extreme", "numbers beyond 1e100; scale='rank' suits them better"))
    if pooled:
        notes.append(_sentence(pooled, "has many values", "have many values", "the less frequent share one output"))
    return tuple(notes)


def notes_of_columns(given: Sequence[str], columns: Sequence[str], groups: Sequence[tuple[str, int, int]]) -> tuple[str, ...]:
    """Say which columns of `fit` are not there, if they matter, and which are there but were not in `fit`.

    Examples
    --------
    >>> notes_of_columns(["a", "b"], ["a"], [("a", 0, 1)])
    ("Column 'b' was ignored: not seen in training.",)
    """
    there, known = set(given), set(columns)
    absent = [repr(name) for name, _, _ in groups if name not in there]
    extra = [repr(name) for name in given if name not in known]
    notes = []
    if absent:
        notes.append(_sentence(absent, "is not there", "are not there", "all its values count as missing"))
    if extra:
        notes.append(_sentence(extra, "was ignored", "were ignored", "not seen in training"))
    return tuple(notes)


def notes_of_use(groups: Sequence[tuple[str, int, int]], counts: Sequence[Sequence[int]]) -> tuple[str, ...]:
    """Say how many values of which columns could not be read, or were never seen in training.

    Examples
    --------
    >>> notes_of_use([("a", 0, 1)], [(0, 3)])
    ("Column 'a': 3 values were never seen in training.",)
    """
    notes = []
    for (name, _, _), (unreadable, unseen) in zip(groups, counts, strict=True):
        if unreadable:
            words = "value cannot be read and counts" if unreadable == 1 else "values cannot be read and count"
            notes.append(f"Column {name!r}: {unreadable:,} {words} as missing.")
        if unseen:
            notes.append(f"Column {name!r}: {unseen:,} {'value was' if unseen == 1 else 'values were'} never seen in training.")
    return tuple(notes)
