"""The state of a mail filter on the disk: durable learning, taking back, size, and what a process of one message costs.

    python -m benchmarks.mail_state INDEX [--light]

INDEX is a labelled stream as `halfspace mail evaluate` reads it. Times are CPU seconds of the processes but where a disk waits:
there the two sides take turns, and the median of the rounds' ratios is given.
"""

import argparse
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from halfspace.mail.client import address_of, ask
from halfspace.mail.compiled import features
from halfspace.mail.journal import Entry
from halfspace.mail.sources import indexed
from halfspace.mail.state import BATCH, State

SOURCES = Path(__file__).resolve().parents[1] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCES), "PYTHONDONTWRITEBYTECODE": ""}
ENTRY = "import sys; from halfspace.__main__ import main; main()"
"""What the script that pip installs does."""


def learnt(state, lines):
    """Learn a stream in bulk, labels mixed; return the CPU seconds."""
    begin = time.process_time()
    for first in range(0, len(lines), BATCH):
        batch = []
        for line in lines[first : first + BATCH]:
            message = line.path.read_bytes()
            batch.append(
                Entry(f"{len(batch) + first:024d}", line.spam, 0.0, features(message, salt=state.salt, light=state.light))
            )
        state._train(batch)  # noqa: SLF001  (the public way takes one label at a time)
    return time.process_time() - begin


def bare_commits(path, blobs):
    """Return the seconds of a commit of one row, in a table without an index, synchronous=FULL."""
    data = sqlite3.connect(path, isolation_level=None)
    data.execute("PRAGMA journal_mode=WAL")
    data.execute("PRAGMA synchronous=FULL")
    data.execute("CREATE TABLE IF NOT EXISTS row (number INTEGER PRIMARY KEY, body BLOB)")
    begin = time.perf_counter()
    for blob in blobs:
        data.execute("BEGIN IMMEDIATE")
        data.execute("INSERT INTO row (body) VALUES (?)", (blob,))
        data.execute("COMMIT")
    found = (time.perf_counter() - begin) / len(blobs)
    data.close()
    return found


def durable(state, folder, lines, rounds=6, count=50):
    """Race single learns, the message read from bytes, against bare commits of as many bytes, in turns."""
    mails = [line.path.read_bytes() for line in lines[: rounds * count]]
    ours, bare = [], []
    for turn in range(rounds):
        some = mails[turn * count : (turn + 1) * count]
        begin = time.perf_counter()
        for k, mail in enumerate(some):
            state.learn(mail + b"%d" % turn, spam=lines[turn * count + k].spam)
        ours.append((time.perf_counter() - begin) / len(some))
        blobs = [os.urandom(int(1.9 * state.features(mail).size)) for mail in some]
        bare.append(bare_commits(folder / "bare", blobs))
    return min(ours), min(bare), float(np.median(np.array(bare) / np.array(ours)))


def taking_back(state, count=5):
    """Return the CPU seconds of taking back messages among the last 1,000, the first of these first."""
    found = []
    keys = [entry.id for _, entry in state.journal.rows()][-1000:]
    for key in keys[: 2 * count : 2]:
        begin = time.process_time()
        state.forget(key)
        found.append(time.process_time() - begin)
    return found


def process_cost(arguments, message, repeats=15):
    """Return the least and the median CPU milliseconds of a process."""
    found = []
    for _ in range(repeats):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run([sys.executable, *arguments], input=message, capture_output=True, env=ENVIRONMENT, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert ran.returncode in {0, 10, 11}, ran.stderr  # noqa: S101
        found.append(1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime))
    return min(found), float(np.median(found))


def one_shots(folder, message):
    """Print what a process of one message costs, alone and as the client of a service."""
    command = ["-c", ENTRY, "mail", "score", "--header", "--state", str(folder)]
    rows = {"python -c pass": process_cost(["-c", "pass"], message), "mail score --header": process_cost(command, message)}
    run = [sys.executable, "-m", "halfspace", "mail", "serve", "--state", str(folder)]
    with subprocess.Popen(run, env=ENVIRONMENT, stderr=subprocess.PIPE) as server:
        print(server.stderr.readline().decode().strip())
        rows["  asking a service"] = process_cost(command, message)
        address = address_of(str(folder / "socket"))
        begin = time.perf_counter()
        for _ in range(200):
            ask(address, "score", message)
        each = (time.perf_counter() - begin) / 200
        server.terminate()
    for name, (least, median) in rows.items():
        print(f"{name:24s} {least:7.1f} ms CPU (median {median:.1f})")
    print(f"{'a request to the service':24s} {1e3 * each:7.2f} ms wall")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("index")
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--folder", help="where to put the state: on the disk that is to be measured")
    options = parser.parse_args()
    lines = indexed(options.index)
    order = np.random.default_rng(0).permutation(len(lines))
    lines = [lines[k] for k in order]
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = Path(name) / "state"
        with State(folder, light=options.light) as state:
            seconds = learnt(state, lines)
            print(f"{len(lines):,} messages, {len(lines) / seconds:,.0f} learnt a CPU second; {state.learner.n_kept:,} kept")
        for path in sorted(folder.iterdir()):
            print(f"  {path.name:10s} {path.stat().st_size / 1e6:6.1f} MB")
        print(f"  {'in all':10s} {sum(path.stat().st_size for path in folder.iterdir()) / 1e6:6.1f} MB")
        one_shots(folder, min((line.path.read_bytes() for line in lines[:99]), key=lambda mail: abs(len(mail) - 3500)))
        with State(folder, stays=True) as state:
            ours, bare, ratio = durable(state, Path(name), lines)
            print(f"single learns {1 / ours:,.0f}/s, bare commits {1 / bare:,.0f}/s (best rounds); median ratio {ratio:.2f}")
            found = taking_back(state)
            print(f"taking back one of the last 1,000: {max(found):.2f} s CPU at most, {min(found):.2f} at least")


if __name__ == "__main__":
    main()
