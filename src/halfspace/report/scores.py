"""The ladder's rungs, its held-out test and its separability verdicts, as plain findings."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from halfspace._text import number, plural
from halfspace._typing import IntArray
from halfspace.report.findings import RungScore, Separation, TestScore
from halfspace.report.texts import shown

__all__ = ["MOST_CLASSES", "MOST_SEPARATIONS", "rung_score", "separations", "test_score"]

MOST_CLASSES, MOST_CONFUSIONS, MOST_SEPARATIONS = 20, 20, 20
"""Largest confusion matrix that is shown whole, pairs listed from a larger one, and classes of the separability table."""


def rung_score(rung: Any) -> RungScore:
    """Copy a rung without its folds.

    Examples
    --------
    >>> from halfspace.ladder import Rung
    >>> rung_score(Rung("kernel", "kernel AdaTron", score=0.9, error=0.01, params={"C": 10.0})).params
    'C = 10'
    """
    parameters = ", ".join(f"{name} = {number(v) if isinstance(v, float) else shown(v)}" for name, v in rung.params.items())
    return RungScore(
        name=str(rung.name),
        title=shown(rung.title),
        score=_finite(rung.score),
        error=_finite(rung.error),
        fit_seconds=_finite(rung.fit_seconds),
        predict_seconds=_finite(rung.predict_seconds),
        support=None if rung.support is None else int(rung.support),
        proof=shown(rung.proof, 120),
        params=parameters,
        skipped=str(rung.skipped),
        note=str(rung.note),
    )


def _finite(value: float | None) -> float | None:
    """Return a number, or None for what is none."""
    return None if value is None or not math.isfinite(value) else float(value)


def test_score(result: Any, classes: list[Any]) -> TestScore | None:
    """Copy the held-out score; of a large confusion matrix only the commonest confusions.

    Examples
    --------
    >>> from halfspace.ladder import TestResult
    >>> result = TestResult(0.75, 0.19, 0.99, 4, "accuracy", 0.75, np.array([[2, 1], [0, 1]]))
    >>> test_score(result, ["no", "yes"]).confusions
    (('no', 'yes', 1),)
    """
    if result is None:
        return None
    confusion = np.asarray(result.confusion)
    wrong = confusion - np.diag(np.diag(confusion))
    order = np.argsort(-wrong, axis=None, kind="stable")[:MOST_CONFUSIONS]
    pairs = [(int(i), int(j)) for i, j in zip(*np.unravel_index(order, wrong.shape), strict=True) if wrong[i, j]]
    whole = len(classes) <= MOST_CLASSES
    return TestScore(
        score=float(result.score),
        low=float(result.low),
        high=float(result.high),
        n=int(result.n),
        accuracy=float(result.accuracy),
        table=tuple(tuple(row) for row in confusion.tolist()) if whole else (),
        confusions=tuple((shown(classes[i]), shown(classes[j]), int(wrong[i, j])) for i, j in pairs),
    )


def separations(proofs: Sequence[tuple[Any, Any]], file_rows: IntArray) -> tuple[Separation, ...]:
    """Put pairs of label and separability certificate in words, the first twenty, with rows of the file.

    Examples
    --------
    >>> from halfspace.questions.separability import separability
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array(["a", "b", "a"])
    >>> separations([("b", separability(X, y))], np.array([7, 8, 9]))[0].rows
    (7, 8, 9)
    """
    return tuple(
        Separation(
            label=shown(label),
            verdict=proof.verdict,
            proof=_proof(proof),
            rows=tuple(file_rows[proof.obstacle].tolist()),
        )
        for label, proof in proofs[:MOST_SEPARATIONS]
    )


def _proof(proof: Any) -> str:
    """Say what a separability certificate proves."""
    if proof.verdict == "separable":
        return f"every training row is at least {number(proof.margin)} on its side of a plane"
    if proof.verdict == "inseparable":
        return f"{plural(proof.obstacle.size, 'training row makes', 'training rows make')} a plane impossible"
    return f"the time was over; a separating plane has a margin of at most {number(proof.bracket.upper)}"
