"""What a filter can prove of its history: mistakes against a bound, how close it is to the large-margin solution, lost ham."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from halfspace.certificates import DualityGap, HamLoss, StreamMistakes
from halfspace.errors import InputError
from halfspace.mail.learner import SETTINGS, SLOTS, Learner, Settings

__all__ = ["Proofs", "prove"]


class Proofs(NamedTuple):
    """Certificates, and the data that each is checked against.

    `mistakes` and `gap` are about `X`, the vectors of all messages as they were when they arrived, in order, and `y`, 1 for
    spam; `ham_loss` about `scores`, shape (n, 1), and `y`. The columns of `X` are the slots that occur.
    """

    mistakes: StreamMistakes
    gap: DualityGap
    ham_loss: HamLoss | None
    X: Any
    y: Any
    scores: Any


def prove(log: Sequence[tuple[Any, int, float]], threshold: float | None = None, settings: Settings = SETTINGS) -> Proofs:
    """Replay a history and return what it proves.

    Parameters
    ----------
    log : sequence of (slots, label, score)
        What was learnt, in order: slots, shape (m,), label 1 or -1, and the score before learning.
    threshold : float, optional
        For the bound on lost ham; without it, or without ham, there is none.
    settings : Settings
        Those that it was learnt with.

    Examples
    --------
    >>> from halfspace.mail import MailFilter
    >>> mail = MailFilter(salt=b"secret")
    >>> for k in range(4):
    ...     _ = mail.learn(b"cheap pills %d" % k, "spam"), mail.learn(b"lunch at noon %d" % k, "ham")
    >>> proofs = mail.prove()
    >>> bool(proofs.mistakes.verify(proofs.X, proofs.y)), bool(proofs.gap.verify(proofs.X, proofs.y))
    (True, True)
    """
    if not log:
        raise InputError("prove expects a filter that has learnt something; this one has not")
    learner, mistakes, vectors = Learner(settings), 0, []
    for slots, label, _ in log:
        f, entries = learner.vector(slots)
        mistakes += label * f <= 0.0
        vectors.append(entries.astype(np.float32).astype(np.float64))
        learner.learn(slots, label)
    X = _rows([slots for slots, *_ in log], vectors)
    y, scores = np.array([label for _, label, _ in log]), np.array([[score] for *_, score in log])
    rows, alpha = learner.kept.numbers[: learner.n_kept], learner.kept.strengths[: learner.n_kept]
    weights, strengths = X[rows].T @ (alpha * y[rows]), np.zeros(len(log))
    strengths[rows] = alpha
    used = alpha > 0.0
    return Proofs(
        StreamMistakes.measure(mistakes, X, y, rows=rows[used], strengths=alpha[used], positive=1),
        DualityGap.measure(X, y, weights=weights, strengths=strengths, C=settings.C, positive=1),
        None if threshold is None or y.min() > 0 else HamLoss.measure(scores, y, threshold=threshold, positive=1),
        X,
        y,
        scores,
    )


def _rows(slots: list[Any], vectors: list[Any]) -> Any:
    """Return the vectors as a CSR matrix with a column for each slot that occurs."""
    indices = np.concatenate(slots)
    used = np.unique(indices)
    column = np.zeros(SLOTS, np.int64)
    column[used] = np.arange(used.size)
    ends = np.cumsum([0, *(one.size for one in slots)])
    return sparse.csr_array((np.concatenate(vectors), column[indices], ends), shape=(len(slots), used.size))
