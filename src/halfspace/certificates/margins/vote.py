"""The vote of a committee: how many training examples it gets wrong, and how far its members agree.

Members are planes. A member's vote is the side of its plane, or with more than two classes its plane of largest output. By
majority, a tie goes to the class of larger summed stability, then to the lowest. Otherwise summed stabilities decide alone.

A vote within rounding of a plane may fall on either side, depending on the order of a sum. The claims may be off by what such
votes can change, and by no more; an output that is zero because all its terms are counts as -1.
"""

from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self

import numpy as np

from halfspace._typing import FloatArray, IntArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import (
    as_rows,
    held,
    known_labels,
    matching,
    radius,
    rounding,
    row_outputs,
    unit_scale,
)
from halfspace.certificates.base import Certificate, Verdict

__all__ = ["CommitteeVote", "Count", "count_votes"]

TIE_BREAK = 0.25
"""Most that stability adds to a count of votes: two of them stay below one vote."""


class Count(NamedTuple):
    """The votes on n examples."""

    scores: FloatArray  # (n, K) outputs of the committee, K = 1 for two classes
    choice: IntArray  # (n,) class number the committee predicts
    votes: IntArray  # (n, M) class number each member votes for

    def disagreement(self) -> FloatArray:
        """Return the share of members that vote against the committee, shape (n,)."""
        against: FloatArray = (self.votes != self.choice[:, None]).mean(axis=1)
        return against


def count_votes(outputs: FloatArray, lengths: FloatArray, vote: str, R: float) -> Count:
    """Count the votes of M members, from the outputs (n, M, K) and lengths (M, K) of their planes; K = 1 for two classes.

    `vote` is "majority" or "stability"; R is the length of the longest example, the unit of stability where it breaks ties.
    """
    M, K = outputs.shape[1:]
    stability = _stability(outputs, lengths)
    votes = (outputs[:, :, 0] > 0).astype(np.int64) if K == 1 else outputs.argmax(axis=2)
    scores = stability
    if vote == "majority":
        in_units = stability / (R or 1.0)
        scores = (counted(votes, K) + TIE_BREAK * in_units / (1.0 + np.abs(in_units))) / M
    choice = (scores[:, 0] > 0).astype(np.int64) if K == 1 else scores.argmax(axis=1)
    return Count(scores, choice, votes)


def counted(votes: Any, K: int) -> FloatArray:
    """Return from votes (n, M) those for each class, shape (n, K); of two classes those for the second less the others."""
    if K == 1:
        return np.asarray((2.0 * votes - 1.0).sum(axis=1, keepdims=True))
    counts, everyone = np.zeros((votes.shape[0], K)), np.arange(votes.shape[0])
    for member in votes.T:
        counts[everyone, member] += 1.0
    return counts


