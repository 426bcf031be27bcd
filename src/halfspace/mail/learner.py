"""The learner of the mail filter: a large-margin plane learnt online, and a second opinion that may advise but not outvote.

Problem   Messages arrive as sets of slots; the label of each is told after its score. A message's vector x has the entries
          log(n + df + 2) - log(df + 1) at its slots, scaled to length 1, with the number n of messages and df of those with the
          slot as they were when it arrived: rare slots count for more, and every x is fixed once and for all.
Rule      f(x) = w·x, E = y f. If E < `margin`, the message is kept and gets the strength min(c, 1 - E). Its cap c is C, but
          C `doubt`/|E| where E < -`doubt`: a label that the plane contradicts may be wrong. Then `replays` kept ones, drawn by
          the message's number, take an AdaTron step: alpha = min(c, max(0, alpha + 1 - E)), and w moves by the change.
          g is logistic regression by AdaGrad on the slots without weights, learnt where y g < `sure`. The score is
          f + tanh(g/4)/2.
Ageing    Replays are drawn from the last `window` kept messages. Older ones stay in w with the strength they had.
Theorem   w = Σ alpha_i y_i x_i, and every step raises the dual value D = Σ alpha - ‖w‖²/2 of the large-margin problem on the
          messages so far. A mistake (E <= 0) raises it by at least `gain` = min(C - C²/2, C `doubt`): for a cap C its step adds
          C(1 - E) - C²/2, and for a cap c = C doubt/|E| it adds c + C doubt - c²/2. So there are at most
          D/gain <= (‖v‖²/2 + C Σ max(0, 1 - y_i v·x_i))/gain mistakes, for any v. Ageing changes nothing in this.
Reference Anlauf and Biehl 1989 (AdaTron); Shalev-Shwartz and Singer 2007 (dual ascent online); Duchi, Hazan and Singer 2011
          (AdaGrad).

A learner is a function of the messages in order: sums are taken in the order of the slots, random choices come from the seed
and the number of messages learnt before, and nothing is reordered by the compiler. So a replay gives the same bits.
"""

import math
from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from halfspace._dispatch import compiled_inside_exactly
from halfspace.mail.hashing import SLOT_BITS

__all__ = ["RULES", "Learner", "Settings"]

SLOTS = 1 << SLOT_BITS


class Settings(NamedTuple):
    """What the learner does at a message; the values are those of the study, chosen on public streams."""

    C: float = 0.9
    margin: float = 0.6
    replays: int = 5
    doubt: float = 0.3
    window: int = 2_000
    rate: float = 0.5
    start: float = 1e-5
    sure: float = 4.0
    seed: int = 0

    @property
    def gain(self) -> float:
        """How much a mistake raises the dual value at least."""
        return min(self.C - self.C * self.C / 2.0, self.C * self.doubt)


SETTINGS = Settings()
_SIMPLE = Settings(C=1.0, replays=0, doubt=1e300, rate=0.0)
RULES = {
    "perceptron": _SIMPLE._replace(margin=5e-324),
    "passive-aggressive": _SIMPLE._replace(margin=1.0),
    "adatron": SETTINGS,
}
"""The rungs, simplest first. The perceptron learns from mistakes alone (E <= 0), each with the strength 1; passive-aggressive
learning from every thin margin, once, with the least strength that mends it; AdaTron replays, doubts and takes advice."""


class Plane(NamedTuple):
    """What is learnt of each slot: the plane, the advice with its sums of squares, and in how many messages it was.

    The four numbers of a slot lie side by side in memory (`SLOT`): a slot is one place to fetch, not four.
    """

    weights: Any
    advice: Any
    squares: Any
    counts: Any


SLOT = np.dtype([("weights", "<f4"), ("advice", "<f4"), ("squares", "<f4"), ("counts", "<u4")])


def plane_in(slots: Any) -> Plane:
    """Return the four columns of an array of `SLOT`, not copied."""
    return Plane._make(slots[name] for name in SLOT.names or ())


def side_by_side(plane: Plane) -> Plane:
    """Return a plane whose four numbers of a slot lie side by side: the same if it is one, else a copy."""
    if all(column.strides == (SLOT.itemsize,) for column in plane):
        return plane
    found = plane_in(np.empty(plane.weights.size, SLOT))
    for mine, other in zip(found, plane, strict=True):
        mine[:] = other
    return found


class Kept(NamedTuple):
    """The kept messages: strength, cap, label, number, and from `starts` on slots and entries of those that may be replayed."""

    strengths: Any
    caps: Any
    labels: Any
    numbers: Any
    starts: Any
    slots: Any
    entries: Any


