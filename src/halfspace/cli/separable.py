"""`halfspace separable`: whether planes separate the classes of a file, with a proof that `certify` checks.

The proof file is JSON: how the file was read and turned into numbers, and a certificate. The preprocessing itself is not in
it: `TableEncoder` learns it anew from the same rows, so the checker need not trust it.

    halfspace    "separability"
    format       1
    version      of halfspace
    source       name of the file without its folder
    target       column of the labels
    scale        of `TableEncoder`
    n_rows       rows in the file
    rows         rows that were used, or null for all
    certificate  of `halfspace.certificates`
"""

import json
import shlex
import time
from dataclasses import replace
from typing import Any

import numpy as np

from halfspace import __version__
from halfspace._memory import memory_limit
from halfspace._paths import is_lasting
from halfspace._text import plural
from halfspace._typing import Label, Labels, Matrix
from halfspace.certificates import Certificate, PerClass, Separability
from halfspace.cli.frame import LEAST, Answer, notes, seconds_left
from halfspace.cli.outputs import check_outputs, complete_file
from halfspace.cli.reading import bytes_on_disk, labels, read_data
from halfspace.files import Dataset
from halfspace.notes import Note, sentences
from halfspace.questions.chance import ByChance, separable_by_chance
from halfspace.questions.separability import renumbered, separability
from halfspace.tables import TableEncoder

__all__ = ["run"]

PATIENCE, LOOKING, ENTRIES = 10.0, 60.0, 1e5
"""Where no time limit is given: seconds for random orders of the labels; for all classes together; entries for one more."""


def run(
    file: str,
    target: str | None = None,
    *,
    max_time: float | None = None,
    max_memory: str | None = None,
    out: str | None = None,
    scale: str = "standard",
    permutations: int = 19,
    **reading: Any,
) -> Answer:
    r"""Decide for the classes of a file; `reading` holds max_rows, format_ and seed."""
    with memory_limit(max_memory, bytes_on_disk(file)):
        return _answer(file, target, max_time, out, scale, permutations, reading)


def _answer(
    file: str,
    target: str | None,
    max_time: float | None,
    out: str | None,
    scale: str,
    permutations: int,
    reading: dict[str, Any],
) -> Answer:
    """Decide within the memory limit in force."""
    check_outputs([file], {"--out": out}, devices=True)
    data = read_data(
        file, target, format=reading.get("format_"), max_rows=reading.get("max_rows"), random_state=reading.get("seed", 0)
    )
    encoder = TableEncoder(scale=scale)
    X = encoder.fit(data.X).transform(data.X)
    said = sentences([*data.notes, *encoder.notes_])
    notes(said)
    y = labels(data)
    proofs = _decide(X, y, max_time, complete=out is not None)
    if any(proof.verdict == "undecided" for _, proof in proofs):
        late = ["Undecided in this time; --max-time SECONDS allows more."]
        notes(late)
        said = [*said, *late]
    rest = np.unique(y).size - len(proofs) if len(proofs) > 1 else 0
    if rest:
        late = sentences([Note("no time", count=rest)])
        notes(late)
        said = [*said, *late]
    worth = _worth(X, y, proofs, permutations, max_time)
    several = PerClass(tuple(label for label, _ in proofs), tuple(proof for _, proof in proofs))
    certificate = proofs[0][1] if len(proofs) == 1 else several
    if out:
        _write(out, data, scale, certificate)
    body = {
        "command": "separable",
        "halfspace": __version__,
        "source": data.source.name,
        "target": data.target,
        "n_rows": int(data.n_rows),
        "n_used": int(data.rows.size),
        "n_inputs": int(X.shape[1]),
        "verdicts": [
            {"label": label, "verdict": proof.verdict, "sentence": str(proof), "by_chance": by_chance and _plainly(by_chance)}
            for (label, proof), by_chance in zip(renumbered(proofs, data.rows), worth, strict=True)
        ],
        "out": out,
        "notes": said,
    }
    form = ["--format", reading["format_"]] if reading.get("format_") else []
    check = shlex.join(["halfspace", "certify", out, file, *form]) if out and is_lasting(file) else ""
    return Answer(body, _text(body, check))


def _decide(X: Matrix, y: Labels, max_time: float | None, *, complete: bool) -> list[tuple[Label, Separability]]:
    """Return a proof for two classes, or one for each class against the rest, which share the time left of the command's.

    Classes are left out, from the third on, if even the beginning would end too late; not where a proof of all is asked for.
    """
    classes, began = np.unique(y), time.perf_counter()

    def seconds() -> float:
        left = seconds_left(max_time)
        return left if left is not None else max(1.0, began + LOOKING + X.shape[0] * X.shape[1] / ENTRIES - time.perf_counter())

    if classes.size == 2:
        return [(classes.tolist()[1], separability(X, y, max_time=seconds()))]
    proofs: list[tuple[Label, Separability]] = []
    shortest = np.inf
    for label in classes.tolist():
        begun, left = time.perf_counter(), seconds()
        if max_time is not None and len(proofs) > 1 and not complete and left <= max(shortest, LEAST):
            break
        proof = separability(X, y == label, max_time=left / (classes.size - len(proofs)))
        bracket = proof.bracket and replace(proof.bracket, positive=label)
        proofs.append((label, replace(proof, positive=label, bracket=bracket)))
        shortest = min(shortest, time.perf_counter() - begun)
    return proofs


def _worth(
    X: Matrix, y: Labels, proofs: list[tuple[Label, Separability]], permutations: int, max_time: float | None
) -> list[ByChance | None]:
    """Say of every separable class what that is worth, in the time left of the command's, or in a few seconds."""
    found: list[ByChance | None] = []
    for label, proof in proofs:
        left = seconds_left(max_time)
        share = (PATIENCE if left is None else left) / (len(proofs) - len(found))
        asked = permutations if proof.verdict == "separable" else 0
        found.append(separable_by_chance(X, y == label, permutations=asked, max_time=share) if asked else None)
    return found


def _plainly(found: ByChance) -> dict[str, Any]:
    """Return what separability is worth as plain numbers, and in words."""
    count = found.count
    numbers = {"rank": count.rank, "rank_at_most": count.most, "log_share": count.log_share, "positives": found.positives}
    numbers |= {"ratio": found.ratio, "threshold": found.threshold, "tried": found.tried, "separable": found.separable}
    return {**numbers, "p_value": found.p_value, "sentence": str(found)}


def _write(out: str, data: Dataset, scale: str, certificate: Certificate) -> None:
    """Write the proof file."""
    body = {
        "halfspace": "separability",
        "format": 1,
        "version": __version__,
        "source": data.source.name,
        "target": data.target,
        "scale": scale,
        "n_rows": int(data.n_rows),
        "rows": None if data.rows.size == data.n_rows else data.rows.tolist(),
        "certificate": certificate.to_dict(),
    }
    with complete_file(out) as file:
        file.write(json.dumps(body).encode())


def _text(body: dict[str, Any], check: str) -> str:
    """Return the answer for people, with the command that checks it, if there is one."""
    verdicts = body["verdicts"]
    head = f"{body['source']}: {plural(body['n_used'], 'row')}, {plural(body['n_inputs'], 'input')} after preprocessing"
    lines = [verdicts[0]["sentence"]] if len(verdicts) == 1 else [f"{v['label']}: {v['sentence']}" for v in verdicts]
    worth = [v["by_chance"] and v["by_chance"]["sentence"] for v in verdicts]
    lines = [text for pair in zip(lines, worth, strict=True) for text in pair if text]
    end = [f"Check it: {check}"] if check else []
    return "\n".join([head, *lines, *end])
