"""Writers of one state, killed by signal 9 at random moments: nothing acknowledged is lost, and the weights are a replay's.

    python tests/mail/kills.py FOLDER --kills 75

Each of four processes learns messages one by one, some in bulk, and takes some back; it reports through a pipe what it is about
to take back and what was acknowledged. One at a time is killed and started again.
"""

import argparse
import os
import random
import select
import signal
import sqlite3
import sys
import time

import numpy as np

from halfspace.mail.identity import identity
from halfspace.mail.learner import Learner
from halfspace.mail.reader import score_plainly
from halfspace.mail.state import State

WORDS = [f"word{k}" for k in range(2_000)]


def message(number):
    """Return a message, one of a kind; the label is that of its number."""
    draw = random.Random(number)  # noqa: S311  (not a secret)
    words = draw.choices(WORDS[:1200] if number % 2 else WORDS[800:], k=150)
    return f"From: a{number}@example.org\nSubject: message {number}\n\n{' '.join(words)}\n".encode()


def write(folder, pipe, seed):
    """Learn, train and take back until killed."""
    draw = random.Random(seed)  # noqa: S311
    known = []

    def tell(what, numbers):
        os.write(pipe, "".join(f"{what} {number}\n" for number in numbers).encode())

    with State(folder, stays=draw.random() < 0.5) as state:
        for number in range(seed * 100_000, (seed + 1) * 100_000, 10):
            choice = draw.random()
            if choice < 0.05 and known:
                gone = known.pop(draw.randrange(len(known)))
                tell("undoing", [gone])
                state.undo(message(gone))
            elif choice < 0.15:
                batch = list(range(number, number + 10, 2))
                for _ in state.train(map(message, batch), spam=bool(number % 2)):
                    tell("learnt", batch)
                known += batch
            else:
                state.learn(message(number), spam=bool(number % 2))
                tell("learnt", [number])
                known.append(number)


def started(folder, seed):
    """Start a writer; return its process id and the pipe on which it reports."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(out)
        try:
            write(folder, into, seed)
        finally:
            os._exit(1)
    os.close(into)
    return child, out


def heard(pipe, learnt, undoing, least=0, patience=0.0):
    """Take in what a writer has reported; wait some seconds for so many lines at least."""
    data, limit = b"", time.monotonic() + patience
    while True:
        waiting = max(0.0, limit - time.monotonic()) if data.count(b"\n") < least else 0.0
        if not select.select([pipe], [], [], waiting)[0] or not (more := os.read(pipe, 65536)):
            break
        data += more
    for line in data.decode().splitlines():
        what, number = line.split()
        (learnt if what == "learnt" else undoing).add(int(number))


def run(folder, kills, seed=0):
    """Kill writers; return what was acknowledged as learnt, and what was about to be taken back."""
    draw, learnt, undoing = random.Random(seed), set(), set()  # noqa: S311
    writers = [started(folder, seed * 1_000 + k + 1) for k in range(4)]
    begun = seed * 1_000 + 5
    for _ in range(kills):
        child, pipe = writers.pop(draw.randrange(4))
        heard(pipe, learnt, undoing, draw.randrange(16), 2.0)
        time.sleep(draw.uniform(0.0, 0.005))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        heard(pipe, learnt, undoing)
        os.close(pipe)
        if learnt:
            score_plainly(folder, message(max(learnt)))
        writers.append(started(folder, begun))
        begun += 1
    for child, pipe in writers:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        heard(pipe, learnt, undoing)
        os.close(pipe)
    return learnt, undoing


def check(folder, learnt, undoing):
    """Return what is wrong with a state, as sentences; empty if nothing is."""
    faults = []
    data = sqlite3.connect(f"{folder}/journal")
    if data.execute("PRAGMA integrity_check").fetchone() != ("ok",):
        faults.append("the journal is damaged")
    data.close()
    with State(folder) as state:
        replay = Learner()
        for _, entry in state.journal.rows():
            if replay.learn(entry.features, 1 if entry.spam else -1) != entry.score:
                faults.append(f"the score of {entry.id} is not that of the replay")
        mine = state.learner.to_arrays()
        faults += [f"{name} differ" for name, a in replay.to_arrays().items() if not np.array_equal(a, mine[name])]
        n_ham, n_spam = state.journal.counts()
        if n_ham + n_spam != replay.n:
            faults.append("a message is there by half")
        for number in learnt - undoing:
            known = state.journal.find(identity(message(number), state.salt))
            if known is None or known.spam != bool(number % 2):
                faults.append(f"message {number} was acknowledged and is not there")
    return faults


def main():
    """Run the whole and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--kills", type=int, default=75)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with State(options.folder) as state:  # compiled before the processes are forked
        state.learn(b"Subject: first\n\nham", spam=False)
        state.undo(b"Subject: first\n\nham")
    learnt, undoing = run(options.folder, options.kills, options.seed)
    faults = check(options.folder, learnt, undoing)
    told = f"{options.kills + 4} kills, {len(learnt):,} acknowledged, {len(undoing):,} taken back, {len(faults)} faults"
    sys.stdout.write("\n".join([told, *faults[:20]]) + "\n")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
