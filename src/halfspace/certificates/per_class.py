"""One certificate per class, for one-vs-rest models."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

from halfspace._typing import Label, Labels, Matrix
from halfspace.certificates.arithmetic import is_label
from halfspace.certificates.base import Certificate, Verdict, from_dict

__all__ = ["PerClass"]


@dataclass(frozen=True, eq=False)
class PerClass(Certificate):
    """The certificates of the problems "this class against the rest"; it holds if all of them do.

    Parameters
    ----------
    classes : tuple
        The labels.
    parts : tuple of Certificate
        One for each label, in the same order.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X, y = np.eye(3), np.array(["a", "b", "c"])
    >>> proof = hs.Perceptron().fit(X, y).certificate_
    >>> [label for label, part in proof], bool(proof.verify(X, y))
    (['a', 'b', 'c'], True)
    """

    classes: tuple[Label, ...]
    parts: tuple[Certificate, ...]

    def __iter__(self) -> Iterator[tuple[Label, Certificate]]:
        return zip(self.classes, self.parts, strict=True)

    def __getitem__(self, label: Label) -> Certificate:
        return dict(self)[label]

    def __str__(self) -> str:
        return "\n".join(f"{label}: {part}" for label, part in self)

    def well_formed(self) -> Verdict:
        """Check that there is one sound part per class, about that class."""
        labels = isinstance(self.classes, tuple) and all(is_label(c) for c in self.classes)
        distinct = labels and len(set(self.classes)) == len(self.classes) >= 2
        paired = isinstance(self.parts, tuple) and distinct and len(self.parts) == len(self.classes)
        if not paired or not all(isinstance(part, Certificate) for part in self.parts):
            return Verdict.of((False, "there is not one certificate for each of at least two different classes"))
        return Verdict.all_of([(f"class {label}", _about(part, label)) for label, part in self])

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check every part."""
        strangers = set(y.tolist()) - set(self.classes)
        known = (
            "labels",
            Verdict.of((not strangers, f"y has labels the certificate does not know: {sorted(map(str, strangers))}")),
        )
        return Verdict.all_of([known, *((f"class {label}", part.confirm(X, y)) for label, part in self)])

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        classes, parts = tuple(body["classes"]), tuple(from_dict(part) for part in body["parts"])
        if len(classes) != len(parts):
            msg = f"{len(classes)} classes but {len(parts)} parts"
            raise ValueError(msg)
        return cls(classes, parts)


def _about(part: Any, label: Label) -> Verdict:
    """Check that a part is sound and that its positive label is the class it is filed under."""
    sound: Verdict = part.well_formed()
    positive = part.positive if hasattr(part, "positive") else getattr(getattr(part, "bracket", None), "positive", None)
    same = type(positive) is type(label) and positive == label
    return sound if not sound else Verdict.of((same, f"the part is about {positive!r}"))
