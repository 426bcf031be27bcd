"""Paths that are to be read: what keeps one from being read, said before anything heavy is imported."""

import os
import stat
from pathlib import Path

__all__ = ["fault_of", "is_lasting", "sheet_of"]


def fault_of(path: str | Path) -> str:
    """Return what keeps a path from being read, as a sentence; empty if it is a file or a pipe that may be read."""
    path = Path(path)
    name = path.name or str(path)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return f"there is no file {str(path)!r}; check the name and the directory."
    except (OSError, ValueError) as error:
        return f"{name}: cannot be opened ({getattr(error, 'strerror', None) or error})."
    if stat.S_ISDIR(mode):
        return f"{name}: is a directory; give a file."
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        return f"{name}: is a device or a socket; give a file or a pipe."
    return "" if os.access(path, os.R_OK) else f"{name}: cannot be opened (Permission denied)."


def is_lasting(path: str | Path) -> bool:
    """Tell whether a command typed later finds the same data there: not in a pipe or on standard input."""
    return str(path) != "-" and sheet_of(path)[0].is_file()


def sheet_of(path: str | Path) -> tuple[Path, str | None]:
    """Split `book.xlsx#Prices` into the workbook and the sheet; None where no sheet is named."""
    book, mark, sheet = str(path).rpartition("#")
    if mark and Path(book).suffix.lower() in {".xlsx", ".xlsm"} and not os.path.exists(path):  # noqa: PTH110  (false for odd names)
        return Path(book), sheet
    return Path(path), None
