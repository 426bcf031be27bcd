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
from dataclasses import replace
from typing import Any

import numpy as np

from halfspace import __version__
from halfspace._memory import memory_limit
from halfspace._paths import is_lasting
from halfspace._text import plural
from halfspace._typing import Label, Labels, Matrix
from halfspace.certificates import Certificate, PerClass, Separability
from halfspace.cli.frame import Answer, notes, seconds_left
from halfspace.cli.outputs import check_outputs, complete_file
from halfspace.cli.reading import bytes_on_disk, labels, read_data
from halfspace.files import Dataset
from halfspace.ladder.values import renumbered
from halfspace.notes import sentences
from halfspace.questions.separability import separability
from halfspace.tables import TableEncoder

__all__ = ["run"]


def run(
    file: str,
    target: str | None = None,
    *,
    max_time: float | None = None,
    max_memory: str | None = None,
    out: str | None = None,
    scale: str = "standard",
    **reading: Any,
) -> Answer:
    r"""Decide for the classes of a file; `reading` holds max_rows, format_ and seed."""
    with memory_limit(max_memory, bytes_on_disk(file)):
        return _answer(file, target, max_time, out, scale, reading)


def _answer(
    file: str, target: str | None, max_time: float | None, out: str | None, scale: str, reading: dict[str, Any]
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
    proofs = _decide(X, labels(data), max_time)
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
            {"label": label, "verdict": proof.verdict, "sentence": str(proof)} for label, proof in renumbered(proofs, data.rows)
        ],
        "out": out,
        "notes": said,
    }
    form = ["--format", reading["format_"]] if reading.get("format_") else []
    check = shlex.join(["halfspace", "certify", out, file, *form]) if out and is_lasting(file) else ""
    return Answer(body, _text(body, check))


def _decide(X: Matrix, y: Labels, max_time: float | None) -> list[tuple[Label, Separability]]:
    """Return a proof for two classes, or one for each class against the rest, which share the time left of the command's."""
    classes = np.unique(y)
    if classes.size == 2:
        return [(classes.tolist()[1], separability(X, y, max_time=seconds_left(max_time)))]
    proofs: list[tuple[Label, Separability]] = []
    for label in classes.tolist():
        left = seconds_left(max_time)
        proof = separability(X, y == label, max_time=left and left / (classes.size - len(proofs)))
        bracket = proof.bracket and replace(proof.bracket, positive=label)
        proofs.append((label, replace(proof, positive=label, bracket=bracket)))
    return proofs


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
    end = [f"Check it: {check}"] if check else []
    return "\n".join([head, *lines, *end])
