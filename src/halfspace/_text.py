"""Values as text, and as what JSON can hold."""

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["listed", "number", "plain", "plural", "shown"]


def listed(values: Iterable[Any], most: int = 5, show: Callable[[Any], str] = str) -> str:
    """Return the first few values, separated by commas, and how many more there are.

    Examples
    --------
    >>> listed(range(1000), most=3), listed(["a", "b"], show=repr)
    ('0, 1, 2 and 997 more', "'a', 'b'")
    """
    values = list(values)
    rest = f" and {len(values) - most:,} more" if len(values) > most else ""
    return ", ".join(map(show, values[:most])) + rest


def shown(value: Any, longest: int = 40) -> str:
    r"""Return a label or a name on one line, without characters that cannot be seen, cut if it is long.

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


def plural(count: int, noun: str, many: str = "") -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(1200, "row"), plural(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def number(value: float, digits: int = 3) -> str:
    """Return a number in few characters: 1,234,567; 12.3; 0.00123; with a true minus sign.

    Examples
    --------
    >>> number(1234567.8), number(-0.25), number(0.0)
    ('1,234,568', '−0.25', '0')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "unknown"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"
    return text.replace("-", "−")


def plain(value: Any, rules: Mapping[type, Callable[[Any], Any]] | None = None, other: Callable[[Any], Any] = str) -> Any:
    """Turn a value into what `json.dumps` takes.

    Parameters
    ----------
    value : object
        Numbers, strings, NumPy values, lists, tuples and mappings of them.
    rules : mapping of type to function, optional
        What to do instead with values of these types; the first that fits applies, and its result is not looked into.
    other : function, default str
        What to do with anything else.

    Returns
    -------
    object
        Dictionaries, lists, strings, numbers, bools and None; infinity and NaN become None unless a rule says otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"scores": np.array([0.5, np.nan]), 1: (True, "a")})
    {'scores': [0.5, None], '1': [True, 'a']}
    """
    for kind, rule in (rules or {}).items():
        if isinstance(value, kind):
            return rule(value)
    if hasattr(value, "tolist"):
        return plain(value.tolist(), rules, other)
    if isinstance(value, Mapping):
        return {str(name): plain(part, rules, other) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part, rules, other) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else other(value)
