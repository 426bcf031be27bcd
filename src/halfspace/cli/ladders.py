"""A fitted ladder as plain facts, for `--json`, and as text, for people; shared by `fit` and `inspect`."""

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from halfspace._text import listed
from halfspace._typing import IntArray
from halfspace.certificates import Separability
from halfspace.cli.answers import clean
from halfspace.cli.text import shortened, table
from halfspace.notes import sentences
from halfspace.report.texts import shown

__all__ = ["facts", "summary", "verdicts"]

MOST_COLUMNS = 8
HEADS = ("rung", "score", "±", "fit", "support", "proof or reason")


def facts(ladder: Any) -> dict[str, Any]:
    """Return what is known of a fitted ladder, without its weights.

    Parameters
    ----------
    ladder : Ladder
        Fitted.

    Returns
    -------
    dict
        Verdict, winner, rungs, held-out test, separability and proof; see `halfspace schema fit`.

    Examples
    --------
    >>> from halfspace.cli.reading import built_in
    >>> from halfspace.ladder import Ladder
    >>> data = built_in("xor", n=60)
    >>> found = facts(Ladder(rungs=("majority",), n_splits=2, n_repeats=1).fit(data.X, data.y))
    >>> found["winner"], [rung["name"] for rung in found["rungs"]]
    ('majority', ['majority'])
    """
    outcome, test, proof = ladder.outcome_, ladder.test_result_, ladder.certificate_
    return {
        "verdict": ladder.verdict_,
        "winner": ladder.winner_,
        "best": ladder.best_,
        "scoring": ladder.scoring_,
        "n_splits": ladder.n_splits_,
        "n_repeats": ladder.n_repeats_,
        "n_train": int(ladder.train_.size),
        "n_test": int(ladder.test_.size),
        "classes": ladder.classes_.tolist(),
        "seconds": ladder.seconds_,
        "outcome": {"reason": outcome.reason, "sentence": outcome.sentence, "remedy": outcome.remedy},
        "rungs": [_rung(rung) for rung in ladder.rungs_],
        "test": None if test is None else {name: getattr(test, name) for name in _TEST},
        "separability": verdicts(ladder.separability_, _file_rows(ladder)),
        "proof": {"kind": type(proof).__name__, "sentence": str(proof)},
        "relevances": [{"column": name, "share": share} for name, share in ladder.relevances_],
        "notes": sentences(ladder.notes_),
    }


def verdicts(found: Iterable[tuple[Any, Separability]], rows: IntArray) -> list[dict[str, Any]]:
    """Return what was found about separability, rows numbered as in the file.

    Parameters
    ----------
    found : iterable of (label, Separability)
        The label against the rest.
    rows : ndarray, shape (n,)
        Number in the file of each row that the proofs are about.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> proof = Separability("inseparable", np.zeros(1), 0.0, 0.0, {0: Fraction(1, 2), 1: Fraction(1, 2)}, None, True, "a")
    >>> verdicts([("a", proof)], np.array([7, 9]))[0]["sentence"]
    'inseparable: the hulls of 2 examples cross (rows 7, 9), in exact arithmetic'
    """
    listing = []
    for label, proof in found:
        numbered = replace(proof, multipliers={int(rows[row]): share for row, share in proof.multipliers.items()})
        listing.append({"label": label, "verdict": proof.verdict, "sentence": str(numbered)})
    return listing


def _file_rows(ladder: Any) -> IntArray:
    """Return the number in the file of each training row; without an origin, its number in what `fit` was given."""
    used = getattr(ladder, "origin_", {}).get("rows")
    train: IntArray = ladder.train_
    return train if used is None else used[train]


_TEST = ("score", "low", "high", "n", "scoring", "accuracy", "confusion")
_RUNG = (
    "name",
    "title",
    "scores",
    "score",
    "error",
    "fit_seconds",
    "predict_seconds",
    "predicted",
    "support",
    "proof",
    "params",
    "skipped",
    "note",
)


def _rung(rung: Any) -> dict[str, Any]:
    """Return one rung as plain facts."""
    return {name: getattr(rung, name) for name in _RUNG}


def summary(found: dict[str, Any]) -> str:
    """Return the facts of a ladder as text: table, verdict, separability, proof.

    Parameters
    ----------
    found : dict
        From `facts`.

    Examples
    --------
    >>> from halfspace.cli.reading import built_in
    >>> from halfspace.ladder import Ladder
    >>> data = built_in("xor", n=60)
    >>> ladder = Ladder(rungs=("majority",), n_splits=2, n_repeats=1).fit(data.X, data.y)
    >>> summary(facts(ladder)).splitlines()[-1].startswith("Proof: ")
    True
    """
    parts = [table(HEADS, [_row(rung, found["winner"]) for rung in found["rungs"]], right="lrrrrl"), "", found["verdict"]]
    if found["outcome"]["reason"] not in {"converged", "solved"}:
        parts.append(f"{found['outcome']['sentence']} {found['outcome']['remedy']}".strip())
    parts += _separability(found["separability"])
    if found["relevances"]:
        parts.append(f"The metric looks at {_relevances(found['relevances'])}.")
    parts.append(f"Proof: {shortened(found['proof']['sentence'])}")
    return "\n".join(parts)


def _row(rung: dict[str, Any], winner: str) -> list[Any]:
    """Return one line of the ladder table."""
    name = f"{rung['title']}  <- winner" if rung["name"] == winner else rung["title"]
    if rung["skipped"]:
        return [name, "-", None, None, None, f"not climbed: {rung['skipped']}"]
    remark = "; ".join(part for part in (rung["proof"], _chosen(rung["params"]), rung["note"]) if part)
    return [name, _number(rung["score"]), _number(rung["error"]), _seconds(rung["fit_seconds"]), rung["support"], remark]


def _chosen(params: dict[str, Any]) -> str:
    """Return the parameters that cross-validation chose."""
    return ", ".join(f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value}" for name, value in params.items())


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.3f}"


def _seconds(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.2g} s"


def _relevances(found: list[dict[str, Any]]) -> str:
    """Name the columns that the metric looks at most, with their shares."""
    most = [f"{shown(part['column'], 40)} ({100 * part['share']:.0f} %)" for part in found[:MOST_COLUMNS]]
    rest = 100 * sum(part["share"] for part in found[MOST_COLUMNS:])
    others = len(found) - len(most)
    return ", ".join(most) + (f" and {others} other {'column' if others == 1 else 'columns'} ({rest:.0f} %)" if others else "")


def _separability(found: list[dict[str, Any]]) -> list[str]:
    """Say whether planes separate the classes of the training rows."""
    if len(found) == 1:
        return [f"The training rows are {found[0]['sentence']}."]
    kinds = {verdict: [part["label"] for part in found if part["verdict"] == verdict] for verdict in _VERDICTS}
    return [f"One class against the rest, {verdict}: {listed(part, 10, clean)}." for verdict, part in kinds.items() if part]


_VERDICTS = ("separable", "inseparable", "undecided")
