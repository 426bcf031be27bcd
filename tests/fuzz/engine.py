"""The engine: numbered cases of a target in a child process of limited memory, each in its time; failures are kept, shrunk."""

import mmap
import os
import random
import re
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from abc import ABC, abstractmethod
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

__all__ = ["MEMORY", "Failure", "Report", "Target", "attempt", "folder_in_memory", "fuzz", "replay"]

MEMORY = 2 << 30
MOST_FAILURES = 20
CORPUS = 1200
"""Seconds on the processor in which the originals must be there: models may have to be compiled."""
PATIENCE = 20
"""A child that does not compute either is ended after so many times the seconds it may compute."""
_FOLDERS = ExitStack()
EDITS = (1, 1, 1, 1, 2, 2, 3, 4)


def folder_in_memory():
    """Return a new folder, in memory where there is such a thing; it goes when the process ends."""
    shared = Path("/dev/shm")  # noqa: S108  (only the folder that is made in it is used)
    return Path(_FOLDERS.enter_context(tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None)))


class TooSlow(BaseException):
    """A case took longer than it may; no handler of the library catches it."""


class Failure(NamedTuple):
    """A case that ended in something other than an answer or an error of ours."""

    seed: int
    what: str
    where: str
    file: str


class Report(NamedTuple):
    """What became of the cases of a target."""

    target: str
    cases: int
    accepted: int
    seconds: float
    failures: list

    def __str__(self):
        rate = self.cases / max(self.seconds, 1e-9)
        text = f"{self.target}: {self.cases:,} mutants, {self.accepted:,} of them accepted and used, {rate:,.0f} a second"
        lines = [f"  seed {f.seed}: {f.what} in {f.where}; kept as {f.file}" for f in self.failures]
        return "\n".join([text, *lines])


class Target(ABC):
    """What is fuzzed: a corpus, how to change one of it, and how to try the result."""

    name = ""
    suffix = ""
    seconds = 5.0
    """Longest time of a case, on the processor."""
    share = 1.0
    """Of the time of a long run."""

    @abstractmethod
    def corpus(self):
        """Return the number of originals, having made them."""

    @abstractmethod
    def original(self, number):
        """Return an original, to be changed."""

    @abstractmethod
    def change(self, subject, chance):
        """Return the subject with one change."""

    @abstractmethod
    def content(self, subject):
        """Return a subject as the bytes of a file."""

    @abstractmethod
    def tried(self, subject):
        """Use a subject: True if it was accepted, False if an error of ours refused it."""

    def revived(self, content, number):  # noqa: ARG002  (most files say all that there is to know)
        """Return the subject of a kept file, made of that original."""
        return content

    def mutant(self, number, edits):
        """Return an original with the changes that these seeds say."""
        subject = self.original(number)
        for seed in edits:
            subject = self.change(subject, random.Random(seed))  # noqa: S311  (mutants are no secrets)
        return subject

    def plan(self, seed, originals):
        """Return the original and the edits of a case; the first cases are the originals as they are."""
        if seed < originals:
            return seed, []
        chance = random.Random(f"{self.name} {seed}")  # noqa: S311
        return chance.randrange(originals), [chance.getrandbits(48) for _ in range(chance.choice(EDITS))]


