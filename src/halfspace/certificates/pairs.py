"""One certificate per pair of classes, for one-vs-one models."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np

from halfspace._typing import Label, Labels, Matrix
from halfspace.certificates.arithmetic import is_label
from halfspace.certificates.base import Certificate, Verdict, from_dict

__all__ = ["PerPair"]


@dataclass(frozen=True, eq=False)
class PerPair(Certificate):
    """The certificates of the problems "this class against that one"; it holds if all of them do.

    Each part is about the examples of its two classes only, in the order in which they stand among all examples: rows and
    sample weights of a part count within that subset. Of a precomputed kernel matrix a part has the rows and columns of
    its two classes.

    Parameters
    ----------
    classes : tuple
        The labels.
    pairs : tuple of (int, int)
        Numbers of the two classes of each problem, the smaller first; every pair once, in any order.
    parts : tuple of Certificate
        One for each pair, in the same order. Either class may be the positive one.

    Examples
    --------
    >>> from halfspace.certificates import KernelGap
    >>> from halfspace.kernels import Linear
    >>> X, y = np.array([[2.0], [-2.0]]), np.array(["b", "a"])
    >>> part = KernelGap.measure(X, y, kernel=Linear(), strengths=np.full(2, 0.125), C=1.0, positive="b")
    >>> proof = PerPair(("a", "b"), ((0, 1),), (part,))
    >>> print(proof)
    a or b: 0.125 <= optimum <= 0.125, relative gap 0
    >>> bool(proof.verify(X, y)), bool(proof.verify(2 * X, y))
    (True, False)
    """

    classes: tuple[Label, ...]
    pairs: tuple[tuple[int, int], ...]
    parts: tuple[Certificate, ...]

    def __iter__(self) -> Iterator[tuple[tuple[Label, Label], Certificate]]:
        labels = ((self.classes[i], self.classes[j]) for i, j in self.pairs)
        return zip(labels, self.parts, strict=True)

    def __getitem__(self, labels: tuple[Label, Label]) -> Certificate:
        parts = dict(self)
        return parts[labels] if labels in parts else parts[labels[1], labels[0]]

    def __str__(self) -> str:
        return "\n".join(f"{a} or {b}: {part}" for (a, b), part in self)

    def well_formed(self) -> Verdict:
        """Check that there is one sound part per pair of classes, about these two."""
        labels = isinstance(self.classes, tuple) and all(is_label(c) for c in self.classes)
        distinct = labels and len(set(self.classes)) == len(self.classes) >= 2
        counted = distinct and isinstance(self.pairs, tuple) and all(_is_pair(pair) for pair in self.pairs)
        complete = counted and sorted(self.pairs) == list(combinations(range(len(self.classes)), 2))
        paired = complete and isinstance(self.parts, tuple) and len(self.parts) == len(self.pairs)
        if not paired or not all(isinstance(part, Certificate) for part in self.parts):
            return Verdict.of((False, "there is not one certificate for each pair of at least two different classes"))
        return Verdict.all_of([(f"{a} or {b}", _about(part, a, b)) for (a, b), part in self])

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check every part on the examples of its two classes."""
        strangers = set(y.tolist()) - set(self.classes)
        known = Verdict.of((not strangers, f"y has labels the certificate does not know: {sorted(map(str, strangers))}"))
        verdicts = [("labels", known)]
        for (a, b), part in self:
            mine = np.flatnonzero((y == a) | (y == b))
            if mine.size == 0:
                verdicts.append((f"{a} or {b}", Verdict.of((False, "y has neither label"))))
                continue
            square = getattr(_deciding(part, "kernel"), "is_precomputed", False)
            if square and X.shape[0] != X.shape[1]:
                verdicts.append((f"{a} or {b}", Verdict.of((False, "a precomputed kernel needs a square matrix"))))
                continue
            examples = X[mine][:, mine] if square else X[mine]
            verdicts.append((f"{a} or {b}", part.confirm(examples, y[mine])))
        return Verdict.all_of(verdicts)

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form."""
        pairs = tuple(tuple(pair) for pair in body["pairs"])
        return cls(tuple(body["classes"]), pairs, tuple(from_dict(part) for part in body["parts"]))


def _is_pair(pair: Any) -> bool:
    """Tell whether this is a pair of whole numbers."""
    whole = isinstance(pair, tuple) and all(isinstance(i, int | np.integer) and not isinstance(i, bool) for i in pair)
    return whole and len(pair) == 2


def _deciding(part: Any, name: str) -> Any:
    """Return a field of a part, or of the bracket inside it."""
    return getattr(part, name) if hasattr(part, name) else getattr(getattr(part, "bracket", None), name, None)


def _about(part: Certificate, a: Label, b: Label) -> Verdict:
    """Check that a part is sound and that its positive label is one of the two classes it is filed under."""
    sound, positive = part.well_formed(), _deciding(part, "positive")
    same = any(type(positive) is type(label) and positive == label for label in (a, b))
    return sound if not sound else Verdict.of((same, f"the part is about {positive!r}"))
