"""Files of earlier versions stay readable, for ever."""

import json
from pathlib import Path

import numpy as np
import pytest

import halfspace as hs
from halfspace.modelfiles import read_tree

STORED = Path(__file__).parent / "stored"
EXPECTED = {path.parent: json.loads(path.read_text(encoding="utf-8")) for path in sorted(STORED.glob("*/expected.json"))}
FILES = [
    pytest.param(folder, name, id=f"{folder.name}-{name}") for folder in EXPECTED for name in sorted(EXPECTED[folder]["models"])
]


@pytest.mark.parametrize(("folder", "name"), FILES)
def test_a_stored_file_is_loaded_to_the_same_predictions(folder, name):
    """A file of an earlier version gives its labels and outputs, and its certificate holds."""
    X, expected = np.array(EXPECTED[folder]["X"]), EXPECTED[folder]["models"][name]
    model, y = hs.load(folder / f"{name}.halfspace"), np.array(expected["target"])
    assert model.predict(X).tolist() == expected["labels"]
    # Other versions of NumPy and other processors add up in another order.
    assert np.allclose(model.decision_function(X), expected["outputs"], rtol=1e-9, atol=1e-9)
    assert (model.verify if name == "ladder" else model.certificate_.verify)(X, y)


def test_every_stored_file_is_tested():
    """No stored file is left out, and each says which version wrote it."""
    files = {path: read_tree(path) for path in STORED.glob("*/*.halfspace")}
    assert len(files) == len(FILES)
    assert all(tree.version[0].isdigit() for tree in files.values())
