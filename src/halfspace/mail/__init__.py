"""The mail filter: from raw messages to a learner that is taught by corrections, and a promise about lost ham.

Names are imported when they are first used: a process that scores one message imports neither NumPy nor Numba.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from halfspace.mail.extraction import ALL, features, named_features
    from halfspace.mail.filter import Explanation, MailFilter, Status
    from halfspace.mail.learner import RULES, Settings

__all__ = ["ALL", "RULES", "Explanation", "MailFilter", "Settings", "Status", "features", "named_features"]

_HOMES = {
    "ALL": "extraction",
    "Explanation": "filter",
    "MailFilter": "filter",
    "RULES": "learner",
    "Settings": "learner",
    "Status": "filter",
    "features": "extraction",
    "named_features": "extraction",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _HOMES:
        msg = f"module 'halfspace.mail' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(f"halfspace.mail.{_HOMES[name]}"), name)
