"""What a filter's journal proves: learnt again from the beginning, it gives the same scores and weights, and certificates.

The mistakes of the plane are those of a large-margin rule on a stream, and bounded by a theorem (`StreamMistakes`); the scores
of ham, each taken before it was learnt, bound the ham that a threshold loses (`HamLoss`). Both are checked by code that imports
no learner.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from halfspace.certificates import Certificate, HamLoss, StreamMistakes
from halfspace.mail.journal import Entry
from halfspace.mail.learner import Learner, Settings
from halfspace.mail.promise import default_threshold

__all__ = ["Replay", "replay"]

LONGEST = 20_000
"""Messages of a stream whose vectors are held at once."""


class Replay(NamedTuple):
    """A journal learnt again.

    Parameters
    ----------
    learner : Learner
        As it is at the end.
    n_changed : int
        Messages whose score before learning is another than the journal says.
    proofs : list of (Certificate, list of str)
        What follows, each with the reasons why it does not hold; none if it does.
    """

    learner: Learner
    n_changed: int
    proofs: list[tuple[Certificate, list[str]]]


def replay(entries: Iterable[Entry], settings: Settings) -> Replay:
    """Learn messages again, in order, and measure what they prove."""
    learner, scores, labels, n_changed, mistakes = Learner(settings), list[float](), list[int](), 0, 0
    vectors: list[tuple[Any, Any]] = []
    for entry in entries:
        label, (f, vector) = 1 if entry.spam else -1, learner.vector(entry.features)
        mistakes += label * f <= 0.0
        scores.append(learner.learn(entry.features, label))
        labels.append(label)
        n_changed += scores[-1] != entry.score
        if len(vectors) <= LONGEST:
            vectors.append((entry.features, vector.astype(np.float32)))
    y, X = np.array(labels), np.array(scores).reshape(-1, 1)
    proofs: list[tuple[Certificate, list[str]]] = []
    if labels and len(vectors) <= LONGEST:
        stream = _rows(vectors)
        kept = learner.to_arrays()
        about = {"rows": kept["kept_numbers"], "strengths": kept["kept_strengths"], "positive": 1}
        bound = StreamMistakes.measure(mistakes, stream, y, **about)
        proofs.append((bound, list(bound.verify(stream, y).reasons)))
    if -1 in labels:
        loss = HamLoss.measure(X, y, threshold=default_threshold(X[y < 0, 0].tolist()), positive=1)
        proofs.append((loss, list(loss.verify(X, y).reasons)))
    return Replay(learner, n_changed, proofs)


def _rows(vectors: list[tuple[Any, Any]]) -> Any:
    """Return vectors as the rows of a sparse matrix, of the slots that occur."""
    ends = np.cumsum([0, *(slots.size for slots, _ in vectors)])
    slots = np.concatenate([slots for slots, _ in vectors])
    used, places = np.unique(slots, return_inverse=True)
    data = np.concatenate([values for _, values in vectors]).astype(np.float64)
    return sparse.csr_matrix((data, places, ends), shape=(len(vectors), max(1, used.size)))