@compiled_inside_exactly
def _draw(seed: Any, number: Any, k: Any) -> Any:
    """Return 64 random bits (SplitMix64) for choice k at a message."""
    z = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(number) * np.uint64(0xBF58476D1CE4E5B9)
    z += np.uint64(k + 1) * np.uint64(0x94D049BB133111EB)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def logarithms(size: Any) -> Any:
    """Return the logarithms of the whole numbers below a size; that of 0 is 0."""
    logs = np.zeros(size)
    for k in range(1, size):
        logs[k] = math.log(np.float64(k))
    return logs


@compiled_inside_exactly
def rarity(logs: Any, n: Any, count: Any) -> float:
    """Return how rare a slot is that `count` of n messages have had; more than n are none: somebody is writing."""
    count = min(np.uint64(count), n)
    return logs[count + n + np.uint64(2)] - logs[count + np.uint64(1)]


@njit(cache=True, nogil=True)
def rarities(logs: Any, n: Any, counts: Any, entries: Any) -> float:
    """Write how rare slots are after n messages, from the number of these with each, and return the length of that vector."""
    square = 0.0
    for j in range(counts.size):
        entry = rarity(logs, np.uint64(n), counts[j])
        entries[j] = entry
        square += entry * entry
    return math.sqrt(square)


@njit(cache=True, nogil=True)
def potentials(plane: Any, logs: Any, n: Any, slots: Any, entries: Any) -> tuple[float, float, float]:
    """Return f and g of a message and the length of its vector, which is left in `entries`, not yet divided by it."""
    total, square, advice = 0.0, 0.0, 0.0
    for j in range(slots.size):
        slot = slots[j]
        entry = rarity(logs, np.uint64(n), plane.counts[slot])
        entries[j] = entry
        square += entry * entry
        total += plane.weights[slot] * entry
        advice += plane.advice[slot]
    if slots.size == 0:
        return 0.0, 0.0, 1.0
    length = math.sqrt(square)
    return total / length, advice / math.sqrt(slots.size), length


@compiled_inside_exactly
def _move(plane: Any, slots: Any, entries: Any, change: Any) -> None:
    """Add a multiple of a message to the plane."""
    for j in range(slots.size):
        plane.weights[slots[j]] += change * entries[j]


@compiled_inside_exactly
def _replay(plane: Any, kept: Any, k: Any) -> None:
    """Take an AdaTron step on a kept message."""
    first, last = kept.starts[k], kept.starts[k + 1]
    slots, entries, y = kept.slots[first:last], kept.entries[first:last], kept.labels[k]
    f = 0.0
    for j in range(slots.size):
        f += plane.weights[slots[j]] * entries[j]
    alpha = min(kept.caps[k], max(0.0, kept.strengths[k] + 1.0 - y * f))
    if alpha != kept.strengths[k]:
        _move(plane, slots, entries, (alpha - kept.strengths[k]) * y)
        kept.strengths[k] = alpha


@compiled_inside_exactly
def _advise(plane: Any, slots: Any, y: Any, g: Any, rate: Any) -> None:
    """Take a step of logistic regression with AdaGrad's rates."""
    slope = (1.0 / (1.0 + math.exp(-min(30.0, max(-30.0, g)))) - (1.0 if y > 0 else 0.0)) / math.sqrt(max(1, slots.size))
    square = slope * slope
    for j in range(slots.size):
        slot = slots[j]
        plane.squares[slot] += square
        plane.advice[slot] -= rate * slope / math.sqrt(plane.squares[slot])


@njit(cache=True, nogil=True)
def learn(plane: Any, logs: Any, kept: Any, counts: Any, slots: Any, y: Any, settings: Any) -> tuple[float, float, int]:
    """Learn a message; return f, g as they were before, and how many are kept now. `kept` must have room for it.

    `counts`: how many messages were learnt before, and how many of them are kept.
    """
    n, n_kept = counts
    entries = np.empty(slots.size)
    f, g, length = potentials(plane, logs, n, slots, entries)
    if y * f < settings.margin:
        first = kept.starts[n_kept]
        for j in range(slots.size):
            kept.slots[first + j] = slots[j]
            kept.entries[first + j] = entries[j] / length
        kept.starts[n_kept + 1] = first + slots.size
        kept.caps[n_kept] = settings.C * min(1.0, settings.doubt / max(settings.doubt, -y * f))
        kept.strengths[n_kept] = min(kept.caps[n_kept], 1.0 - y * f)
        kept.labels[n_kept] = y
        kept.numbers[n_kept] = n
        _move(plane, slots, kept.entries[first : first + slots.size], kept.strengths[n_kept] * y)
        n_kept += 1
        first = max(0, n_kept - settings.window)
        for k in range(settings.replays):
            _replay(plane, kept, first + np.int64(_draw(settings.seed, n, k) % np.uint64(n_kept - first)))
    if y * g < settings.sure:
        _advise(plane, slots, y, g, settings.rate)
    for j in range(slots.size):
        plane.counts[slots[j]] += 1
    return f, g, n_kept


