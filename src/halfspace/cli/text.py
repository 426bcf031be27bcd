"""Plain text for people: tables and paragraphs, the same in a terminal and in a file."""

from collections.abc import Iterable, Sequence
from io import StringIO
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from halfspace.certificates import Certificate
from halfspace.cli.frame import clean

__all__ = ["proof_of", "shortened", "table"]

WIDTH = 118


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], *, right: str = "") -> str:
    """Return rows as a table.

    None is left blank; `right` has one letter per column, "r" to set it flush right, and is empty for none.
    """
    drawn = Table(box=box.SIMPLE_HEAD, show_edge=False)
    for place, head in enumerate(heads):
        drawn.add_column(head, justify="right" if right[place : place + 1] == "r" else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(Text("" if value is None else clean(value)) for value in row))
    page = StringIO()
    Console(file=page, width=WIDTH, color_system=None, legacy_windows=False).print(drawn)
    return "\n".join(line.rstrip() for line in page.getvalue().splitlines())


def proof_of(certificate: Certificate) -> dict[str, Any]:
    """Return a certificate as `--json` shows it: its kind, its sentence, and what of that the run only reports."""
    return {"kind": type(certificate).__name__, "sentence": str(certificate), "reported": certificate.reports()}


def shortened(sentence: str, most: int = 6) -> str:
    r"""Return a proof of many parts with its first lines only."""
    lines = sentence.splitlines()
    rest = [f"  and {len(lines) - most:,} more"] if len(lines) > most else []
    return sentence if len(lines) == 1 else "\n".join(["", *(f"  {line}" for line in lines[:most]), *rest])
