"""The state of a mail filter: one directory that many processes use at once.

    journal    the truth: every message learnt, on the disk before `learn` returns (`halfspace.mail.journal`)
    weights    a cache that readers map into memory (`halfspace.mail.weights`); rebuilt when torn or behind
    salt       the secret of the hashed features
    seen/      features of messages that were scored with a header and not yet learnt, by id
    lock       held by the one process that writes

A message is written to the journal first and then learnt: a process killed in between leaves weights that are behind, and
whoever writes next learns the rest of the journal. A message that is taken back is removed from the journal, and the messages
after it are learnt again, from a copy, into a new file: the filter is then, bit for bit, the one that never saw it.
"""

import contextlib
import fcntl
import math
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from halfspace.mail.answering import PROMISES, READABLE, reasons, shares_of, threshold_in, top_of
from halfspace.mail.cache import Cache, Copy
from halfspace.mail.compiled import features as compiled_features
from halfspace.mail.extraction import ALL, VERSION, features, named_features
from halfspace.mail.header import unstamped, value_of
from halfspace.mail.identity import identity
from halfspace.mail.journal import Entry, Journal, are_slots
from halfspace.mail.learner import SETTINGS, Learner
from halfspace.mail.promise import HamScores, answer
from halfspace.mail.reader import hold
from halfspace.mail.weights import SIZE

if TYPE_CHECKING:
    from halfspace.mail.proofs import Proofs

__all__ = ["BATCH", "LABELS", "State"]

BATCH = 200
"""Messages of a bulk training that are written in one transaction."""
CHECKPOINT, COPIES = 250, 5
"""Messages between two copies of the learner in memory, from which a replay starts, and how many are held."""
LARGEST_START = 20_000
"""Messages that a service replays when it starts, to have copies of its recent past."""
RECENT = 200
"""Messages that the error rate is taken over."""
LABELS = ("ham", "spam")
SALT = 32
"""Bytes of the secret."""


