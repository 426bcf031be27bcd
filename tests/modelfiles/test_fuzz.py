"""Mutants: every damaged file ends in a correct load or in `ModelFileError`.

`HALFSPACE_FUZZ=1000000` asks for that many mutants instead of the usual number.
"""

import contextlib
import json
import os
import random
import tempfile
import time
import tracemalloc
import warnings
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import halfspace as hs
from halfspace.errors import ModelFileError
from halfspace.modelfiles.container import read

pytestmark = pytest.mark.compiled

MUTANTS = int(os.environ.get("HALFSPACE_FUZZ", "21000"))
NAMES = ("adatron", "voted sparse", "kernel voted", "projectron", "machine pairs", "machine cells", "ladder")
SLOWEST = 5.0
"""Seconds of computing that no load may take; the first one imports the models."""
JUNK = [None, True, -1, 0, 1, 10**6, 2**63, 1.5, "", "x", "0", "1", [], {}, {"@float": "nan"}, {"@array": "0"}]
JUNK += [
    {"@tuple": []},
    {"@dict": [[1, 2]]},
    {"@record": "Outcome", "fields": {}},
    {"@kernel": "RBF", "params": {"gamma": 1.0}},
]
JUNK += [{"@model": "AdaTron", "params": {}, "fitted": {}}, [[]], {"@dict": [[[], 1]]}, {"@text": "0", "shape": [1]}]


@pytest.fixture(scope="module")
def originals(saved, tmp_path_factory):
    """Return the bytes of some files, with examples to predict: a ladder over a table with all kinds of columns among them."""
    path = tmp_path_factory.mktemp("ladder") / "model"
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.integers(2, size=60)
    X[:, 0] += 3 * y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hs.save(hs.Ladder(rungs=["majority", "perceptron"], n_splits=2, n_repeats=1).fit(X, y), path)
    return {name: path.read_bytes() if name == "ladder" else saved(name) for name in NAMES}


def seeded(seed):
    """Return a random generator."""
    return random.Random(seed)  # noqa: S311  (mutants are no secrets)


@pytest.fixture
def mutant():
    """Return the path of a file in memory, where there is such a folder: thousands of files are written to it."""
    shared = Path("/dev/shm")  # noqa: S108  (only the folder that mkdtemp makes in it is used)
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        yield Path(folder) / "mutant"


def attempt(raw, path):
    """Load a mutant, within bounded time; return the model, or None if it was refused."""
    path.write_bytes(raw)
    began = time.process_time()
    try:
        return hs.load(path)
    except ModelFileError:
        return None
    finally:
        assert time.process_time() - began < SLOWEST


def used(model):
    """Use a model that was loaded from a mutant: whatever it says, compiled code must stay within its arrays."""
    X = np.linspace(-1.0, 1.0, 6).reshape(2, 3)
    with np.errstate(all="ignore"), warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")
        model.decision_function(X)


def cut_and_paste(raw, chance):
    """Return the bytes with some flipped, cut off, inserted, doubled or swapped."""
    raw, at = bytearray(raw), chance.randrange(len(raw))
    kind, size = chance.randrange(6), chance.choice((1, 2, 8, 64))
    if kind == 0:
        raw[at] ^= 1 << chance.randrange(8)
    elif kind == 1:
        del raw[at:]
    elif kind == 2:
        raw[at:at] = chance.randbytes(size)
    elif kind == 3:
        raw[at:at] = raw[at : at + size]
    elif kind == 4:
        del raw[at : at + size]
    else:
        raw[at : at + size] = chance.choice((b"\x00", b"\xff", b"[", b"9")) * len(raw[at : at + size])
    return bytes(raw)