def attempt(target, subject):
    """Try a subject within its time: None if it was refused, True if it was used, else what went wrong and where."""
    signal.setitimer(signal.ITIMER_PROF, target.seconds)
    try:
        return target.tried(subject) or None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (that is the question)
        signal.setitimer(signal.ITIMER_PROF, 0)
        return _described(error)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _described(error):
    """Say what an error is and where in the package it came from."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if "halfspace" in f.filename and "fuzz" not in f.filename]
    frames = frames or traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "nowhere"
    return f"{type(error).__name__}: {' '.join(str(error).split())[:160]}", where


def _alarmed(*_):
    raise TooSlow


class _Heart:
    """Two numbers in memory shared with the parent: the case at hand, and how many were accepted."""

    def __init__(self):
        self._memory = mmap.mmap(-1, 32)

    def beat(self, seed, accepted):
        self._memory[:16] = seed.to_bytes(8, "little") + accepted.to_bytes(8, "little")

    def read(self):
        return int.from_bytes(self._memory[:8], "little"), int.from_bytes(self._memory[8:16], "little")


def fuzz(make, *, folder, seconds=None, cases=None, first=0):
    """Run cases of a target, in one child after another should they die; `make()` returns the target.

    Either for some seconds or a number of cases, counted from the case `first`.
    """
    began, heart, failures, seed, accepted = time.monotonic(), _Heart(), [], first, 0
    end = None if cases is None else first + cases
    name = make.name
    while len(failures) < MOST_FAILURES:
        left = None if seconds is None else seconds - (time.monotonic() - began)
        heart.beat(seed, 0)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _child(make, heart, writing, folder, seed, end, left)
        os.close(writing)
        died = _watched(child, heart, make.seconds)
        with os.fdopen(reading) as lines:
            failures += [Failure(int(line[0]), *line[1:]) for line in (text.rstrip("\n").split("\t") for text in lines)]
        seed, more = heart.read()
        accepted += more
        if died is None:
            break
        failures.append(Failure(seed, died, "compiled code", _kept_apart(make, seed, folder)))
        seed += 1
    return Report(name, seed - first, accepted, time.monotonic() - began, failures)


def _watched(child, heart, longest):
    """Wait for a child; say how it died, or None if it ended well. One that stands still is ended."""
    first = last = heart.read()
    since, spent = time.monotonic(), 0.0
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            code = os.waitstatus_to_exitcode(status)
            if code > 0:
                raise RuntimeError("the fuzzer itself failed, see above")
            return None if code == 0 else f"the process died ({signal.Signals(-code).name})"
        now = heart.read()
        most, computed = CORPUS if now == first else 60 + 2 * longest, _computed(child)
        if now != last:
            last, since, spent = now, time.monotonic(), computed
        elif computed - spent > most or time.monotonic() - since > PATIENCE * most:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "the process stood still"
        time.sleep(0.25)  # looking is work too


def _computed(child):
    """Return the seconds that a process has spent on the processor: other work on the machine does not count."""
    try:
        spent = Path(f"/proc/{child}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[11:13]
    except OSError:  # no such system
        return time.monotonic()
    return sum(map(int, spent)) / os.sysconf("SC_CLK_TCK")


def _limited():
    """Limit the memory of this process, and make its alarm an error."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGPROF, _alarmed)
    warnings.simplefilter("ignore")  # numbers may overflow on their way to being refused


def _child(make, heart, writing, folder, seed, end, seconds):
    """Run cases until the end or the time; write a line for each failure, and leave the process."""
    code = 1
    try:
        _limited()
        with os.fdopen(writing, "w", buffering=1) as out:
            _cases(make(), heart, out, folder, seed, end, seconds)
        code = 0
    except BaseException:  # noqa: BLE001  (a fork must not return into its parent's stack)
        traceback.print_exc()
    finally:
        _FOLDERS.close()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _cases(target, heart, out, folder, seed, end, seconds):
    originals, accepted, seen = target.corpus(), 0, Counter()
    began = time.monotonic()
    while (end is None or seed < end) and (seconds is None or time.monotonic() - began < seconds):
        heart.beat(seed, accepted)
        number, edits = target.plan(seed, originals)
        found = attempt(target, target.mutant(number, edits))
        if isinstance(found, tuple):
            what, where = found
            kind = where, re.sub(r"\d+", "#", what)[:20]  # other numbers in its sentence make no other failure
            seen[kind] += 1
            if seen[kind] == 1:
                content = target.content(_shrunk(target, number, edits, where))
                kept = _keep(folder, target, seed, number, content)
                out.write("\t".join([str(seed), what.replace("\t", " "), where, kept]) + "\n")
                if len(seen) >= MOST_FAILURES:
                    break
        else:
            accepted += found is True
        if not edits and found is not True:
            out.write(f"{seed}\tan original is not accepted: {found}\tthe corpus\t-\n")
        seed += 1
    heart.beat(seed, accepted)


def _shrunk(target, number, edits, where):
    """Return the mutant with as few edits as still fail at the same place."""
    for edit in list(edits):
        fewer = [other for other in edits if other != edit]
        found = attempt(target, target.mutant(number, fewer))
        if isinstance(found, tuple) and found[1] == where:
            edits = fewer
    return target.mutant(number, edits)


def _keep(folder, target, seed, number, content):
    """Write a case to a file, whose name says what it was made of, and return its path."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    path = Path(folder) / f"{target.name.replace(' ', '-')}-{seed}-{number}{target.suffix}"
    path.write_bytes(content)
    return str(path)


def _kept_apart(make, seed, folder):
    """Write the case that killed a child, made in another child that does not try it."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _limited()
            target = make()
            number, edits = target.plan(seed, target.corpus())
            _keep(folder, target, seed, number, target.content(target.mutant(number, edits)))
            code = 0
        finally:
            _FOLDERS.close()
            os._exit(code)
    os.waitpid(child, 0)
    return str(next(Path(folder).glob(f"{make.name.replace(' ', '-')}-{seed}-*"), "nothing"))


def replay(make, path):
    """Try a kept case again and say what becomes of it; what is no answer is raised."""
    _limited()
    target = make()
    target.corpus()
    number = int(Path(path).name.removesuffix(target.suffix).rpartition("-")[2])
    return "accepted and used" if target.tried(target.revived(Path(path).read_bytes(), number)) else "refused"
