"""What stands around a model: the encoder before it, the rows it learnt from, the probabilities behind it.

Encoder        is fitted anew to the training rows, and must be the one that encodes: the same words and columns, numbers to
               nine digits (another processor adds up in another order).
Model          its certificate holds for the encoded rows that it learnt from, and is about what predicts (`tied`).
Labels         follow from the probabilities by an operating point, which is chosen anew from the same outputs.
Probabilities  are fitted anew to the outputs for rows left out, and must be the same there and beyond, but for the end of a
               search. Those outputs are reported by the run and not proved: to compute them anew would be to climb again.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from halfspace._typing import IntArray, Labels
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.calibration import Calibration, Curve
from halfspace.certificates.fields import Record
from halfspace.certificates.log_odds import LogOdds
from halfspace.certificates.operating import Demand, OperatingPoint
from halfspace.certificates.predictor import tied
from halfspace.errors import InputError

__all__ = ["Pipeline"]

DIGITS = 1e-9
NEAR = 0.05
"""Slopes and noise of earlier versions may differ by this from those of a new fit, which ends near the same place."""


class Pipeline(NamedTuple):
    """An encoder, a model that learnt from some of the rows it encodes, and probabilities of its outputs.

    Parameters
    ----------
    encoder : transformer
        From rows to numbers, fitted to the training rows.
    classes : ndarray, shape (K,), or None
        The labels that are predicted; None for numbers, which have no probabilities either.
    calibration : LogOdds, Calibration or None
        Of the outputs, or a record of one, read from a file; the second kind is that of earlier versions.
    out_of_fold : ndarray, shape (n,) or (n, K)
        Outputs for training rows that a model had not seen.
    learnt : mapping
        Learnt attributes of the model, by name.
    certificate : Certificate
        Of the model.
    point : OperatingPoint or None
        Which label follows from probabilities, or a record of it; None of numbers and of models of earlier versions.
    """

    encoder: Any
    classes: Any
    calibration: Any
    out_of_fold: Any
    learnt: Mapping[str, Any]
    certificate: Certificate
    point: Any = None

    def verify(self, rows: Callable[[IntArray], Any], y: Labels, train: IntArray, about: IntArray) -> Verdict:
        """Check everything against rows and their targets y (n,).

        Parameters
        ----------
        rows : function
            From row numbers to these rows.
        y : array, shape (n,)
            Labels or numbers of all rows.
        train, about : ndarray of int
            Rows that the encoder and the probabilities were made from, and those that the model learnt from.
        """
        same = self.classes is None or np.array_equal(self.classes, self.learnt["classes_"])
        around = Verdict.of(
            (same, "the labels are not those of the model"),
            (self._refitted(rows(train)), "the encoder is not the one that its training rows make"),
        )
        if not around:
            return around
        Z = self.encoder.transform(rows(about))
        Z = Z.tocsr() if sparse.issparse(Z) else np.asarray(Z)
        model = self.certificate.verify(Z, y[about]) and tied(self.learnt, self.certificate, Z, y[about])
        return model if self.classes is None else model and self._calibrated(y[train]) and self._decided(y[train])

    def _refitted(self, X: Any) -> bool:
        """Tell whether the encoder is the one that these rows make."""
        again, own = vars(clone(self.encoder).fit(X)), vars(self.encoder)
        return _alike({name: own[name] for name in own if name != "notes_"}, {**again, "notes_": None})

    def _calibrated(self, y: Labels) -> Verdict:
        """Tell whether the probabilities are those of the outputs for rows left out."""
        text = "the probabilities are not those of the outputs for rows left out"
        target = np.searchsorted(self.classes, y)
        if self.out_of_fold.shape[0] != target.size or self.out_of_fold.ndim > 2:
            return Verdict.of((False, text))
        given = _calibration(self.calibration)
        if isinstance(given, LogOdds):
            return Verdict.of((given.agrees(self.out_of_fold, target), text))
        curves = zip(given, Calibration.of(self.out_of_fold, target), strict=True)
        near = all(abs(a.slope - b.slope) <= NEAR * b.slope and abs(a.noise - b.noise) <= NEAR for a, b in curves)
        return Verdict.of((near, text))

    def _decided(self, y: Labels) -> Verdict:
        """Tell whether labels follow from the probabilities as the outputs for rows left out ask for."""
        if self.point is None:
            return Verdict.of()
        kept = self.point.fields if isinstance(self.point, Record) else vars(self.point)
        text = "the operating point is not the one that the outputs for rows left out ask for"
        positive = None if kept["positive"] < 0 else np.asarray(self.classes).tolist()[kept["positive"]]
        try:
            demand = Demand.of_text(str(kept["demand"]))
            P = _calibration(self.calibration).probabilities(self.out_of_fold)
            again = OperatingPoint.choose(demand, P, y, np.asarray(self.classes), positive)
        except InputError as error:
            return Verdict.of((False, f"{text}: {error}"))
        same = kept["weights"].shape == again.weights.shape and np.allclose(kept["weights"], again.weights, rtol=NEAR)
        return Verdict.of((bool(same), text))


def _calibration(given: Any) -> LogOdds | Calibration:
    """Return a calibration, or what a record of one stands for."""
    if not isinstance(given, Record):
        return given  # type: ignore[no-any-return]
    if given.key == "LogOdds":
        return LogOdds(**given.fields)
    return Calibration(*(Curve(**given.fields[name].fields) for name in ("below", "above")))


def _alike(value: Any, other: Any, size: float = 0.0) -> bool:
    """Tell whether two values are the same, numbers to nine digits of the largest beside them; keys one lacks are skipped."""
    if isinstance(value, dict) and isinstance(other, dict):
        size = max((abs(v) for v in other.values() if isinstance(v, float)), default=0.0)
        return all(_alike(value[key], other[key], size) for key in value if key in other)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(_alike(a, b, size) for a, b in zip(value, other, strict=True))
    if isinstance(value, dict | list | tuple) or isinstance(other, dict | list | tuple):
        return False
    if type(value) is type(other) and hasattr(value, "__dict__") and not callable(value) and not isinstance(value, np.ndarray):
        return _alike(vars(value), vars(other))
    a, b = np.asarray(value), np.asarray(other)
    if a.shape != b.shape:
        return False
    if a.dtype.kind == b.dtype.kind == "f":
        room = DIGITS * max(size, float(np.abs(b).max(initial=0.0)))
        return bool(np.allclose(a, b, rtol=0.0, atol=room, equal_nan=True))
    return bool(np.all(a == b))
