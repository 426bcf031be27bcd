"""What theory says about a table: how easily it is separable, exact leave-one-out errors, and whether more rows would help."""

import time
import warnings
from typing import Any

import numpy as np

from halfspace._clock import seconds_left
from halfspace._dispatch import LateCompilationError, compiling_until
from halfspace._typing import IntArray, Matrix
from halfspace.certificates import LabelCount
from halfspace.errors import GapWarning, InputError
from halfspace.models.planes.adatron import AdaTron
from halfspace.questions.learning_curve import FEWEST, LearningCurve
from halfspace.questions.leave_one_out import leave_one_out

__all__ = ["theory_of"]

PATIENCE, SHARE = 4.0, 0.2
"""Seconds for all of it, and the share of those left to a command with a time limit, if that is less."""
ENTRIES, ROWS = 2_000_000, 1_000
"""Numbers of a table beyond which nothing is said, and rows that a learning curve is measured on."""


def theory_of(ladder: Any, Z: Matrix, truth: IntArray) -> tuple[str, ...]:
    """Return sentences about the encoded training rows Z, shape (n, D), with class numbers `truth`, shape (n,)."""
    left = seconds_left()
    seconds = PATIENCE if left is None else min(PATIENCE, SHARE * left)
    if seconds < 0.2 or Z.shape[0] * Z.shape[1] > ENTRIES or Z.shape[0] < FEWEST:
        return ()
    said = [f"The training rows have {LabelCount.measure(Z)}."]
    if ladder.classes_.size != 2:
        return tuple(said)
    C = getattr(ladder.estimator_, "C_", getattr(ladder.estimator_, "C", None))
    model = AdaTron(C=C if isinstance(C, float) and np.isfinite(C) else 0.1, tol=1e-3)
    about = f"a linear large-margin model (C = {model.C:.3g})"
    deadline = None if left is None else time.perf_counter() + seconds
    with warnings.catch_warnings(), compiling_until(deadline):
        warnings.simplefilter("ignore")
        try:
            found = leave_one_out(model, Z, truth, max_time=seconds / 2)
            said.append(f"For {about}, each training row left out in turn, proved: {found}.")
        except (InputError, LateCompilationError, GapWarning):  # refused, no time to compile, or warnings that are errors
            return tuple(said)
        some = np.random.default_rng(0).permutation(truth.size)[:ROWS]
        curve = LearningCurve(model, n_repeats=10, max_time=seconds / 2).fit(Z[some], truth[some])
        more = curve.predict(10 * some.size)
        said.append(f"Would ten times the rows help it? {more} An estimate, not a proof. {more.record}")
    return tuple(said)
