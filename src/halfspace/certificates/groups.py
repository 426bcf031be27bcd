"""Certificates made of certificates: one per class (one against the rest), one per pair of classes, one per cell of the space.

Cells     Every example belongs to the cell of its nearest centre, and the part of each cell holds on the examples of that cell.
          No claim is made about the problem of all examples at once: a machine per cell is another model than one for all.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated, Any

import numpy as np
from scipy import sparse

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import exponent, known_labels, scaled, squares
from halfspace.certificates.base import Certificate, Verdict
from halfspace.certificates.predictor import joined, same

__all__ = ["OneLabel", "PerCell", "PerClass", "PerPair", "nearest_centres"]

BLOCK_ENTRIES = 1 << 22
ROUNDING = 1e-12
"""Two centres are equally near if the squared distances differ by less than this share of the squared lengths."""


def _deciding(part: Any, name: str) -> Any:
    """Return a field of a part, or of the bracket inside it."""
    return getattr(part, name) if hasattr(part, name) else getattr(getattr(part, "bracket", None), name, None)


def _about(part: Certificate, *labels: Label) -> tuple[bool, str]:
    """Return the claim that the positive label of a part is one of those it is filed under."""
    positive = _deciding(part, "positive")
    same = any(type(positive) is type(label) and positive == label for label in labels)
    return same, f"the part filed under {' or '.join(map(str, labels))} is about {positive!r}"


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
    >>> import halfspace as hs
    >>> X, y = np.eye(3), np.array(["a", "b", "c"])
    >>> proof = hs.Perceptron().fit(X, y).certificate_
    >>> [label for label, part in proof], bool(proof.verify(X, y))
    (['a', 'b', 'c'], True)
    """

    classes: Annotated[tuple[Label, ...], "classes(K)"]
    parts: Annotated[tuple[Certificate, ...], "tuple(K) of certificate"]

    def __iter__(self) -> Iterator[tuple[Label, Certificate]]:
        return zip(self.classes, self.parts, strict=True)

    def __getitem__(self, label: Label) -> Certificate:
        return dict(self)[label]

    def __str__(self) -> str:
        return "\n".join(f"{label}: {part}" for label, part in self)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that every part is about its class."""
        return [_about(part, label) for label, part in self]

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return what predicts in all parts."""
        return joined([part.predictor(y) for part in self.parts])

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check every part."""
        known = Verdict.of(known_labels(y, self.classes))
        return Verdict.all_of([("labels", known), *((f"class {label}", part.confirm(X, y)) for label, part in self)])


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

    classes: Annotated[tuple[Label, ...], "classes(K)"]
    pairs: Annotated[tuple[tuple[int, int], ...], "tuple(p) of tuple(2) of int in 0..K"]
    parts: Annotated[tuple[Certificate, ...], "tuple(p) of certificate"]

    def __iter__(self) -> Iterator[tuple[tuple[Label, Label], Certificate]]:
        labels = ((self.classes[i], self.classes[j]) for i, j in self.pairs)
        return zip(labels, self.parts, strict=True)

    def __getitem__(self, labels: tuple[Label, Label]) -> Certificate:
        parts = dict(self)
        return parts[labels] if labels in parts else parts[labels[1], labels[0]]

    def __str__(self) -> str:
        return "\n".join(f"{a} or {b}: {part}" for (a, b), part in self)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that every pair of classes is there once, and that every part is about its pair."""
        complete = sorted(self.pairs) == list(combinations(range(len(self.classes)), 2))
        return [(complete, "not every pair of classes is there once"), *(_about(part, a, b) for (a, b), part in self)]

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return what predicts in all parts, in the order of the pairs; rows count among all examples."""
        found = []
        for _, (labels, part) in sorted(zip(self.pairs, self, strict=True), key=lambda pair: pair[0]):
            mine = np.flatnonzero(np.isin(y, labels))
            answer = part.predictor(y[mine])
            found.append({**answer, "functions": [(mine[rows], c) for rows, c in answer.get("functions", ())], "voting": True})
        return joined(found)

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check every part on the examples of its two classes."""
        verdicts = [("labels", Verdict.of(known_labels(y, self.classes)))]
        for (a, b), part in self:
            mine = np.flatnonzero((y == a) | (y == b))
            square = getattr(_deciding(part, "kernel"), "is_precomputed", False)
            if mine.size == 0:
                verdict = Verdict.of((False, "y has neither label"))
            elif square and X.shape[0] != X.shape[1]:
                verdict = Verdict.of((False, "a precomputed kernel needs a square matrix"))
            else:
                verdict = part.confirm(X[mine][:, mine] if square else X[mine], y[mine])
            verdicts.append((f"{a} or {b}", verdict))
        return Verdict.all_of(verdicts)


