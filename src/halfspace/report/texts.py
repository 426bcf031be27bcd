"""Labels, names and rows as a reader wants them: short, printable, counted as in the file."""

import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["listed", "plural", "shown"]

LONGEST = 40
"""Characters of a label or of a column's name."""


def shown(value: Any, longest: int = LONGEST) -> str:
    r"""Write a label or a name on one line, without characters that cannot be seen, cut if it is long.

    Examples
    --------
    >>> shown("a\tb\x00"), shown(""), shown("x" * 99, longest=5)
    ('a b�', '(empty)', 'xxxx…')
    """
    text = " ".join(str(value).split())
    text = "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in {"Cc", "Cs", "Cn"} else c for c in text)
    if not text:
        return "(empty)"
    return text if len(text) <= longest else text[: longest - 1] + "…"


def listed(values: Sequence[Any] | Iterable[Any], most: int = 5) -> str:
    """Write the first few values, and how many more there are.

    Examples
    --------
    >>> listed(range(1000), most=3), listed(["a", "b"])
    ('0, 1, 2 and 997 more', 'a, b')
    """
    values = list(values)
    text = ", ".join(shown(value) for value in values[:most])
    return text + (f" and {len(values) - most:,} more" if len(values) > most else "")


def plural(count: int, noun: str, many: str = "") -> str:
    """Write a count with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(12345, "row"), plural(2, "class", "classes")
    ('1 row', '12,345 rows', '2 classes')
    """
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"
