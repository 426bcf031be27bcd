"""The ladder's result in sentences."""

from halfspace.ladder.climbing import Climbed
from halfspace.ladder.values import TestResult
from halfspace.solvers.outcome import Outcome, Reason

__all__ = ["outcome_of", "percent", "verdict_of"]


def percent(share: float) -> str:
    """Return a share in per cent, with one digit.

    Examples
    --------
    >>> percent(0.9736)
    '97.4 %'
    """
    return f"{100 * share:.1f} %"


def verdict_of(winner: Climbed, best: Climbed, test: TestResult | None, scoring: str) -> str:
    """Say which rung won, why, and what the held-out rows say."""
    rung, top = winner.rung, best.rung
    measure = "accuracy" if scoring == "accuracy" else "balanced accuracy"
    found = f"The {rung.title} wins: {measure} {percent(rung.score)} ± {percent(rung.error)} in cross-validation"
    if rung is not top:
        found += f", within one standard error of the best ({top.title}, {percent(top.score)}), and it is simpler"
    if rung.name == "majority":
        found += "; nothing that was tried is better than always answering with the largest class"
    if test is None:
        return found + ". No rows were held out to test it."
    interval = f"95 % interval {percent(test.low)} to {percent(test.high)}"
    return f"{found}. On {test.n:,} held-out rows, looked at once: {percent(test.score)} ({interval})."


def outcome_of(reason: Reason, skipped: list[str]) -> Outcome:
    """Say why the climb stopped."""
    rest = ", ".join(skipped)
    if reason == "interrupted":
        return Outcome(
            reason, f"Interrupted; not climbed: {rest}.", "The winner is the best of the rungs climbed; fit again for all."
        )
    if reason == "time budget spent":
        return Outcome(reason, f"The time budget was spent; not climbed: {rest}.", "Raise max_time, or ask for fewer rungs.")
    return Outcome("converged", "Every rung that could pay was climbed.")
