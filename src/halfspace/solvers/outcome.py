"""Why a fit stopped: a value that is the sentence the user reads, with a remedy."""

from dataclasses import dataclass
from typing import Annotated, Literal

__all__ = ["Outcome", "Reason"]

Reason = Literal[
    "converged",
    "solved",
    "passes done",
    "iteration budget spent",
    "time budget spent",
    "rounding limit reached",
    "proved inseparable",
    "no progress",
    "interrupted",
    "stopped by callback",
    "diverged",
]


@dataclass(frozen=True)
class Outcome:
    """Why a fit stopped, and what to do about it.

    Parameters
    ----------
    reason : str
        One of the fixed reasons, for programs.
    sentence : str
        What happened, for people.
    remedy : str
        What to try; empty when nothing is wrong.

    Examples
    --------
    >>> print(Outcome("interrupted", "Interrupted after 3 epochs.", "Call fit with warm_start=True to go on."))
    Interrupted after 3 epochs. Call fit with warm_start=True to go on.
    """

    reason: Annotated[Reason, "str"]
    sentence: str
    remedy: str = ""

    @property
    def converged(self) -> bool:
        """Whether nothing would change by going on."""
        return self.reason in {"converged", "solved"}

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}".strip()
