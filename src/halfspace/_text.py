"""Values as text, and as what JSON can hold."""

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["listed", "number", "plain", "plural", "shown"]


def listed(values: Iterable[Any], most: int = 5, show: Callable[[Any], str] = str) -> str:
    """Return the first few values, separated by commas, and how many more there are."""
    values = list(values)
    rest = f" and {len(values) - most:,} more" if len(values) > most else ""
    return ", ".join(map(show, values[:most])) + rest


def shown(value: Any, longest: int = 40) -> str:
    r"""Return a label or a name on one line, without characters that cannot be seen, cut if it is long."""
    text = " ".join(str(value).split())
    text = "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in {"Cc", "Cs", "Cn"} else c for c in text)
    if not text:
        return "(empty)"
    return text if len(text) <= longest else text[: longest - 1] + "…"


def plural(count: int, noun: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun if count == 1 else many or noun + 's'}"


def number(value: float, digits: int = 3) -> str:
    """Return a number in few characters: 1,234,567; 12.3; 0.00123; with a true minus sign."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "unknown"
    text = f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"
    return text.replace("-", "−")


def plain(value: Any, rules: Mapping[type, Callable[[Any], Any]] | None = None, other: Callable[[Any], Any] = str) -> Any:
    """Turn a value into what `json.dumps` takes.

    Infinity and NaN become None. `rules` say what to do instead with values of some types: the first that fits applies, and its
    result is not looked into. `other` is for anything that is no number, string, NumPy value, list, tuple or mapping.
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
