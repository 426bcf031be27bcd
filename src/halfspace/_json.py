"""JSON from outside: one reader for all of it, stricter than Python's.

A name that comes twice in one object means different things to different readers, NaN and Infinity are not JSON, and nesting
without end fills the stack: each is a ValueError, like any other text that is not JSON.
"""

import json
from collections.abc import Callable
from typing import Any

__all__ = ["json_reader", "parse_json"]

DEEPEST = 200
"""Levels of lists and objects; certificates, models and rows have fewer than ten."""


def json_reader(**options: Any) -> Callable[[str], Any]:
    """Return a function that parses JSON strictly.

    Parameters
    ----------
    options
        `parse_int`, `parse_float`, `parse_constant` as for `json.JSONDecoder`; NaN and Infinity are refused unless given.

    Returns
    -------
    function
        From a text to its value; it raises ValueError, and nothing else, if the text is not strictly JSON.

    Examples
    --------
    >>> json_reader(parse_int=str)('{"a": 1, "b": [2.5]}')
    {'a': '1', 'b': [2.5]}
    >>> json_reader()('{"a": 1, "a": 2}')
    Traceback (most recent call last):
        ...
    ValueError: the name 'a' comes twice in one object
    """
    decode = json.JSONDecoder(**{"object_pairs_hook": _unique, "parse_constant": _refuse_constant, **options}).decode

    def parse(text: str) -> Any:
        try:
            value = decode(text)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        _check_depth(value)
        return value

    return parse


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make a dictionary; refuse a name that comes twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        msg = f"the name {next(name for name in found if names.count(name) > 1)!r} comes twice in one object"
        raise ValueError(msg)
    return found


def _refuse_constant(name: str) -> Any:
    """Refuse NaN and Infinity."""
    msg = f"{name} is not a number"
    raise ValueError(msg)


def _check_depth(value: Any) -> None:
    """Refuse values nested deeper than anything of ours is: what works on them may recurse."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(DEEPEST):
        parts = (part for node in level for part in (node.values() if isinstance(node, dict) else node))
        level = [part for part in parts if isinstance(part, dict | list)]
        if not level:
            return
    raise ValueError("it is nested too deeply")


parse_json = json_reader()
"""Parse JSON strictly, numbers as Python's."""
