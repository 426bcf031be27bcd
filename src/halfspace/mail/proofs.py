"""What a filter can prove of its history: learnt again from the beginning, it gives the same scores, and certificates.

The mistakes of the plane, the sign of f before each message was learnt, are bounded by a theorem against the best fixed weights
(`StreamMistakes`); its strengths say how far it is from the large-margin solution on all messages, each as it was when it
arrived (`DualityGap`); and the scores of ham, each taken before it was learnt, bound the ham that a threshold loses
(`HamLoss`). The first two need both classes. All are checked by code that imports no learner.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from halfspace.certificates import DualityGap, HamLoss, StreamMistakes
from halfspace.errors import InputError
from halfspace.mail.learner import SETTINGS, Learner, Settings
from halfspace.mail.promise import HamScores
from halfspace.models.planes.adatron import AdaTron

__all__ = ["Proofs", "prove"]

NEAR = 1e-2
"""Relative gap of the fixed weights that mistakes are compared with."""
LONGEST = 20_000
"""Messages of a history whose vectors are held at once; of a longer one only lost ham is proved."""


class Proofs(NamedTuple):
    """Certificates, and the data that each is checked against.

    `mistakes` and `gap` are about `X`, the vectors of all messages as they were when they arrived, in order, and `y`, 1 for
    spam; the columns of `X` are the slots that occur. `ham_loss` is about `ham`, shape (m, 1), the scores that the threshold
    comes from, each with the label -1. `n_changed` messages had another score than the history says.
    """

    mistakes: StreamMistakes | None
    gap: DualityGap | None
    ham_loss: HamLoss | None
    X: Any
    y: Any
    ham: Any
    learner: Learner
    n_changed: int

    def claims(self) -> list[tuple[Any, list[str]]]:
        """Return each certificate with the reasons why it does not hold; none if it does."""
        labels = np.full(len(self.ham), -1)
        about = ((self.mistakes, self.X, self.y), (self.gap, self.X, self.y), (self.ham_loss, self.ham, labels))
        return [(proof, list(proof.verify(X, y).reasons)) for proof, X, y in about if proof is not None]


def prove(log: Iterable[tuple[Any, int, float]], *, ham_loss: float | None = None, settings: Settings = SETTINGS) -> Proofs:
    """Learn a history again and return what it proves.

    Parameters
    ----------
    log : iterable of (slots, label, score)
        What was learnt, in order: slots, shape (m,), label 1 or -1, and the score before learning.
    ham_loss : float, optional
        The promise whose threshold the bound on lost ham is about; the default threshold without it, or as long as it cannot
        be given.
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
    learner, past, n_changed, mistakes = Learner(settings), HamScores(), 0, 0
    labels: list[int] = []
    vectors: list[tuple[Any, Any]] = []
    for slots, label, said in log:
        f, vector = learner.vector(slots)
        mistakes += label * f <= 0.0
        labels.append(label)
        if len(vectors) <= LONGEST:
            vectors.append((slots, vector.astype(np.float32)))
        score = learner.learn(slots, label)
        past.add(score, spam=label > 0)
        n_changed += score != said
    if not labels:
        raise InputError("prove expects a filter that has learnt something; this one has not")
    y = np.array(labels)
    X, bound, gap = None, None, None
    if len(vectors) <= LONGEST and y.min() < y.max():
        X, about = _rows(vectors), dict[str, Any](C=settings.C, positive=1)
        rows, alpha = (getattr(learner.kept, name)[: learner.n_kept] for name in ("numbers", "strengths"))
        strengths = np.zeros(y.size)
        strengths[rows] = alpha
        gap = DualityGap.measure(X, y, weights=X[rows].T @ (alpha * y[rows]), strengths=strengths, **about)
        fixed = AdaTron(C=settings.C, intercept="none", tol=NEAR).fit(X, y).alpha_
        used = np.flatnonzero(fixed)
        bound = StreamMistakes.measure(mistakes, X, y, rows=used, strengths=fixed[used], gain=settings.gain, **about)
    return Proofs(bound, gap, *_lost(past, ham_loss, X, y), learner, n_changed)


def _lost(past: HamScores, eps: float | None, X: Any, y: Any) -> tuple[HamLoss | None, Any, Any, Any]:
    """Return the bound on lost ham, X and y as they are, and the scores that it is about."""
    threshold = None if eps is None else past.promised(eps)
    count = len(past.in_order) if eps is None or threshold is None else past.latest(eps)
    ham = np.array(past.in_order[-count:] if count else []).reshape(-1, 1)
    if not count:
        return None, X, y, ham
    threshold = past.default() if threshold is None else threshold
    return HamLoss.measure(ham, np.full(count, -1), threshold=threshold, positive=1), X, y, ham


def _rows(vectors: list[tuple[Any, Any]]) -> Any:
    """Return vectors as the rows of a sparse matrix, of the slots that occur."""
    ends = np.cumsum([0, *(slots.size for slots, _ in vectors)])
    used, places = np.unique(np.concatenate([slots for slots, _ in vectors]), return_inverse=True)
    data = np.concatenate([values for _, values in vectors]).astype(np.float64)
    return sparse.csr_array((data, places, ends), shape=(len(vectors), max(1, used.size)))
