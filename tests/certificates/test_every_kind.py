"""What every kind of certificate has in common, shown by the stored ones: it does not change, and overflow refutes it."""

import inspect
import json
from dataclasses import FrozenInstanceError, fields, replace
from pathlib import Path

import numpy as np
import pytest

from halfspace.certificates import from_json
from halfspace.errors import InputError

FILES = sorted((Path(__file__).parent / "stored").glob("*.json"))
every_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
INDIFFERENT = {"ClassCounts", "OneLabel", "TargetMean"}
"""Claims about labels or targets alone."""
ANY_SIZE = INDIFFERENT | {"HamLoss", "LabelCount", "NeighbourErrors", "NeighbourMeans", "Separability"}
"""Claims that are true, and checked, whatever the size of the examples."""
ABSENT = dict.fromkeys(("clamp", "error", "ridge", "floor", "free", "rescale", "exactly_zero"), (0.0,))
ABSENT |= dict.fromkeys(("sample_weight", "constant", "omega", "beta", "freedom"), (None,))
ABSENT |= {"bias": (None, 0.0), "scale": (None, 1.0), "delta": (0.05,), "passes": (1,), "spectral": (True,)}


def stored(path):
    kept = json.loads(path.read_text(encoding="utf-8"))
    X, y = np.array(kept["X"], dtype=np.float64), None if kept["y"] is None else np.array(kept["y"])
    return from_json(json.dumps(kept["certificate"])), X, y


@every_file
def test_a_certificate_is_a_frozen_value_compared_by_identity(path):
    """Nothing can be put into it, and an equal one is another: arrays do not compare to one truth value."""
    proof = stored(path)[0]
    for field in fields(proof):
        with pytest.raises(FrozenInstanceError):
            setattr(proof, field.name, getattr(proof, field.name))
    assert len({proof, stored(path)[0]}) == 2
    assert proof == proof  # noqa: PLR0124  (the claim is about comparing)
    assert proof != replace(proof)  # also where all fields are the same objects


def refuted(proof, X, y):
    """Tell whether a check does not confirm, by a verdict or by an error that `verify` makes one of."""
    with np.errstate(all="ignore"):
        try:
            return not proof.confirm(*proof.read(X, y))
        except (InputError, ArithmeticError, np.linalg.LinAlgError):
            return True


@every_file
@pytest.mark.parametrize("size", [1e308, 1e160, 1e-160])
def test_overflow_refutes_also_where_no_flag_is_seen(path, size):
    """Examples near the ends of the floating range confirm nothing, whether or not the processor's flags are looked at."""
    proof, X, y = stored(path)
    if type(proof).__name__ in ANY_SIZE or path.stem == "RidgeGap-exact":  # that of nothing but zeros
        return
    X = X / np.abs(X).max() * size
    assert refuted(proof, X, y)
    if y is not None and y.dtype.kind == "f":
        assert refuted(proof, X, y / np.abs(y).max() * size)


@every_file
def test_other_shapes_are_refuted_in_words(path):
    """A column or a row more or less is refuted, by a verdict with a reason."""
    proof, X, y = stored(path)
    if type(proof).__name__ in INDIFFERENT:
        return
    for data in (X[:, :-1], np.hstack([X, X[:, :1]])) if X.shape[1] > 1 else (np.hstack([X, X]),):
        verdict = proof.verify(data, y)
        assert not verdict or type(proof).__name__.startswith("Neighbour")
        assert verdict or all(verdict.reasons)
    for rows in (np.arange(X.shape[0] - 1), np.append(np.arange(X.shape[0]), 0)):
        verdict = proof.verify(X[rows], None if y is None else y[rows])
        assert bool(verdict) == (not verdict.reasons)
        assert all(verdict.reasons)


@every_file
def test_what_is_not_handed_in_is_not_there(path):
    """No bias, clamped input, weight, penalty or error is assumed by default, in any way to make a certificate."""
    kind = type(stored(path)[0])
    for make in (
        getattr(kind, name) for name in dir(kind) if name in ("measure", "claim", "draft", "of", "__init__", "_confirmed")
    ):
        for name, one in inspect.signature(make).parameters.items():
            if name in ABSENT and one.default is not inspect.Parameter.empty:
                assert one.default in ABSENT[name], f"{make.__qualname__}: {name}"


NUMBERS_OF_ROWS = ("rows", "support", "learnt", "apart", "labels", "cells", "rivals")


@every_file
def test_a_row_that_is_not_there_is_refuted_in_words(path):
    """Row, class and cell numbers beyond the last one, and below 0, are refuted by a verdict, never by an error."""
    proof, X, y = stored(path)
    for name in NUMBERS_OF_ROWS:
        value = getattr(proof, name, None)
        for place in {0, value.size - 1} if isinstance(value, np.ndarray) and value.size and value.dtype.kind == "i" else ():
            for wrong in (X.shape[0], X.shape[0] + 7, -1):
                changed = value.copy()
                changed[place] = wrong
                verdict = replace(proof, **{name: changed}).verify(X, y)
                assert not verdict, (name, place, wrong)
                assert all(verdict.reasons)
