"""`halfspace certify`: a model's certificate against the data, in a process that imports no solver and no model.

What is trusted: the preprocessing and the row numbers in the model file say what was claimed, about which rows. What is
recomputed from the data: the labels, the encoded rows, and every number of the certificate. What is not checked: whether the
weights that predict are those of the certificate; the file's checksum says only that they were written together.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfspace import __version__
from halfspace._paths import is_lasting
from halfspace._text import plural
from halfspace.certificates import Certificate, Verdict, from_json
from halfspace.certificates.base import from_dict
from halfspace.cli.frame import REFUTED, Answer, notes, refuse
from halfspace.cli.reading import as_numbers, labels, read_data
from halfspace.cli.text import shortened
from halfspace.errors import CertificateError, FileError, InputError, ModelFileError
from halfspace.files import Dataset, stream
from halfspace.files.opening import on_disk
from halfspace.modelfiles import read_tree
from halfspace.notes import sentences
from halfspace.tables import TableEncoder

__all__ = ["Claim", "run"]

LARGEST_JSON = 1 << 30


@dataclass(frozen=True)
class Claim:
    """A certificate, and the rows it is about.

    Parameters
    ----------
    certificate : Certificate
        What is claimed.
    encode : function
        From rows of the file to the matrix the claim is about.
    target : str or None
        Column of the labels.
    n_rows : int or None
        Rows of the file, if known.
    rows : ndarray, shape (m,), or None
        Rows the claim is about; None for all.
    built_in : str or None
        Name of the built-in problem, if it is about that.
    """

    certificate: Certificate
    encode: Callable[[Any], Any]
    target: str | None = None
    n_rows: int | None = None
    rows: Any = None
    built_in: str | None = None


class Checked(NamedTuple):
    """What the claim was checked against: name and rows of the file, rows used, and notes."""

    source: str
    n_rows: int
    n_checked: int = 0
    notes: tuple[str, ...] = ()


def run(model: str, file: str | None = None, *, target: str | None = None, format_: str | None = None) -> Answer:
    """Check the claim in a model file, or in a proof written as JSON."""
    began = time.perf_counter()
    claim = _claim_of(model)
    if file is None and claim.built_in is None:
        refuse(f"{model} was not fitted to built-in data: name the FILE it was fitted to")
    checked, verdict = _check(claim, file, target, format_)
    body = {
        "command": "certify",
        "halfspace": __version__,
        "model": model,
        "source": checked.source,
        "holds": verdict.holds,
        "reasons": list(verdict.reasons),
        "proof": {"kind": type(claim.certificate).__name__, "sentence": str(claim.certificate)},
        "n_rows": checked.n_rows,
        "n_checked": checked.n_checked,
        "seconds": time.perf_counter() - began,
        "notes": list(checked.notes),
    }
    notes(checked.notes)
    return Answer(body, _text(body), 0 if verdict else REFUTED)


def _check(claim: Claim, file: str | None, target: str | None, format_: str | None) -> tuple[Checked, Verdict]:
    """Read the rows that the claim is about, and check it against them."""
    try:
        data = read_data(file, target or claim.target, format=format_, rows=claim.rows)
    except FileError:
        raise
    except InputError as error:  # it is a table, but has not these rows
        n_rows = sum(batch.X.shape[0] for batch in stream(file, format=format_)) if file and is_lasting(file) else 0
        return Checked(Path(file or "").name, n_rows), _same_size(claim, n_rows) and Verdict.of((False, str(error)))
    checked = Checked(data.source.name, data.n_rows, int(data.rows.size), tuple(sentences(data.notes)))
    return checked, _same_size(claim, data.n_rows) and _verify(claim, data)


def _same_size(claim: Claim, n_rows: int) -> Verdict:
    """Refute a claim about a file of another size."""
    same = claim.n_rows in {None, n_rows}
    return Verdict.of((same, f"the file has {plural(n_rows, 'row')}, but the claim is about one of {claim.n_rows or 0:,}"))


def _verify(claim: Claim, data: Dataset) -> Verdict:
    """Check the certificate; labels or shapes that it cannot be about refute it."""
    y = labels(data)
    try:
        return claim.certificate.verify(claim.encode(data.X), y)
    except InputError:  # nothing that can be checked
        raise
    except ValueError as error:
        return Verdict.of((False, " ".join(str(error).split())))


def _claim_of(model: str) -> Claim:
    """Read the claim of a model file, or of a JSON file."""
    with on_disk(model) as path:
        with path.open("rb") as file:
            is_json = file.read(1) == b"{"
        return _claim_of_json(path) if is_json else _claim_of_model(str(path))


def _claim_of_json(path: Path) -> Claim:
    """Read a proof of `halfspace separable --out`, or a certificate alone."""
    if path.stat().st_size > LARGEST_JSON:
        msg = f"{path} is too large for a certificate"
        raise CertificateError(msg)
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        body = json.loads(text)
    except (ValueError, RecursionError) as error:
        msg = f"{path} is not JSON, so not a certificate: {error}"
        raise CertificateError(msg) from error
    if not isinstance(body, dict) or body.get("halfspace") != "separability":
        return Claim(from_json(text), as_numbers)
    if body.get("format") != 1:
        msg = f"{path} has the format {body.get('format')!r}, which this version does not know; update halfspace"
        raise CertificateError(msg)
    try:
        rows = np.arange(int(body["n_rows"])) if body["rows"] is None else _row_numbers(body["rows"])
        encoder = TableEncoder(scale=str(body["scale"]))
        return Claim(from_dict(body["certificate"]), encoder.fit_transform, body["target"], int(body["n_rows"]), rows)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        if isinstance(error, CertificateError):
            raise
        msg = f"{path} is damaged: {error!r} in its description"
        raise CertificateError(msg) from error


def _row_numbers(rows: Any) -> Any:
    """Return row numbers as an array, or refuse what are none."""
    found = np.asarray(rows)
    if found.ndim != 1 or found.dtype.kind != "i" or not found.size or found.min() < 0:
        msg = "what should be row numbers"
        raise TypeError(msg)
    return found


def _claim_of_model(model: str) -> Claim:
    """Read the claim of a model file: of the command, or saved from Python."""
    tree = read_tree(model)
    certificate = tree.certificate()
    if not isinstance(certificate, Certificate):
        refuse(f"{model} holds a {tree.model} without a certificate")
    if "encoder_" not in tree.fitted:
        columns = tree.decode("feature_names_in_") if "feature_names_in_" in tree.fitted else None
        return Claim(certificate, lambda X: as_numbers(X, columns))
    encode, learnt = tree.decode("encoder_").transform, tree.decode("learnt_")
    if "origin_" not in tree.fitted:
        return Claim(certificate, encode, rows=learnt)
    origin = tree.decode("origin_")
    try:
        rows = _row_numbers(origin["rows"][learnt])
        return Claim(certificate, encode, origin["target"], int(origin["n_rows"]), rows, origin["built_in"])
    except (IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"{model} is damaged: {error!r} in its origin"
        raise ModelFileError(msg) from error


def _text(body: dict[str, Any]) -> str:
    """Return the answer for people."""
    head = f"Claim: {shortened(body['proof']['sentence'])}"
    if body["holds"]:
        rows = f"{plural(body['n_checked'], 'training row')} of {body['n_rows']:,} in {body['source']}"
        return f"{head}\nIt holds: re-derived from {rows}, importing no solver; other rows are no part of the claim."
    return "\n".join([head, f"Refuted by {body['source']}:", *(f"  {reason}" for reason in body["reasons"])])
