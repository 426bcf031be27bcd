"""What a kernel machine says when its fit is over."""

import sys
import warnings
from typing import Any

import numpy as np

from halfspace.errors import GapWarning, NotSeparatedWarning
from halfspace.solvers.outcome import Outcome, Reason

__all__ = ["announced", "told"]


def told(model: Any, gap: float, reasons: list[Reason], about: str = "") -> Outcome:
    """Say how far a fit came, and what to do if that is not far enough.

    Parameters
    ----------
    model : estimator
        With `n_iter_` and `tol`.
    gap : float
        The widest certified relative gap; infinite where classes are not separated though they should be.
    reasons : list of str
        Why each part of the work ended.
    about : str
        What the answer is an answer to, if not to the problem that was asked; a sentence.
    """
    when = f"after {model.n_iter_} rounds"
    if gap <= model.tol:
        return Outcome("converged", f"Converged {when}: relative duality gap {gap:.2g} <= tol={model.tol:g}. {about}".rstrip())
    found: list[Reason] = [reason for reason in reasons if reason not in {"converged", "solved"}]
    reason: Reason = found[0] if found else "rounding limit reached"
    if np.isinf(gap):
        sentence = f"Stopped {when} ({reason}): no function was found that separates the classes without errors."
        remedy = (
            "Use a finite C, which tolerates errors, or a kernel that tells the examples better apart (a larger gamma); equal "
            "examples with different labels no kernel separates."
        )
    elif reason == "rounding limit reached":
        sentence = (
            f"Stopped {when} with relative duality gap {gap:.2g} > tol={model.tol:g}: rounding lets no smaller one be proved."
        )
        remedy = "Use a larger tol or a smaller C, or scale the features."
    else:
        sentence = f"Stopped {when} ({reason}) with relative duality gap {gap:.2g} > tol={model.tol:g}."
        remedy = "warm_start=True goes on from here; raise max_iter or max_time, or accept a larger tol."
    return Outcome(reason, f"{sentence} {about}".rstrip(), remedy)


def announced(model: Any, gap: float) -> None:
    """Print the outcome if asked to, and warn if it is not what was asked for; to be called by what `fit` calls."""
    outcome: Outcome = model.outcome_
    if model.verbose:
        sys.stderr.write(f"[{type(model).__name__}] {outcome}\n")
    if outcome.reason in {"iteration budget spent", "time budget spent", "rounding limit reached"}:
        kind = NotSeparatedWarning if np.isinf(gap) else GapWarning
        warnings.warn(f"{type(model).__name__}: {outcome}", kind, stacklevel=5)