def test_no_flipped_or_missing_byte_goes_unnoticed(originals, mutant):
    """Files with bytes changed, cut, inserted or doubled are refused, unless they hold the same as before."""
    chance, originals = seeded(0), list(originals.values())
    known = [contents_of(raw, mutant) for raw in originals]
    for k in range(MUTANTS * 2 // 3):
        changed = cut_and_paste(originals[k % len(originals)], chance)
        found = contents_of(changed, mutant)
        assert found is None or found == known[k % len(originals)]


def contents_of(raw, path):
    """Return what a file holds, in a form that can be compared; None if it is refused."""
    path.write_bytes(raw)
    try:
        contents = read(path)
    except ModelFileError:
        return None
    return contents.tree, [(name, a.dtype, a.shape, a.tobytes()) for name, a in sorted(contents.arrays.items())]


def test_headers_edited_and_sealed_again_do_no_harm(originals, parts_of, mutant):
    """Text edits of the tree under a correct checksum end in a load or in ModelFileError."""
    chance, files = seeded(1), [parts_of(raw) for raw in originals.values()]
    texts = [json.dumps(file.tree).encode() for file in files]
    for k in range(MUTANTS // 9):
        text = cut_and_paste(texts[k % len(files)], chance).decode(errors="replace")
        attempt(files[k % len(files)].sealed(text), mutant)


def test_numbers_edited_and_sealed_again_do_no_harm(originals, parts_of, mutant):
    """Arrays with other bytes under a correct checksum give a model that can be used, or ModelFileError."""
    chance, files, accepted = seeded(2), list(originals.values()), 0
    for k in range(MUTANTS // 9):
        file = parts_of(files[k % len(files)])
        for _ in range(chance.randrange(1, 4)):
            at = 8 * chance.randrange(len(file.data) // 8)
            file.data[at : at + 8] = chance.choice((chance.randbytes(8), (-1).to_bytes(8, "little", signed=True), b"\x00" * 8))
        model = attempt(file.sealed(), mutant)
        if model is not None and k % 10 == 0:
            accepted += 1
            used(model)
    assert accepted


def places(node, found):
    """List every container in a tree with its keys."""
    for key in list(node) if isinstance(node, dict) else range(len(node)):
        found.append((node, key))
        if isinstance(node[key], dict | list):
            places(node[key], found)
    return found


def edit(tree, draw):
    """Replace, remove, exchange or double one value somewhere in a tree; `draw(n)` is a number below n."""
    spots = places(tree, [])
    node, key = spots[draw(len(spots))]
    kind = draw(4)
    if kind == 0:
        node[key] = deepcopy(JUNK[draw(len(JUNK))])
    elif kind == 1:
        del node[key]
    elif kind == 2:
        other, name = spots[draw(len(spots))]
        node[key] = deepcopy(other[name])
    elif isinstance(node, list):
        node.append(deepcopy(node[key]))
    else:
        node[f"{key}_"] = node.pop(key)


def test_trees_edited_and_sealed_again_do_no_harm(originals, parts_of, mutant):
    """Structural edits of the tree under a correct checksum give a model that can be used, or ModelFileError."""
    chance = seeded(3)
    files = [(parts_of(raw), json.dumps(parts_of(raw).tree)) for raw in originals.values()]
    for k in range(MUTANTS // 9):
        file, tree = files[k % len(files)]
        file.tree = json.loads(tree)
        for _ in range(chance.randrange(1, 4)):
            edit(file.tree, chance.randrange)
        model = attempt(file.sealed(), mutant)
        if model is not None and k % 10 == 0:
            used(model)


@settings(
    max_examples=max(300, MUTANTS // 100),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_trees_edited_by_hypothesis_do_no_harm(data, originals, parts_of, mutant):
    """Whatever Hypothesis does to a tree and its arrays' descriptions ends in a load or in ModelFileError."""
    file = parts_of(originals[data.draw(st.sampled_from(NAMES))])
    for _ in range(data.draw(st.integers(1, 3))):
        edit(data.draw(st.sampled_from([file.tree, file.header])), lambda n: data.draw(st.integers(0, n - 1)))
    try:
        raw = file.sealed()
    except (KeyError, TypeError, AttributeError):  # the edits took away what is to be sealed
        return
    model = attempt(raw, mutant)
    if model is not None:
        used(model)


def test_no_mutant_takes_more_memory_than_twice_its_size(originals, parts_of, mutant):
    """Peak memory while loading sealed mutants stays below twice the file, and a little for Python itself."""
    chance = seeded(4)
    for raw in originals.values():
        for _ in range(12):
            file = parts_of(raw)
            edit(file.tree, chance.randrange)
            changed = file.sealed()
            attempt(changed, mutant)
            tracemalloc.start()
            attempt(changed, mutant)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 2 * len(changed) + 500_000
