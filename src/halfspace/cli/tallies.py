"""Notes on many batches, added up: a large file has one sentence per column, not one per batch."""

import re
from collections.abc import Iterable

__all__ = ["Tally"]

COUNTED = re.compile(r"(?s)(.*: )([\d,]+) values? (.*)")
"""A note of `TableEncoder.transform_with_notes` with a number in it."""
PLURAL = (("cannot be read and counts ", "cannot be read and count "), ("was never ", "were never "))


class Tally:
    """The notes on batches so far; numbers of values are added, other notes are said once.

    Examples
    --------
    >>> tally = Tally()
    >>> tally.add(["Column 'a': 1 value was never seen in training.", "Column 'b' is not there."])
    >>> tally.add(["Column 'a': 2,000 values were never seen in training.", "Column 'b' is not there."])
    >>> tally.notes()
    ["Column 'a': 2,001 values were never seen in training.", "Column 'b' is not there."]
    """

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, notes: Iterable[str]) -> None:
        """Take the notes on one batch."""
        for note in notes:
            found = COUNTED.fullmatch(note)
            head, number, rest = found.groups() if found else (note, "0", "")
            for one, many in PLURAL:
                rest = rest.replace(one, many)
            key = (head, rest)
            self._counts[key] = self._counts.get(key, 0) + int(number.replace(",", ""))

    def notes(self) -> list[str]:
        """Return the sentences, in the order in which they first came."""
        return [
            f"{head}{count:,} {'values' if count > 1 else 'value'} {_singular(rest, count)}" if rest else head
            for (head, rest), count in self._counts.items()
        ]


def _singular(rest: str, count: int) -> str:
    """Return the words after a number in the form that suits it."""
    for one, many in PLURAL if count == 1 else ():
        rest = rest.replace(many, one)
    return rest
