"""What a command returns: one JSON object, its text for people, and an exit code."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import click

__all__ = ["Answer", "as_json", "clean", "notes", "plain"]


@dataclass(frozen=True)
class Answer:
    """The answer of a command.

    Parameters
    ----------
    body : dict
        The JSON object of `--json`.
    text : str
        The same for people; empty when the output itself was the answer.
    code : int, default 0
        Exit code.
    pieces : iterable of str, optional
        With `--json`: the text of the object in pieces, where it is too large to be held in memory.
    failure : str, default ""
        What went wrong after the answer was known, for standard error.

    Examples
    --------
    >>> Answer({"command": "certify", "holds": False}, "refuted", code=1).code
    1
    """

    body: dict[str, Any]
    text: str = ""
    code: int = 0
    pieces: Iterable[str] = field(default=())
    failure: str = ""


def plain(value: Any) -> Any:
    """Turn NumPy values, tuples and numbers that JSON lacks into what JSON has.

    Parameters
    ----------
    value : object
        Numbers, strings, arrays, lists and dictionaries of them.

    Returns
    -------
    object
        The same for `json.dumps`; infinity and NaN become None.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"scores": np.array([0.5, np.nan]), 1: (True, "a")})
    {'scores': [0.5, None], '1': [True, 'a']}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def as_json(body: Mapping[str, Any]) -> str:
    """Return the object as JSON text.

    Examples
    --------
    >>> as_json({"command": "certify", "holds": True})
    '{"command": "certify", "holds": true}'
    """
    return json.dumps(plain(body), allow_nan=False)


def clean(text: Any) -> str:
    r"""Return text from a file as one line that cannot steer the terminal.

    Examples
    --------
    >>> clean("a\x1b[2Jb")
    'a?[2Jb'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in str(text))


def notes(sentences: Iterable[str]) -> None:
    """Print notes on standard error, each once.

    Examples
    --------
    >>> notes([])
    """
    for sentence in dict.fromkeys(sentences):
        click.echo(f"note: {clean(sentence)}", err=True)
