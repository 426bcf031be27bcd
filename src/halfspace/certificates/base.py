"""What every certificate is: a frozen value, a check from the data alone, and a JSON form.

No certificate imports a solver. The checks use NumPy's own sums (no fast-math, no threads of ours), in double precision,
and allow for rounding on the safe side: what is claimed is a little less than what was measured, and the checker accepts
a claim only if it holds even against its own rounding.
"""

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from halfspace._json import parse_json
from halfspace._text import plain
from halfspace._typing import Labels, Matrix
from halfspace.certificates.arithmetic import as_rows
from halfspace.certificates.fields import faults, reports, revived
from halfspace.errors import CertificateError, InputError
from halfspace.kernels import Kernel

__all__ = ["Certificate", "Unlabelled", "Verdict", "apart", "check", "from_json"]

FORMAT = 1


@dataclass(frozen=True)
class Verdict:
    """The answer of a check: true or false, and every reason found.

    Parameters
    ----------
    holds : bool
        Whether every claim was confirmed from the data.
    reasons : tuple of str
        What was refuted, a sentence each; empty when the certificate holds.

    Examples
    --------
    >>> bool(Verdict(holds=True)), str(Verdict(holds=False, reasons=("the margin is smaller than claimed",)))
    (True, 'refuted: the margin is smaller than claimed')
    """

    holds: bool
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.holds

    def __str__(self) -> str:
        return "holds" if self.holds else "refuted: " + "; ".join(self.reasons)

    @classmethod
    def of(cls, *claims: tuple[bool, str]) -> Self:
        """Judge pairs of (is it true, what to say if not)."""
        reasons = tuple(text for true, text in claims if not true)
        return cls(holds=not reasons, reasons=reasons)

    @classmethod
    def all_of(cls, verdicts: "list[tuple[str, Verdict]]") -> Self:
        """Join named verdicts: all must hold."""
        reasons = tuple(f"{name}: {reason}" for name, verdict in verdicts for reason in verdict.reasons)
        return cls(holds=not reasons, reasons=reasons)


