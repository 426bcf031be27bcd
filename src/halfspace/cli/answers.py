"""What a command returns: one JSON object, its text for people, and an exit code."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import click

from halfspace._text import plain

__all__ = ["Answer", "as_json", "clean", "notes"]


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