def _held(path: Path) -> Any:
    """Return the features found when a message was scored, shape (m,); None if there are none, or they are damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    found = np.frombuffer(data[: len(data) // 4 * 4], np.uint32)
    return found if found.size and 4 * found.size == len(data) and are_slots(found) else None


class State:
    r"""A mail filter in a directory.

    Parameters
    ----------
    folder : str or path
        The directory; it is made if there is none.
    keep : bool, default False
        Whether messages themselves are kept in the journal from now on, so that their features can be found anew.
    light : bool, default False
        At most 250 features a message; fixed when the state is made.
    stays : bool, default False
        Whether the process stays: then the learner is copied now and then, so that taking back is quick.
    ham_loss : float, optional
        The share of ham that may be lost, where a request does not say: 0.01, 0.005 or 0.001.

    Attributes
    ----------
    past : HamScores
        The scores of ham before it was learnt, from which thresholds follow.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, State(folder) as state:
    ...     _ = state.learn(b"Subject: cheap pills\n\nbuy now", spam=True)
    ...     _ = state.learn(b"Subject: lunch\n\nat noon?", spam=False)
    ...     print(state.score(b"Subject: cheap pills\n\nbuy")[:4], state.undo(b"Subject: lunch\n\nat noon?"))
    spam taken back: it was learnt as ham
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        keep: bool = False,
        light: bool = False,
        stays: bool = False,
        ham_loss: float | None = None,
    ) -> None:
        self.folder, self._stays, self._ham_loss = Path(folder), stays, ham_loss
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = os.open(self.folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        self._copies: list[Copy] = []
        self._forget()
        with self._locked():
            self.journal = Journal(self.folder / "journal")
            self.salt = self._secret()
            if self.journal.about("light") is None:
                self.journal.about("light", int(light))
                self.journal.about("extractor", VERSION)
            if keep:
                self.journal.about("keep", 1)
            self.light, self._keep = bool(self.journal.about("light")), bool(self.journal.about("keep"))
            if light and not self.light:
                msg = f"{self.folder}: this filter was made without light mode, which is chosen once; leave --light out"
                raise ValueError(msg)
            self._renew()
            path = self.folder / "weights"
            for left in self.folder.glob("weights.new*"):  # by a process that was killed
                left.unlink()
            if not path.exists() or path.stat().st_size < SIZE:
                Cache.make(path, self.journal.epoch())
            self._cache = Cache(path, self.journal)
            self._refresh()
            if stays and 0 < self.learner.n <= LARGEST_START:
                self._rebuild()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all files."""
        with self._locked():
            self._cache.close(sync=self._stays)
            self.journal.close()
        os.close(self._lock)

    @property
    def learner(self) -> Learner:
        """The learner, as of the last look at the file."""
        return self._cache.learner

    def features(self, message: bytes) -> Any:
        """Return the features of a message: compiled where that will be used again, else by the standard library."""
        if self._stays:
            return compiled_features(message, salt=self.salt, light=self.light)
        return np.frombuffer(features(message, salt=self.salt, light=self.light), np.uint32)

    def score(self, message: bytes, *, header: bool = False, ham_loss: float | None = None) -> str:
        """Return the answer about a message as our header field has it.

        For a header it has reasons, and the features are held until the message is learnt.
        """
        message = unstamped(message)
        slots, key = self.features(message), identity(message, self.salt)
        score, threshold = self._steady(
            lambda: (self.learner.score(slots), threshold_in(self._cache.file, ham_loss or self._ham_loss))
        )
        top = []
        if header:
            hold(str(self.folder), key, slots.tobytes())
            top = top_of(*self._named(message, READABLE), spam=score > 0.0)
        return value_of(answer(score, threshold), score, key, top)

    def explain(self, message: bytes, most: int = 10) -> tuple[list[tuple[str, str, float]], list[tuple[str, str, float]]]:
        """Return the features that push a message most towards ham and towards spam: group, token and share of the score."""
        named, slots, shares = self._named(unstamped(message))
        return reasons(named, slots, shares, most, spam=False), reasons(named, slots, shares, most, spam=True)

    def _named(self, message: bytes, groups: Iterable[str] = ALL) -> tuple[dict[int, tuple[str, str]], list[int], list[float]]:
        """Return what the features of a message stand for, their slots, and what each adds to the score."""
        slots, plane = self.features(message), self.learner.plane
        weights, advice, counts = (array[slots].tolist() for array in (plane.weights, plane.advice, plane.counts))
        shares = shares_of(range(slots.size), self.learner.n, weights, advice, counts)
        named = named_features(message, salt=self.salt, groups=groups, light=self.light)
        return named, slots.tolist(), shares

    def learn(self, message: bytes, *, spam: bool) -> str:
        """Learn a message; return a sentence when it is on the disk."""
        key = identity(message, self.salt)
        held = self.folder / "seen" / key
        slots = _held(held)
        if slots is None:
            slots = self.features(unstamped(message))
        with self._locked():
            self._refresh()
            known = self.journal.find(key)
            if known and known.spam == spam:
                return f"already learnt as {LABELS[spam]}"
            if known:
                self._take_back(known.number)
            entry = Entry(key, spam, self.learner.score(slots), slots, unstamped(message) if self._keep else None)
            first, numbers = self.learner.n, self.journal.append([entry])
            self._cache.learn(slots, spam=spam)
            self._settle(first, numbers, [entry])
        held.unlink(missing_ok=True)
        return f"learnt as {LABELS[spam]}" + (f"; it was learnt as {LABELS[known.spam]} before" if known else "")

    def undo(self, message: bytes) -> str:
        """Take a message back: the filter is then the one that never saw it; return a sentence."""
        return self.forget(identity(message, self.salt))

    def forget(self, key: str) -> str:
        """Take back the message known by an id; return a sentence."""
        with self._locked():
            self._refresh()
            known = self.journal.find(key)
            if known is None:
                raise ValueError("this message was never learnt, or was changed since; give it as it was delivered")
            self._take_back(known.number)
        return f"taken back: it was learnt as {LABELS[known.spam]}"

    def train(self, messages: Iterable[bytes], *, spam: bool) -> Iterator[tuple[int, int]]:
        """Learn many messages, some hundred in a transaction; after each yield how many there were and how many were new.

        Messages that were trained last, by this call and those before it, are learnt anew in an order that mixes ham and spam:
        a filter that has seen all ham first, and then all spam, calls everything spam.
        """
        batch: list[Entry] = []
        for message in messages:
            clean = unstamped(message)
            key = identity(message, self.salt)
            slots = compiled_features(clean, salt=self.salt, light=self.light)
            batch.append(Entry(key, spam, math.nan, slots, clean if self._keep else None))
            if len(batch) == BATCH:
                yield len(batch), self._train(batch)
                batch = []
        if batch:
            yield len(batch), self._train(batch)
        with self._locked():
            self._refresh()
            if self.journal.mix():
                self._copies = []
                self._rebuild()

    def _train(self, batch: list[Entry]) -> int:
        """Learn some messages in one transaction; return how many were new."""
        with self._locked():
            self._refresh()
            fresh = []
            for entry in {entry.id: entry for entry in batch}.values():
                known = self.journal.find(entry.id)
                if known and known.spam != entry.spam:
                    self._take_back(known.number)
                if not known or known.spam != entry.spam:
                    fresh.append(entry)
            if fresh:
                first = self.learner.n
                learnt = [e._replace(score=self._cache.learn(e.features, spam=e.spam)) for e in fresh]
                self._settle(first, self.journal.append(learnt, bulk=True), learnt)
        return len(fresh)

    def status(self) -> dict[str, Any]:
        """Return what the filter has seen, how it did, and what it promises."""
        with self._locked():
            self._refresh()
        recent = self.journal.recent(RECENT)
        promised = [(eps, self.past.promised(eps)) for eps in PROMISES]
        return {
            "state": str(self.folder),
            "n_ham": self.past.n_ham,
            "n_spam": self.past.n_spam,
            "n_kept": self.learner.n_kept,
            "n_recent": len(recent),
            "ham_lost": sum(score > 0.0 for score, spam in recent if not spam),
            "spam_missed": sum(score <= 0.0 for score, spam in recent if spam),
            "threshold": self.past.default(),
            "promises": [
                {"ham_loss": eps, "threshold": found, "ham_missing": self.past.missing(eps)} for eps, found in promised
            ],
            "light": self.light,
            "keeps_messages": self._keep,
            "n_bytes": sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file()),
        }

    def replayed(self, ham_loss: float | None = None) -> "tuple[Proofs, list[str]]":
        """Learn the journal again, in memory; return what it proves, and where scores or weights differ from it."""
        from halfspace.mail.proofs import prove  # noqa: PLC0415  (SciPy, which learning does not need)

        with self._locked():
            self._refresh()
            log = ((entry.features, 1 if entry.spam else -1, entry.score) for _, entry in self.journal.rows())
            found = prove(log, ham_loss=ham_loss or self._ham_loss, settings=self.learner.settings)
            mine = self.learner.to_arrays()
        faults = [f"{found.n_changed:,} scores differ from those in the journal"] if found.n_changed else []
        for name, array in found.learner.to_arrays().items():
            if not np.array_equal(array, mine[name]):
                faults.append(f"the {name.replace('_', ' ')} differ from those of the replay")
        return found, faults

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock, so that no other process writes."""
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _secret(self) -> bytes:
        """Return the salt; draw it where there is none."""
        path = self.folder / "salt"
        if path.exists() and path.stat().st_size != SALT:
            msg = f"{path}: has {path.stat().st_size} bytes and not {SALT}; put a copy of the whole state in its place"
            raise ValueError(msg)
        if not path.exists() and self.journal.last():
            msg = f"{path}: is gone, and without it what was learnt means nothing; put a copy of it in its place, or start anew"
            raise ValueError(msg)
        if not path.exists():
            part = path.with_name("salt.part")
            part.touch(mode=0o600)
            part.write_bytes(secrets.token_bytes(SALT))
            part.replace(path)
        return path.read_bytes()

    def _steady(self, compute: Callable[[], Any]) -> Any:
        """Return what is computed from whole weights, those of the journal."""
        file = self._cache.file
        if not file.replaced() and file.whole() and self._cache.current():
            found = compute()
            if file["begun"] == file["done"] and self._cache.current():
                return found
        with self._locked():
            self._refresh()
            return compute()

    def _refresh(self) -> None:
        """Make the weights those of the journal: open, reread, rebuild or catch up. The lock is held."""
        if self._cache.file.replaced() and (self.folder / "weights").exists():
            self._cache.close(sync=False)
            self._cache = Cache(self.folder / "weights", self.journal)
            self._forget()
        if not self._cache.fits(self.journal.epoch()):
            self._rebuild()
            return
        if not self._cache.current() and not self._cache.reread(self.journal):
            self._rebuild()
            return
        self._catch_up()

    def _forget(self) -> None:
        """Let go of what is held of the history: somebody else has changed it."""
        self.past, self._read = HamScores(), 0
        self._copies = []

    def _catch_up(self) -> None:
        """Learn what the journal has beyond the weights, and count the scores of the rest."""
        done = self._cache.file["done"]
        if self._read < done:
            self.past.extend(self.journal.scores(self._read, done))
            self._read = done
        numbers: list[int] = []
        entries: list[Entry] = []
        changed: list[tuple[int, float]] = []
        for number, entry in self.journal.rows(done):
            score = self._cache.learn(entry.features, spam=entry.spam)
            numbers.append(number)
            entries.append(entry._replace(score=score))
            if score != entry.score:
                changed.append((number, score))
            if self.learner.n % CHECKPOINT == 0:
                self._settle(self.learner.n - len(numbers), numbers, entries)
                numbers, entries = [], []
        if numbers:
            self._settle(self.learner.n - len(numbers), numbers, entries)
        if changed:
            self.journal.rescore(changed)

    def _numbers(self) -> dict[str, float]:
        """Return the numbers that readers need beside the weights."""
        promised = {name: self.past.promised(eps) for eps, name in PROMISES.items()}
        return {
            "n_ham": self.past.n_ham,
            "n_counted": self.past.n_counted,
            "n_spam": self.past.n_spam,
            "light": self.light,
            "threshold": self.past.default(),
            **{name: math.inf if found is None else found for name, found in promised.items()},
        }

    def _settle(self, first: int, numbers: list[int], entries: list[Entry]) -> None:
        """Write what was learnt since a position, with thresholds that include it; copy the learner now and then."""
        for entry in entries:
            self.past.add(entry.score, spam=entry.spam)
        self._read = numbers[-1]
        self._cache.settle(first, numbers, **self._numbers())
        if self._stays and self.learner.n - (self._copies[-1].learner.n if self._copies else 0) >= CHECKPOINT:
            self._copies = [*self._copies, self._cache.copy()][-COPIES:]

    def _take_back(self, number: int) -> None:
        """Remove a message from the journal, and its own share from the weights at once; then replay."""
        slots = self.journal.known(number)[1]
        self.journal.remove(number)
        self._cache.subtract(number, slots)
        self._copies = [copy for copy in self._copies if copy.number < number]
        self._rebuild()

    def _rebuild(self) -> None:
        """Learn the journal again, from the last copy or from the beginning, in a new file that replaces the old."""
        path, copies = self.folder / "weights.new", self._copies
        Cache.make(path, self.journal.epoch())
        cache = Cache(path, self.journal)
        self._cache.close(sync=False)
        self._cache = cache
        self._forget()
        if copies:
            self._copies, self._read = copies, copies[-1].number
            self.past.extend(self.journal.scores(0, self._read))
            cache.restore(copies[-1], **self._numbers())
        self._catch_up()
        cache.file.note(**self._numbers())
        cache.move(self.folder / "weights")

    def _renew(self) -> None:
        """Find the features of kept messages anew when a new version finds others; void the weights if it learns otherwise."""
        if self.journal.about("extractor") != VERSION:
            kept = [(number, message) for number, message in self.journal.messages() if message is not None]
            found = [(k, compiled_features(message, salt=self.salt, light=self.light)) for k, message in kept]
            self.journal.replace_features(found, VERSION)
        if self.journal.about("learner") != repr(SETTINGS):
            self.journal.about("epoch", self.journal.epoch() + 1)
            self.journal.about("learner", repr(SETTINGS))
