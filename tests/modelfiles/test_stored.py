"""Files of earlier versions stay readable, for ever."""

import json
from pathlib import Path

import numpy as np
import pytest

import halfspace as hs
from halfspace.modelfiles import read_tree

STORED = Path(__file__).parent / "stored"
EXPECTED = json.loads((STORED / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", sorted(EXPECTED["models"]))
def test_a_stored_file_is_loaded_to_the_same_predictions(name):
    """A file of an earlier version gives its labels and outputs, and its certificate holds."""
    X, expected = np.array(EXPECTED["X"]), EXPECTED["models"][name]
    model, y = hs.load(STORED / f"{name}.halfspace"), np.array(expected["target"])
    assert model.predict(X).tolist() == expected["labels"]
    # Other versions of NumPy and other processors add up in another order.
    assert np.allclose(model.decision_function(X), expected["outputs"], rtol=1e-9, atol=1e-9)
    assert (model.verify if name == "ladder" else model.certificate_.verify)(X, y)


def test_every_stored_file_is_tested():
    """No stored file is left out, and each says which version wrote it."""
    files = {path.stem: read_tree(path) for path in STORED.glob("*.halfspace")}
    assert files.keys() == EXPECTED["models"].keys()
    assert all(tree.version[0].isdigit() for tree in files.values())