class Certificate(ABC):
    """A claim that `verify` re-derives from the data.

    Every field is one of three things, and its annotation says which (`halfspace.certificates.fields`): proved, that is
    recomputed or a witness of what is; a parameter of the question, so that another value makes another claim, checked for
    itself; or reported by the run, which `verify` cannot confirm and the text prints apart.
    """

    kinds: ClassVar[dict[str, type["Certificate"]]] = {}

    def __init_subclass__(cls, *, abstract: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not abstract:
            Certificate.kinds[cls.__name__] = cls

    def verify(self, X: Matrix, y: Labels | None = None) -> Verdict:
        """Recompute every claim from the examples X, shape (n, d), and their labels or targets y, shape (n,).

        Claims about examples without labels (`Unlabelled`) need no y.

        Returns
        -------
        Verdict
            True only if every field is sound and every number was confirmed, but for those that `reports` lists.
        """
        sound = self.well_formed()
        if not sound:
            return sound
        try:
            X, y = self.read(X, y)
        except InputError:
            raise
        except ValueError as error:  # scikit-learn's
            raise InputError(str(error)) from error
        try:
            with np.errstate(all="ignore", over="raise"):  # what is not finite is refused, not warned of
                return self.confirm(X, y)
        except InputError as error:  # what cannot be measured, such as examples that vanish, is not confirmed
            return Verdict.of((False, str(error)))
        except (ArithmeticError, np.linalg.LinAlgError) as error:  # numbers that no check can be computed with
            return Verdict.of((False, f"its numbers are too extreme to be checked ({error})"))

    def reports(self) -> list[str]:
        """Return in words what the run says of itself and `verify` cannot confirm, such as how many mistakes it made."""
        return reports(self)

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:
        """Check what is handed in: finite examples, and one label each."""
        if y is None:
            msg = f"a {type(self).__name__} is about labelled examples: verify(X, y) needs their labels y"
            raise InputError(msg)
        return as_rows(X, y)

    def well_formed(self) -> Verdict:
        """Check every field against its annotation, then that the fields belong together, before any arithmetic."""
        found = faults(self)
        return Verdict(holds=False, reasons=tuple(found)) if found else Verdict.of(*self.consistent())

    def consistent(self) -> Iterable[tuple[bool, str]]:
        """Return the conditions between fields that are sound one by one: is it true, and what to say if not."""
        return ()

    @abstractmethod
    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Recompute the claims of a sound certificate from checked examples and labels."""

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (a claim about data alone is about no predictor)
        """Return the numbers that predict, as far as this claim is about them, by name (`halfspace.certificates.predictor`)."""
        return {}

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form of the fields."""
        return cls(**revived(cls, body, from_plain))

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as plain numbers, strings, lists and dictionaries."""
        known = [f for f in fields(self) if not (f.default is None and getattr(self, f.name) is None)]  # type: ignore[arg-type]
        body = {f.name: _plain(getattr(self, f.name)) for f in known}
        return {"kind": type(self).__name__, **body}

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the JSON form, and write it to `path` if one is given."""
        text = json.dumps({"halfspace": "certificate", "format": FORMAT, **self.to_dict()})
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text


def apart(claim: str, certificate: Certificate) -> str:
    """Return a claim in words, and after it what is only reported."""
    said = certificate.reports()
    return f"{claim}; reported by the run, not proved: {', '.join(said)}" if said else claim


class Unlabelled(Certificate, abstract=True):
    """A claim about examples without labels: `verify(X)` is enough, and a y is not looked at."""

    def read(self, X: Matrix, y: Labels | None) -> tuple[Any, Labels]:  # noqa: ARG002  (there are no labels)
        """Check what is handed in: finite examples."""
        return as_rows(X, np.zeros(X.shape[0] if hasattr(X, "shape") else len(X)))


def _plain(value: Any) -> Any:
    """Turn a field into what JSON can hold; floats keep every bit, and infinity, which JSON lacks, is written as text."""
    return plain(value, _RULES, _refuse)


def _theorem(value: tuple[Any, ...]) -> Any:
    """Return a tuple as a list, a NamedTuple with the names of its fields."""
    if hasattr(value, "_asdict"):
        return {"theorem": type(value).__name__, **{name: _plain(v) for name, v in value._asdict().items()}}
    return [_plain(v) for v in value]


def _refuse(value: Any) -> None:
    msg = f"a certificate cannot be written as JSON with a label of type {type(value).__name__}; use strings or numbers"
    raise CertificateError(msg)


_RULES = {
    Certificate: lambda value: value.to_dict(),
    Kernel: lambda value: value.to_dict(),
    float: lambda value: float(value) if math.isfinite(value) else str(value),
    tuple: _theorem,
}


def from_plain(body: dict[str, Any]) -> Certificate:
    """Rebuild a certificate from its plain form; its fields are not checked yet."""
    kind = body.get("kind") if isinstance(body, dict) else body
    if not isinstance(kind, str) or kind not in Certificate.kinds:
        msg = f"unknown certificate kind {kind!r}; there are: {', '.join(sorted(Certificate.kinds))}"
        raise CertificateError(msg)
    cls = Certificate.kinds[kind]
    expected, found = {f.name for f in fields(cls)}, set(body) - {"kind", "halfspace", "format"}  # type: ignore[arg-type]
    # Fields with a default came later: older files lack them.
    later = {f.name for f in fields(cls) if f.default is not MISSING}  # type: ignore[arg-type]
    if not expected - later <= found <= expected:
        msg = f"this {kind} certificate is damaged: it has the fields {sorted(found)}, not {sorted(expected)}"
        raise CertificateError(msg)
    try:
        return cls.from_fields({name: body[name] for name in found})
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"this {kind} certificate is damaged: {error}"
        raise CertificateError(msg) from error


def from_dict(body: dict[str, Any]) -> Certificate:
    """Rebuild a certificate from its plain form, and check its fields."""
    try:
        certificate = from_plain(body)
        sound = certificate.well_formed()
    except RecursionError as error:
        msg = "this certificate is damaged: it is nested too deeply"
        raise CertificateError(msg) from error
    if not sound:
        msg = f"this {type(certificate).__name__} certificate is damaged: {'; '.join(sound.reasons)}"
        raise CertificateError(msg)
    return certificate


def from_json(text: str) -> Certificate:
    """Read a certificate from its JSON form.

    Parameters
    ----------
    text : str
        What `Certificate.to_json` returned.

    Returns
    -------
    Certificate
        The same claims, with bit-equal numbers.

    Examples
    --------
    >>> from_json("{}")
    Traceback (most recent call last):
        ...
    halfspace.errors.CertificateError: this is not a halfspace certificate
    """
    try:
        body = parse_json(text)
    except ValueError as error:  # bad JSON, or a number of thousands of digits
        msg = f"this is not JSON, so not a certificate: {error}"
        raise CertificateError(msg) from error
    if not isinstance(body, dict) or body.get("halfspace") != "certificate":
        msg = "this is not a halfspace certificate"
        raise CertificateError(msg)
    if body.get("format") != FORMAT:
        msg = f"certificate format {body.get('format')!r} is not known to this version (it knows {FORMAT}); update halfspace"
        raise CertificateError(msg)
    return from_dict(body)


def check(path: str | Path, X: Matrix, y: Labels | None = None) -> Verdict:
    """Check a certificate file against data, trusting neither the file nor the solver.

    Parameters
    ----------
    path : path
        A file written by `Certificate.to_json`.
    X : matrix, shape (n, d)
        The examples.
    y : array, shape (n,), optional
        Their labels or targets; not needed by claims about examples without labels.

    Returns
    -------
    Verdict
        True only if every number was confirmed, but for those the run reports of itself (`Certificate.reports`).

    Examples
    --------
    >>> import tempfile, numpy as np, halfspace as hs
    >>> X, y = np.array([[1.0], [-1.0]]), np.array([1, 0])
    >>> path = tempfile.mktemp(suffix=".json")
    >>> text = hs.Perceptron().fit(X, y).certificate_.to_json(path)
    >>> str(check(path, X, y)), bool(check(path, -X, y))
    ('holds', False)
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        msg = f"{path} is not text, so not a certificate: {error}"
        raise CertificateError(msg) from error
    return from_json(text).verify(X, y)
