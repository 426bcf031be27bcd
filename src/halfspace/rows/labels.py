"""Labels of any kind to class numbers and back; weights of classes and examples."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from halfspace._typing import FloatArray, IntArray, Label, Labels
from halfspace.errors import InputError

__all__ = ["class_numbers", "example_weights", "given_classes", "mean_per_class", "positive_number", "read_classes"]

LARGEST = 1e50
"""Largest weight, and (inverted) smallest class weight: beyond, products with the data could overflow."""


def read_classes(y: Labels, owner: str, name: str = "y") -> tuple[Labels, IntArray]:
    """Return the sorted classes and the class number of every label, shape (n,).

    Examples
    --------
    >>> classes, target = read_classes(np.array(["spam", "ham", "spam"]), "Perceptron")
    >>> classes.tolist(), target.tolist()
    (['ham', 'spam'], [1, 0, 1])
    """
    y = np.asarray(y)
    narrow = y.dtype.kind in "iu" and int(y.max()) - int(y.min()) <= y.size + 1000
    if narrow:
        classes, target = _count_classes(y)
    else:
        classes, target = _sorted_classes(y, f"{owner}: the labels in {name}")
    if classes.size < 2:
        msg = f"{owner} needs at least 2 classes in {name}, but there is only one class: {classes.tolist()[0]!r}."
        raise InputError(msg)
    return classes, target.astype(np.int64, copy=False)


def _count_classes(y: Labels) -> tuple[Labels, IntArray]:
    """Return what `np.unique` with inverse does, by counting instead of sorting: whole numbers from a narrow range."""
    offset = int(y.min())
    shifted = y.astype(np.int64) - offset if offset < 2**62 else (y - y.min()).astype(np.int64)
    present = np.bincount(shifted) > 0
    number = np.cumsum(present) - 1
    classes = np.flatnonzero(present).astype(y.dtype)
    return classes + y.dtype.type(offset), number[shifted]


def _sorted_classes(y: Labels, who: str) -> tuple[Labels, IntArray]:
    """Return what `np.unique` with inverse does, or say which kind of labels cannot be sorted."""
    try:
        check_classification_targets(y)
        return np.unique(y, return_inverse=True)
    except TypeError as error:
        kinds = sorted({type(label).__name__ for label in y.tolist()})
        msg = f"{who} must all be of one kind (all strings, or all numbers), but there are: {', '.join(kinds)}."
        raise InputError(msg) from error


def given_classes(classes: Any, owner: str) -> Labels:
    """Return the classes announced for a stream, sorted; at least two are needed."""
    announced = np.asarray(classes)
    missing = announced.dtype.kind == "f" and not np.isfinite(announced).all()
    if announced.ndim != 1 or announced.size == 0 or missing:
        msg = f"{owner}: classes must list all labels there will ever be, at least 2 classes. Got {classes!r} instead."
        raise InputError(msg)
    return read_classes(announced, owner, "classes")[0]


def class_numbers(y: Labels, classes: Labels, owner: str) -> IntArray:
    """Return the class number of every label, shape (n,), for classes fixed beforehand."""
    y = np.asarray(y)
    if classes.size == 2:
        upper = y == classes[1]
        known = upper | (y == classes[0])
        target = upper.astype(np.int64)
    else:
        try:
            target = np.searchsorted(classes, y)
        except TypeError:  # labels of another kind
            target = np.zeros(y.size, dtype=np.int64)
        known = classes[np.minimum(target, classes.size - 1)] == y
    if not known.all():
        unknown = ", ".join(sorted({repr(label) for label in y[~np.broadcast_to(known, y.shape)].tolist()})[:5])
        msg = f"{owner}.partial_fit: labels outside `classes`: {unknown}. The classes are {classes.tolist()}."
        raise InputError(msg)
    return target


def positive_number(classes: Labels, positive: Label | None) -> int:
    """Return the number of the positive class: the named one, or the last."""
    if positive is None:
        return classes.size - 1
    found = np.flatnonzero([label == positive or str(label) == str(positive) for label in classes.tolist()])
    if found.size != 1:
        msg = f"The positive class must be one of {', '.join(map(str, classes.tolist()))}. Got {positive!r} instead."
        raise InputError(msg)
    return int(found[0])


def mean_per_class(values: Labels, target: IntArray) -> float:
    """Return the mean over the classes of the mean of their values, shape (n,): of right answers, balanced accuracy."""
    counts = np.bincount(target)
    sums = np.bincount(target, weights=np.asarray(values, dtype=np.float64))
    return float(np.mean(sums[counts > 0] / counts[counts > 0]))


def _sensible(value: Any) -> bool:
    """Tell whether a class weight is a number that arithmetic can bear."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(1.0 / LARGEST <= float(value) <= LARGEST)


def _per_class(class_weight: Any, classes: Labels, target: IntArray, owner: str) -> FloatArray:
    """Return the weight of every class."""
    if not isinstance(class_weight, dict) and not (isinstance(class_weight, str) and class_weight == "balanced"):
        msg = f"The 'class_weight' parameter of {owner} must be None, 'balanced' or a dict. Got {class_weight!r} instead."
        raise InputError(msg)
    if isinstance(class_weight, dict) and not all(_sensible(v) for v in class_weight.values()):
        msg = f"The 'class_weight' parameter of {owner} must hold numbers from 1e-50 to 1e50. Got {class_weight!r} instead."
        raise InputError(msg)
    try:
        return np.asarray(compute_class_weight(class_weight, classes=classes, y=classes[target]), dtype=np.float64)
    except (ValueError, TypeError) as error:  # of keys that are no classes
        msg = f"The 'class_weight' parameter of {owner}: {error}"
        raise InputError(msg) from error


def example_weights(
    class_weight: dict[Any, float] | str | None,
    sample_weight: Any,
    classes: Labels,
    target: IntArray,
    owner: str,
) -> FloatArray:
    """Return the weight of every example, shape (n,): its class's weight times its own.

    Examples
    --------
    >>> example_weights({"b": 3.0}, None, np.array(["a", "b"]), np.array([0, 1, 1]), "HebbClassifier").tolist()
    [1.0, 3.0, 3.0]
    """
    weight = np.ones(target.size)
    if class_weight is not None:
        weight *= _per_class(class_weight, classes, target, owner)[target]
    if sample_weight is not None:
        try:
            if np.asarray(sample_weight).dtype.kind not in "biuf":
                raise TypeError("numbers expected")  # noqa: TRY301  (one message for all that are not)
            own = np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            msg = f"{owner}: sample_weight must be one number per example: {error}"
            raise InputError(msg) from error
        own = np.full(target.shape, own) if own.ndim == 0 else own
        if own.shape != target.shape:
            msg = f"{owner}: sample_weight.shape == {own.shape}, expected {target.shape}: one weight per example."
            raise InputError(msg)
        if not (np.isfinite(own).all() and ((own == 0) | ((own >= 1.0 / LARGEST) & (own <= LARGEST))).all()):
            msg = f"{owner}: each sample_weight must be 0 or from {1.0 / LARGEST:g} to {LARGEST:g}."
            raise InputError(msg)
        if not own.any():
            msg = f"{owner}: Sample weights must contain at least one non-zero number."
            raise InputError(msg)
        weight *= own
    return weight