@dataclass(frozen=True, eq=False)
class OneLabel(Certificate):
    """All examples of a cell have one label, so the cell needs no machine.

    Parameters
    ----------
    label : label
        The label.

    Examples
    --------
    >>> proof = OneLabel("a")
    >>> bool(proof.verify(np.zeros((2, 1)), ["a", "a"])), bool(proof.verify(np.zeros((2, 1)), ["a", "b"]))
    (True, False)
    """

    label: Label

    def __str__(self) -> str:
        return f"all examples are {self.label!r}"

    @property
    def relative_gap(self) -> float:
        """0: nothing is left to be learnt."""
        return 0.0

    def confirm(self, X: Matrix, y: Labels) -> Verdict:  # noqa: ARG002  (one signature for all)
        """Check the labels."""
        others = np.count_nonzero(np.asarray(y) != self.label)
        return Verdict.of((others == 0, f"{others} examples are not {self.label!r}"))


@dataclass(frozen=True, eq=False)
class PerCell(Certificate):
    """The certificates of machines that know one cell each; it holds if all of them do, each on the examples of its cell.

    Rows and sample weights of a part count within its cell, in the order in which the examples stand among all.

    Parameters
    ----------
    centres : ndarray, shape (K, d)
        Centres of the cells.
    cells : ndarray, shape (n,)
        The cell of every example: that of its nearest centre. -1 for an example without weight, which no part is about.
    parts : tuple of Certificate
        One for each cell.
    sample_weight : ndarray, shape (n,), or None
        Weights of the examples, if not all 1; only one of weight 0 may have no cell.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y = np.array([[0.0], [1.0], [8.0], [9.0]]), np.array(["a", "b", "b", "b"])
    >>> proof = hs.KernelAdaTron(n_cells=2).fit(X, y).certificate_
    >>> sorted(np.bincount(proof.cells).tolist()), bool(proof.verify(X, y)), bool(proof.verify(X, y[::-1]))
    ([2, 2], True, False)
    """

    centres: Annotated[FloatArray, "finite(K,d)"]
    cells: Annotated[IntArray, "int(n) in -1..K"]
    parts: Annotated[tuple[Certificate, ...], "tuple(K) of certificate"]
    sample_weight: Annotated[FloatArray | None, "finite(n) >= 0 | none", "asked"] = None

    def __str__(self) -> str:
        alone = sum(isinstance(part, OneLabel) for part in self.parts)
        return (
            f"{len(self.parts)} cells ({alone} of one label), each with its proof; widest relative gap {self.relative_gap:.2g}"
        )

    @property
    def relative_gap(self) -> float:
        """The widest relative gap of a cell."""
        return max(_gap(part) for part in self.parts)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that there are cells, each of one label or with gaps between two values, for all examples of weight."""
        return [
            (len(self.parts) > 0, "there are no cells"),
            (all(map(_bounded, self.parts)), "a cell has no duality gap"),
            self.everyone_in_a_cell(),
        ]

    def everyone_in_a_cell(self) -> tuple[bool, str]:
        """Return the claim that only examples of weight 0 are in no cell."""
        idle = np.zeros(self.cells.shape, bool) if self.sample_weight is None else self.sample_weight == 0.0
        return bool((idle | (self.cells >= 0)).all()), "an example of positive weight is in no cell"

    def places(self, X: Matrix) -> Matrix:
        """Return the points of the space that is cut into cells, shape (n, d)."""
        return X

    def known(self, k: int, own: IntArray) -> IntArray:  # noqa: ARG002  (one signature for all)
        """Return the examples that part k is about, in their order: those of its cell, which are handed in."""
        return own

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return the centres, and what predicts in each cell."""
        classes = np.unique(y).tolist()
        found = [self._machine(k, y, classes) for k in range(len(self.parts))]
        kernels = [part["kernel"] for part in found if "kernel" in part and any(rows.size for rows, _ in part["functions"])]
        return {
            **({"kernel": kernels[0] if all(same(kernel, kernels[0]) for kernel in kernels) else None} if kernels else {}),
            "centres": self.centres,
            "functions": [part["functions"] for part in found],
            "bias": np.array([part["bias"] for part in found]),
            "classes of cells": np.array([part["present"] for part in found]),
        }

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check the cells, then every part on the examples of its cell."""
        return self.confirm_by(lambda k, mine: self.parts[k].confirm(X[mine], y[mine]), X, y)

    def confirm_by(self, check: Callable[[int, IntArray], Verdict], X: Matrix, y: Labels) -> Verdict:
        """Check the cells, then every part on the examples it is about, by a function of its number and of these."""
        fits = Verdict.of(
            (self.cells.size == y.shape[0], "one cell per example expected"),
            (self.centres.shape[1] == X.shape[1], f"centres of {X.shape[1]} features expected"),
        )
        if not fits:
            return fits
        wrong = _misplaced(self.places(X), self.cells, self.centres)
        verdicts = [("cells", Verdict.of((wrong == 0, f"{wrong} examples are nearer to the centre of another cell")))]
        order = np.argsort(self.cells, kind="stable")
        ends = np.searchsorted(self.cells[order], np.arange(len(self.parts) + 1))
        for k, part in enumerate(self.parts):
            mine = self.known(k, order[ends[k] : ends[k + 1]])
            empty = Verdict.of((False, "no example is in it"))
            s = None if self.sample_weight is None else self.sample_weight[mine]
            weights = Verdict.of((_weighs(part, s), "its examples have other weights"))
            verdicts += [(f"cell {k}", weights), (f"cell {k}", check(k, mine) if mine.size else empty)]
        return Verdict.all_of(verdicts)

    def _machine(self, k: int, y: Labels, classes: list[Any]) -> dict[str, Any]:
        """Return what predicts in a cell: a function for each class, or one for two classes; rows count among all examples.

        A cell of one class has a bias of 1 for it, and of two among many one function, which is turned for the other class.
        """
        mine, K = np.flatnonzero(self.cells == k), 1 if len(classes) == 2 else len(classes)
        part, none = self.parts[k], (np.empty(0, dtype=np.int64), np.empty(0))
        functions, bias, present = [none] * K, np.full(K, -1.0), np.ones(K, dtype=bool)
        if isinstance(part, OneLabel):
            bias[0 if K == 1 else classes.index(part.label)] = 1.0 if K > 1 or part.label == classes[1] else -1.0
            return {"functions": functions, "bias": bias, "present": present}
        own = np.unique(y[mine]).tolist()
        answer = part.predictor(y[mine])
        if answer["positive"] != (own[1:] if len(own) == 2 else own):
            return {"functions": None, "bias": bias, "present": present}
        turns = [1.0] if K == 1 else [-1.0, 1.0] if len(own) == 2 else [1.0] * len(own)
        for n, turn in enumerate(turns):
            rows, c = answer["functions"][n % len(answer["functions"])]
            everyone = np.zeros(mine.size)
            everyone[rows] = c
            problem = 0 if K == 1 else classes.index(own[n])
            functions[problem] = (mine[rows], turn * c)
            bias[problem] = turn * (answer["bias"][n % len(answer["bias"])] + answer["clamp"] ** 2 * everyone.sum())
        if K > 1:
            present = np.isin(classes, own)
        return {"kernel": answer["kernel"], "functions": functions, "bias": bias, "present": present}


def _bounded(part: Any) -> bool:
    """Tell whether a part is of one label, a duality gap, or made of gaps by class or by pair."""
    if isinstance(part, PerClass | PerPair):
        return all(map(_bounded, part.parts))
    return isinstance(part, OneLabel) or (hasattr(part, "primal") and hasattr(part, "dual"))


def _weighs(part: Any, s: FloatArray | None) -> bool:
    """Tell whether a part, and all parts of it, give its examples these weights; one label needs none."""
    if isinstance(part, OneLabel):
        return True
    if isinstance(part, PerClass):
        return all(_weighs(one, s) for one in part.parts)
    given = getattr(part, "sample_weight", None)
    return s is None or (bool((s == 1.0).all()) if given is None else np.array_equal(given, s))


def _gap(part: Any) -> float:
    """Return the relative gap of a part, of one per class the widest."""
    return max(map(_gap, part.parts)) if hasattr(part, "parts") else float(part.relative_gap)


def _scores(X: Matrix, centres: FloatArray) -> FloatArray:
    """Return ½‖c‖² - x·c for rows of X and all centres: half the squared distance, but for a number of each row."""
    rows = X.toarray() if sparse.issparse(X) else np.asarray(X)
    scores: FloatArray = 0.5 * (centres * centres).sum(axis=1) - rows.astype(np.float64) @ centres.T
    return scores


def nearest_centres(X: Matrix, centres: FloatArray) -> IntArray:
    """Return the nearest of the centres (K, d) for every row of X, by number, shape (n,), in double precision and in blocks."""
    nearest, e = np.empty(X.shape[0], dtype=np.int64), exponent(X, centres)
    centres = scaled(centres, e)
    step = max(1, BLOCK_ENTRIES // (centres.shape[0] + centres.shape[1]))
    for first in range(0, nearest.size, step):
        nearest[first : first + step] = _scores(scaled(X[first : first + step], e), centres).argmin(axis=1)
    return nearest


def _misplaced(X: Matrix, cells: IntArray, centres: FloatArray) -> int:
    """Return how many examples have a centre nearer than that of their cell, by more than rounding."""
    e = exponent(X, centres)
    centres = scaled(centres, e)
    wrong, size = 0, float((centres * centres).sum(axis=1).max())
    step = max(1, BLOCK_ENTRIES // (centres.shape[0] + centres.shape[1]))
    for first in range(0, cells.size, step):
        mine, rows = cells[first : first + step], scaled(X[first : first + step], e)
        scores = _scores(rows, centres)
        lengths = squares(rows)
        own = np.take_along_axis(scores, np.maximum(mine, 0)[:, None], axis=1)[:, 0]
        most = scores.min(axis=1) + ROUNDING * (lengths + size)
        wrong += int(np.count_nonzero((mine >= 0) & ~((own <= most) & np.isfinite(lengths + size))))
    return wrong
