"""What separability is worth: how likely a plane would separate the same examples with labels drawn by chance."""

import time
from dataclasses import dataclass

import numpy as np

from halfspace._typing import Labels, Matrix
from halfspace.certificates.margins.label_count import LabelCount
from halfspace.errors import InputError
from halfspace.questions.separability import separability
from halfspace.theory import capacity

__all__ = ["ByChance", "separable_by_chance"]


@dataclass(frozen=True)
class ByChance:
    """How easily these examples are separable by chance.

    Parameters
    ----------
    count : LabelCount
        The rank of the examples, proved, and the share of all labelings that planes separate, at most.
    positives : float
        Share of the rarer class.
    ratio, threshold : float
        Examples per input (the rank), and up to which ratio random labels with these shares of the classes are separable, for
        many random inputs. With equal shares it is 2.
    tried, separable : int
        Random orders of the labels that were tried, and how many of them were separable too.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> X = np.random.default_rng(0).standard_normal((60, 3))
    >>> found = hs.separable_by_chance(X, X[:, 0] > 0)
    >>> found.count.rank, found.separable, found.p_value
    (4, 0, 0.05)
    """

    count: LabelCount
    positives: float
    ratio: float
    threshold: float
    tried: int
    separable: int

    @property
    def p_value(self) -> float:
        """Chance of labels as separable as these, if they had nothing to do with the examples: (1 + separable)/(1 + tried)."""
        return (1 + self.separable) / (1 + self.tried)

    @property
    def says_something(self) -> bool:
        """Whether separability is evidence at all: not every labelling is separable, and not every order tried was."""
        return not self.count.everything and self.separable < max(self.tried, 1)

    def __str__(self) -> str:
        if self.count.everything:
            return f"What that is worth: nothing. The examples have {self.count}."
        more = "more" if self.ratio > self.threshold else "fewer"
        chance = (
            f"With {100 * self.positives:.3g} % of the labels in the rarer class, random labels are separable up to about "
            f"{self.threshold:.3g} examples per input, and here are {more}: {self.ratio:.3g}."
        )
        tried = f" {self.separable} of {self.tried} random orders of the labels are separable too (p = {self.p_value:.2g})."
        worth = "something" if self.says_something and self.ratio > self.threshold else "little"
        return f"What that is worth: {worth}. The examples have {self.count}. {chance}" + (tried if self.tried else "")


def separable_by_chance(
    X: Matrix, y: Labels, *, permutations: int = 19, max_time: float | None = None, random_state: int | None = 0
) -> ByChance:
    """Say what it is worth that a plane (with a bias) separates two classes.

    Three answers: the share of all labelings that planes can separate at all (Cover's count with the proved rank of the
    examples: at most so many, for examples in any position); up to how many examples per input random labels with these class
    shares are separable (Gardner's capacity under imbalance, a limit for many random inputs); and how many random orders of
    these very labels are separable.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Examples.
    y : array, shape (n,)
        Labels of two classes.
    permutations : int, default 19
        Random orders of the labels to try; none if every labelling is separable anyway.
    max_time : float, optional
        Time limit in seconds for these.
    random_state : int or None, default 0
        Random seed.

    Returns
    -------
    ByChance
        Printed, a paragraph.

    Examples
    --------
    >>> import numpy as np, halfspace as hs
    >>> print(hs.separable_by_chance(np.eye(4), [0, 0, 1, 1]))
    What that is worth: nothing. The examples have rank 4 of 4 examples: every labelling is separable, so ...
    """
    if isinstance(permutations, bool) or not isinstance(permutations, int | np.integer) or permutations < 0:
        msg = (
            "The 'permutations' parameter of separable_by_chance must be a whole number of at least 0. "
            f"Got {permutations!r} instead."
        )
        raise InputError(msg)
    y = np.asarray(y)
    labels, counts = np.unique(y, return_counts=True)
    if labels.size != 2:
        msg = f"separable_by_chance is a question about two classes, but y has {labels.size}. Ask for y == label."
        raise InputError(msg)
    count = LabelCount.measure(X)
    positives, tried, found = float(counts.min() / y.size), 0, 0
    rng, deadline = np.random.default_rng(random_state), time.perf_counter() + (np.inf if max_time is None else max_time)
    while not count.everything and tried < permutations:
        left = deadline - time.perf_counter()
        if left <= 0:
            break
        verdict = separability(X, rng.permutation(y), max_time=None if max_time is None else left).verdict
        if verdict == "undecided":
            break
        tried, found = tried + 1, found + (verdict == "separable")
    threshold = float(capacity(positives=positives))
    return ByChance(count, positives, y.size / count.most, threshold, tried, found)
