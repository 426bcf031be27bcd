"""Labels, names and rows as a reader wants them: short, printable, counted as in the file."""

import unicodedata
from typing import Any

__all__ = ["shown"]

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