@dataclass(frozen=True, eq=False)
class CommitteeVote(Certificate):
    """Training errors of a committee and the disagreement among its members, with their planes.

    Parameters
    ----------
    errors : int
        Examples the committee gets wrong.
    disagreement : float
        Share of members voting against the committee, in the mean over the examples.
    members : ndarray, shape (M, K, D)
        The members' planes, clamped weight last; K = 1 for two classes.
    vote : {"majority", "stability"}
        What is added up.
    radius : float
        Length R of the longest example, clamped input included.
    clamp : float
        Value of the clamped input; 0 for none.
    classes : tuple
        The labels, in the order of the planes.

    Examples
    --------
    >>> X, y = np.array([[2.0], [-2.0]]), np.array([1, 0])
    >>> members = np.array([[[1.0]], [[3.0]], [[-1.0]]])
    >>> proof = CommitteeVote.measure(X, y, members=members, vote="majority", clamp=0.0, classes=(0, 1))
    >>> print(proof, bool(proof.verify(X, y)))
    3 members, 0 training errors, disagreement 0.333 True
    """

    errors: Annotated[int, "int >= 0"]
    disagreement: Annotated[float, "finite >= 0"]
    members: Annotated[FloatArray, "finite(M,K,D)"]
    vote: str
    radius: Annotated[float, "finite >= 0"]
    clamp: Annotated[float, "finite", "asked"]
    classes: Annotated[tuple[Label, ...], "classes(c)"]

    def __str__(self) -> str:
        return f"{len(self.members)} members, {self.errors} training errors, disagreement {self.disagreement:.3g}"

    @classmethod
    def measure(cls, X: Matrix, y: Labels, *, members: FloatArray, vote: str, clamp: float, classes: tuple[Label, ...]) -> Self:
        """Count the votes of members (M, K, D) on examples X (n, d) with labels y (n,)."""
        X, y = as_rows(X, y)
        R = radius(X, clamp)
        count = count_votes(*_outputs(X, members, clamp), vote, R)
        errors = int((np.array(classes)[count.choice] != y).sum())
        return cls(errors, float(count.disagreement().mean()), held(members), vote, R, clamp, classes)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that there is one plane per class, or one for two classes."""
        K = 1 if len(self.classes) == 2 else len(self.classes)
        planes = self.members.size > 0 and self.members.shape[1] == K
        return [
            (planes, f"the members do not have {K} planes each"),
            (self.vote in ("majority", "stability"), f"unknown vote {self.vote!r}"),
        ]

    def predictor(self, y: Labels) -> dict[str, Any]:  # noqa: ARG002  (one signature for all)
        """Return the members, and what is added up."""
        positive = list(self.classes[1:] if len(self.classes) == 2 else self.classes)
        rule = {"vote": self.vote, "radius": self.radius, "clamp": self.clamp, "positive": positive}
        return {"members": self.members, **rule}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Count the votes anew."""
        shaped = Verdict.of(matching(self.members, self.clamp, X), known_labels(y, self.classes))
        if not shaped:
            return shaped
        R = radius(X, self.clamp)
        outputs, lengths = _outputs(X, self.members, self.clamp)
        count = count_votes(outputs, lengths, self.vote, R)
        finite = bool(np.isfinite(outputs).all() and np.isfinite(R))
        wrong, share = np.array(self.classes)[count.choice] != y, float(count.disagreement().mean())
        votes, choices = self._undecided(X, outputs, lengths, count, R)
        certain, possible = int((wrong & ~choices).sum()), int((wrong | choices).sum())
        against = ((count.votes != count.choice[:, None]) & ~votes).mean(axis=1)
        least, most = np.where(choices, 0.0, against).mean(), np.where(choices, 1.0, against + votes.mean(axis=1)).mean()
        return Verdict.of(
            (finite, "the outputs overflow"),
            (certain <= self.errors <= possible, f"there are {int(wrong.sum())} errors, not {self.errors}"),
            (
                bool(least - 1e-12 <= self.disagreement <= most + 1e-12),
                f"the disagreement is {share:.6g}, not {self.disagreement:.6g}",
            ),
            (abs(self.radius - R) <= 1e-9 * R, f"the radius is {R:.6g}, not {self.radius:.6g}"),
        )

    def _undecided(self, X: Matrix, outputs: FloatArray, lengths: FloatArray, count: Count, R: float) -> tuple[Any, Any]:
        """Tell which votes, shape (n, M), and choices, shape (n,), rounding could change: of each sum, by its own terms."""
        error, majority = 2.0 * rounding(self.members.shape[2] + len(self.members), 1.0), self.vote == "majority"
        sizes, _ = _outputs(abs(X), np.abs(self.members), abs(self.clamp))
        votes = _gap(outputs) < error * sizes.max(axis=2)
        choices = _gap(count.scores) < error * _stability(sizes, lengths).max(axis=1) / ((R or 1.0) if majority else 1.0)
        open_votes = votes.sum(axis=1)
        sure = np.stack([((count.votes == k) & ~votes).sum(axis=1) for k in range(len(self.classes))], axis=1)
        return votes, choices | (majority & (open_votes > 0) & (_gap(sure) <= open_votes + 2.0 * TIE_BREAK))


def _outputs(X: Matrix, members: FloatArray, clamp: float) -> tuple[FloatArray, FloatArray]:
    """Return the outputs (n, M, K) of all planes, scaled by a power of 2 per member, and the lengths (M, K) of the weights."""
    M, K, D = members.shape
    scaled = np.array([unit_scale(member) for member in members])
    outputs = row_outputs(X, scaled.reshape(M * K, D), clamp)
    return outputs.reshape(-1, M, K), np.linalg.norm(scaled, axis=2)


def _stability(outputs: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return the mean stability of the members' planes, shape (n, K); a plane without weights has none."""
    each: FloatArray = np.divide(outputs, lengths, out=np.zeros_like(outputs), where=lengths > 0.0)
    return np.asarray(each.mean(axis=1))


def _gap(values: FloatArray) -> FloatArray:
    """Return how far the largest value on the last axis is above the second, or a single one from zero."""
    if values.shape[-1] == 1:
        return np.abs(values[..., 0])
    top: FloatArray = np.sort(values, axis=-1)
    return top[..., -1] - top[..., -2]
