"""`MailFilter`: learns from each correction, scores, forgets exactly, explains, and says what it can promise."""

import secrets
from typing import Any, NamedTuple

import numpy as np

from halfspace.errors import InputError
from halfspace.mail.answering import shares_of
from halfspace.mail.calibration import Calibration
from halfspace.mail.compiled import features
from halfspace.mail.extraction import ALL, named_features
from halfspace.mail.learner import SETTINGS, Learner, Settings
from halfspace.mail.promise import ENOUGH, HamScores, answer, needed
from halfspace.mail.proofs import Proofs, prove
from halfspace.mail.words import in_words

__all__ = ["Explanation", "MailFilter", "Status"]

CHECKPOINT = 1_000
"""Messages between two copies of the learner that a replay can start from."""

RECENT = 200
"""Messages that the latest error rate is taken over."""


class Explanation(NamedTuple):
    """A score, and the features that pushed it most towards spam and ham: in words, and what each adds."""

    score: float
    spam: list[tuple[str, float]]
    ham: list[tuple[str, float]]


class Status(NamedTuple):
    """What a filter has learnt, its errors in all and among the last `recent`, and what it can promise."""

    ham: int
    spam: int
    kept: int
    errors: int
    recent: int
    recent_errors: int
    threshold: float | None
    ham_loss: float | None
    ham_missing: int


class MailFilter:
    r"""A mail filter in memory.

    Parameters
    ----------
    salt : bytes, optional
        The secret of the hashed features; drawn at random by default.
    groups : tuple of str
        The groups of features to use.
    light : bool
        At most 250 features a message.
    ham_loss : float, optional
        The share of ham that may be lost: the threshold then comes with a promise, and is refused while
        there is too little ham.
    settings : Settings
        Of the learner; `RULES` has those of the simpler rules, "perceptron" and "passive-aggressive".

    Examples
    --------
    >>> mail = MailFilter(salt=b"secret")
    >>> for k in range(3):
    ...     _ = mail.learn(b"Subject: cheap pills\n\nbuy now %d" % k, "spam")
    ...     _ = mail.learn(b"Subject: lunch\n\nat noon? %d" % k, "ham")
    >>> mail.answer(b"Subject: pills\n\nbuy cheap"), mail.answer(b"Subject: lunch\n\nat one?")
    ('spam', 'ham')
    """

    def __init__(
        self,
        *,
        salt: bytes | None = None,
        groups: tuple[str, ...] = ALL,
        light: bool = False,
        ham_loss: float | None = None,
        settings: Settings = SETTINGS,
    ) -> None:
        self.salt = secrets.token_bytes(32) if salt is None else salt
        self.groups, self.light, self.ham_loss, self.settings = groups, light, ham_loss, settings
        self.learner = Learner(settings)
        self.log: list[tuple[Any, int, float]] = []
        self._checkpoints: dict[int, Learner] = {}

    def features(self, message: bytes) -> Any:
        """Return the slots of a message, shape (m,), uint32, sorted."""
        return features(message, salt=self.salt, groups=self.groups, light=self.light)

    def score(self, message: bytes) -> float:
        """Return the score of a message: the higher, the more like spam."""
        return self.learner.score(self.features(message))

    def learn(self, message: bytes, label: str) -> float:
        """Learn that a message is "spam" or "ham", and return the score that it had before."""
        if label not in {"spam", "ham"}:
            msg = f'MailFilter.learn expects the label "spam" or "ham", not {label!r}'
            raise InputError(msg)
        return self._learn(self.features(message), 1 if label == "spam" else -1)

    def _learn(self, slots: Any, y: int) -> float:
        if self.learner.n % CHECKPOINT == 0:
            self._checkpoints[self.learner.n] = self.learner.copy()
            self._checkpoints.pop(self.learner.n - 3 * CHECKPOINT, None)
        score = self.learner.learn(slots, y)
        self.log.append((slots, y, score))
        return score

    def unlearn(self, message: bytes) -> None:
        """Forget a message: afterwards the filter is, bit for bit, the one that never saw it.

        The messages after it are learnt again, from the last checkpoint before it.
        """
        slots = self.features(message)
        place = next((k for k in reversed(range(len(self.log))) if np.array_equal(self.log[k][0], slots)), -1)
        if place < 0:
            msg = "MailFilter.unlearn expects a message that was learnt; this one was not (or its features were others)"
            raise InputError(msg)
        later = self.log[place + 1 :]
        start = max((k for k in self._checkpoints if k <= place), default=0)
        between = self.log[start:place]
        self._checkpoints = {k: kept for k, kept in self._checkpoints.items() if k <= start}
        self.learner = self._checkpoints[start].copy() if start in self._checkpoints else Learner(self.settings)
        del self.log[start:]
        for known, y, _ in between + later:
            self._learn(known, y)

    def threshold(self) -> float:
        """Return the score above which a message is called spam."""
        past = HamScores((score, y > 0) for _, y, score in self.log)
        if self.ham_loss is None:
            return past.default()
        found = past.promised(self.ham_loss)
        if found is None:
            msg = (
                f"a ham loss of at most {self.ham_loss:.3%} cannot be promised yet: it takes {needed(self.ham_loss)} ham,"
                f" scored when {ENOUGH} or more spam were known, and there are {past.n_counted}; teach"
                f" {past.missing(self.ham_loss)} more, or ask for a larger loss"
            )
            raise InputError(msg)
        return found

    def answer(self, message: bytes) -> str:
        """Return "ham", "unsure" or "spam"."""
        return answer(self.score(message), self.threshold())

    def probability(self, message: bytes) -> float:
        """Return the probability that a message is spam, from its score and those of all messages learnt."""
        known = Calibration()
        for _, y, score in self.log:
            known = known.learnt(score, spam=y > 0)
        return known.probability(self.score(message))

    def prove(self) -> Proofs:
        """Return certificates of the history: mistakes against a bound, the large-margin gap, and lost ham."""
        return prove(self.log, ham_loss=self.ham_loss, settings=self.settings)

    def status(self) -> Status:
        """Return what the filter has learnt and how it does; an error is a score on the wrong side of 0, before learning."""
        wrong = [y * score <= 0.0 for _, y, score in self.log]
        ham = sum(y < 0 for _, y, _ in self.log)
        past = HamScores((score, y > 0) for _, y, score in self.log)
        missing = 0 if self.ham_loss is None else past.missing(self.ham_loss)
        threshold = None if missing else self.threshold()
        last = wrong[-RECENT:]
        return Status(
            ham, len(wrong) - ham, self.learner.n_kept, sum(wrong), len(last), sum(last), threshold, self.ham_loss, missing
        )

    def explain(self, message: bytes, most: int = 10) -> Explanation:
        """Return the features that push the score of a message most each way, in words."""
        slots, plane = self.features(message), self.learner.plane
        weights, advice, counts = (array[slots].tolist() for array in (plane.weights, plane.advice, plane.counts))
        shares = np.array(shares_of(range(slots.size), self.learner.n, weights, advice, counts))
        named = named_features(message, salt=self.salt, groups=self.groups, light=self.light)
        order = np.argsort(-shares, kind="stable")
        told = [(in_words(*named[int(slots[k])]), float(shares[k])) for k in order]
        return Explanation(
            self.learner.score(slots), [t for t in told[:most] if t[1] > 0], [t for t in told[: -most - 1 : -1] if t[1] < 0]
        )