class Learner:
    """The learner's state and its two verbs; `halfspace.mail.filter.MailFilter` is what people use.

    Parameters
    ----------
    settings : Settings
        Rates and limits.
    plane : Plane, optional
        Arrays to learn in, such as mapped files; zeros by default.

    Examples
    --------
    >>> learner = Learner()
    >>> hello, money = np.array([3, 7], dtype=np.uint32), np.array([7, 9], dtype=np.uint32)
    >>> learner.learn(money, 1), learner.learn(hello, -1) > 0
    (0.0, True)
    >>> learner.score(money) > 0 > learner.score(hello)
    True
    """

    def __init__(self, settings: Settings = SETTINGS, plane: Plane | None = None) -> None:
        self.settings = settings
        if plane is None:
            plane = plane_in(np.zeros(SLOTS, SLOT))
            plane.squares[:] = settings.start
        self.plane = side_by_side(plane)
        self.n = self.n_kept = 0
        self._logs = logarithms(4096)
        self.kept = Kept(
            np.zeros(0),
            np.zeros(0),
            np.zeros(0, np.int8),
            np.zeros(0, np.int64),
            np.zeros(1, np.int64),
            np.zeros(0, np.uint32),
            np.zeros(0, np.float32),
        )

    def score(self, slots: Any) -> float:
        """Return the score of a message, positive for spam, from its slots, shape (m,), uint32, sorted."""
        f, g, _ = potentials(self.plane, self._table(), self.n, slots, np.empty(slots.size))
        return combined(f, g)

    def vector(self, slots: Any) -> tuple[float, Any]:
        """Return f of a message and its vector, shape (m,), of length 1."""
        entries = np.empty(slots.size)
        f, _, length = potentials(self.plane, self._table(), self.n, slots, entries)
        return f, entries / length

    def learn(self, slots: Any, label: int) -> float:
        """Learn a message, label 1 (spam) or -1 (ham), and return its score before."""
        self._make_room(slots.size)
        counts = self.n, self.n_kept
        f, g, self.n_kept = learn(self.plane, self._table(), self.kept, counts, slots, label, self.settings)
        self.n += 1
        self.let_go()
        return combined(f, g)

    def let_go(self) -> None:
        """Drop the slots and entries of messages that no replay shows again, some thousand at a time."""
        first = self.held_from(self.n_kept)
        start = int(self.kept.starts[first])
        if start:
            self.kept.starts[:first] = 0
            self.kept.starts[first:] -= start
            self.kept = self.kept._replace(slots=self.kept.slots[start:].copy(), entries=self.kept.entries[start:].copy())

    def held_from(self, n_kept: int) -> int:
        """Return the first of so many kept messages whose slots are held: it depends on their number alone."""
        return max(0, n_kept // self.settings.window - 1) * self.settings.window

    def _table(self) -> Any:
        """Return the logarithms of all whole numbers that are needed."""
        if 2 * self.n + 3 > self._logs.size:
            self._logs = logarithms(4 * self.n)
        return self._logs

    def _make_room(self, size: int) -> None:
        """Let the arrays of kept messages grow, by doubling."""
        end = int(self.kept.starts[self.n_kept]) + size
        least = (*[self.n_kept + 1] * 4, self.n_kept + 2, end, end)
        self.kept = Kept._make(
            np.concatenate([a, np.zeros(2 * n - a.size, a.dtype)]) if n > a.size else a
            for a, n in zip(self.kept, least, strict=True)
        )

    def to_arrays(self) -> dict[str, Any]:
        """Return the whole state as named arrays: those of `Plane` (not copied), of `Kept` (without spare room), and `n`."""
        end = int(self.kept.starts[self.n_kept])
        sizes = (*[self.n_kept] * 4, self.n_kept + 1, end, end)
        kept = {f"kept_{name}": a[:size].copy() for name, a, size in zip(Kept._fields, self.kept, sizes, strict=True)}
        return {**self.plane._asdict(), **kept, "n": np.array([self.n], np.int64)}

    @classmethod
    def from_arrays(cls, arrays: dict[str, Any], settings: Settings = SETTINGS) -> Self:
        """Return the learner that `to_arrays` came from; it learns in the plane that is handed in (see `Plane`)."""
        learner = cls(settings, Plane._make(arrays[name] for name in Plane._fields))
        learner.kept = Kept._make(arrays[f"kept_{name}"] for name in Kept._fields)
        learner.n, learner.n_kept = int(arrays["n"][0]), learner.kept.strengths.size
        return learner

    def copy(self) -> Self:
        """Return a learner that goes on independently."""
        return self.from_arrays({name: a.copy() for name, a in self.to_arrays().items()}, self.settings)


def combined(f: float, g: float) -> float:
    """Return the score from the plane's output and the advice."""
    return f + math.tanh(g / 4.0) / 2.0
