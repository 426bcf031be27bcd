"""`halfspace certify`: a model's certificate against the data, in a process that imports no solver and no model.

What is trusted: the row numbers in the model file say what was claimed, about which rows. What is recomputed from the data: the
labels, the encoder, the encoded rows, and every number of the certificate. What is compared: the weights, prototypes, support
vectors and labels that the model would predict with are those that the certificate is about. What is reported by the run and
not proved: the outputs for rows left out, which the probabilities are fitted to, and the scores of the rungs.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfspace import __version__
from halfspace._json import parse_json
from halfspace._paths import is_lasting
from halfspace._text import plural
from halfspace.certificates import Certificate, Verdict, from_json
from halfspace.certificates.base import from_dict
from halfspace.certificates.pipeline import Pipeline
from halfspace.certificates.predictor import tied
from halfspace.cli.frame import REFUTED, Answer, notes, refuse
from halfspace.cli.reading import as_numbers, labels, read_data
from halfspace.cli.text import proof_of, shortened
from halfspace.errors import CertificateError, FileError, InputError, ModelFileError
from halfspace.files import Dataset, stream
from halfspace.files.opening import on_disk
from halfspace.modelfiles import read_tree
from halfspace.notes import sentences
from halfspace.tables import TableEncoder
from halfspace.tables.columns import take

__all__ = ["Claim", "run"]

LARGEST_JSON = 1 << 30
ORDER = "The claim names rows by their number: if the file was sorted or edited since the fit, check the file as it was then."
DAMAGES = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Claim:
    """A certificate, and the rows it is about.

    Parameters
    ----------
    certificate : Certificate
        What is claimed.
    check : function
        From rows of the file and their labels to the verdict.
    target : str or None
        Column of the labels.
    n_rows : int or None
        Rows of the file, if known.
    rows : ndarray, shape (m,), or None
        Rows that the check needs, ascending; None for all.
    n_about : int or None
        How many of them the certificate is about; None for all.
    built_in : str or None
        Name of the built-in problem, if it is about that.
    reading : mapping
        How the file was read: the task, and columns that are no inputs.
    """

    certificate: Certificate
    check: Callable[[Any, Any], Verdict]
    target: str | None = None
    n_rows: int | None = None
    rows: Any = None
    n_about: int | None = None
    built_in: str | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)


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
        "proof": proof_of(claim.certificate),
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
        data = read_data(file, target or claim.target, format=format_, rows=claim.rows, **claim.reading)
    except FileError:
        raise
    except InputError as error:  # it is a table, but has not these rows
        n_rows = sum(batch.X.shape[0] for batch in stream(file, format=format_)) if file and is_lasting(file) else 0
        return Checked(Path(file or "").name, n_rows), _same_size(claim, n_rows) and Verdict.of((False, str(error)))
    n_checked = int(data.rows.size) if claim.n_about is None else claim.n_about
    checked = Checked(data.source.name, data.n_rows, n_checked, tuple(sentences(data.notes)))
    return checked, _same_size(claim, data.n_rows) and _verify(claim, data)


def _same_size(claim: Claim, n_rows: int) -> Verdict:
    """Refute a claim about a file of another size."""
    same = claim.n_rows in {None, n_rows}
    return Verdict.of((same, f"the file has {plural(n_rows, 'row')}, but the claim is about a file of {claim.n_rows or 0:,}"))


def _verify(claim: Claim, data: Dataset) -> Verdict:
    """Check the certificate; labels or shapes that it cannot be about refute it."""
    y = labels(data, numbers=True)
    try:
        return claim.check(data.X, y)
    except (InputError, ModelFileError):  # nothing that can be checked
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
        body = parse_json(text)
    except ValueError as error:
        msg = f"{path} is not JSON, so not a certificate: {error}"
        raise CertificateError(msg) from error
    if not isinstance(body, dict) or body.get("halfspace") != "separability":
        certificate = from_json(text)
        return Claim(certificate, lambda X, y: certificate.verify(as_numbers(X), y))
    if body.get("format") != 1:
        msg = f"{path} has the format {body.get('format')!r}, which this version does not know; update halfspace"
        raise CertificateError(msg)
    try:
        rows = np.arange(int(body["n_rows"])) if body["rows"] is None else _row_numbers(body["rows"])
        encoder, proof = TableEncoder(scale=str(body["scale"])), from_dict(body["certificate"])
        check = lambda X, y: proof.verify(encoder.fit_transform(X), y)  # noqa: E731
        return Claim(proof, check, body["target"], int(body["n_rows"]), rows)
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
    try:
        learnt = tree.predicting().learnt()
        if "encoder_" not in tree.fitted:
            return Claim(certificate, partial(_check_model, model, learnt, certificate, learnt.get("feature_names_in_")))
        names = ("encoder_", "classes_", "calibration_", "out_of_fold_", "operating_point_")
        around = [tree.decode(name) if name in tree.fitted else None for name in names]
        pipeline = Pipeline(around[0], around[1], around[2], around[3], learnt, certificate, around[4])
        train, about = _row_numbers(tree.decode("train_")), _row_numbers(tree.decode("learnt_"))
        needed = np.union1d(train, about)
        if not ((np.diff(train) > 0).all() and (np.diff(about) > 0).all()):
            refuse(f"{model} is damaged: its row numbers do not rise")
        check = partial(_check_pipeline, model, pipeline, np.searchsorted(needed, train), np.searchsorted(needed, about))
        if "origin_" not in tree.fitted:
            return Claim(certificate, check, rows=needed, n_about=about.size)
        origin = tree.decode("origin_")
        rows, about_file = _row_numbers(origin["rows"][needed]), (origin["target"], int(origin["n_rows"]))
        reading = {"task": str(origin.get("task", "classify")), **origin.get("roles", {})}
        return Claim(certificate, check, *about_file, rows, about.size, origin["built_in"], reading)
    except DAMAGES as error:
        raise _damaged(model, error) from error


def _check_model(model: str, learnt: Any, certificate: Certificate, columns: Any, X: Any, y: Any) -> Verdict:
    """Check the certificate of a model, and that it is about the numbers that predict."""
    rows = as_numbers(X, columns)
    verdict = certificate.verify(rows, y)
    try:
        return verdict and tied(learnt, certificate, rows, y)
    except DAMAGES as error:
        raise _damaged(model, error) from error


def _check_pipeline(model: str, pipeline: Pipeline, train: Any, about: Any, X: Any, y: Any) -> Verdict:
    """Check the encoder, the certificate of the model behind it, and the probabilities."""
    try:
        return pipeline.verify(partial(take, X), y, train, about)
    except DAMAGES as error:
        raise _damaged(model, error) from error


def _damaged(model: str, error: Exception) -> Exception:
    """Return the error of a file whose parts do not fit together."""
    if isinstance(error, InputError | ModelFileError | CertificateError):
        return error
    return ModelFileError(f"{model} is damaged: {error!r} in what it has learnt")


def _text(body: dict[str, Any]) -> str:
    """Return the answer for people."""
    head = f"Claim: {shortened(body['proof']['sentence'])}"
    if body["holds"]:
        rows = f"{plural(body['n_checked'], 'training row')} of {body['n_rows']:,} in {body['source']}"
        return f"{head}\nIt holds: re-derived from {rows}, importing no solver; other rows are no part of the claim."
    return "\n".join([head, f"Refuted by {body['source']}:", *(f"  {reason}" for reason in body["reasons"]), ORDER])
