"""Checkers go over the rows in blocks: however small these are, the verdict is the same."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from halfspace.certificates import arithmetic, baselines, expansion, from_json, groups, rational, version_space
from halfspace.certificates.margins import ballot, label_count, leave_one_out
from halfspace.certificates.prototypes import errors, quantisation
from halfspace.certificates.regression import filtering, posterior

FILES = sorted((Path(__file__).parent / "stored").glob("*.json"))
SIZES = [
    *((module, "BLOCK_ENTRIES") for module in (arithmetic, expansion, groups, errors, quantisation, version_space)),
    *((module, "BLOCK") for module in (ballot, filtering, label_count, posterior)),
    *((rational, name) for name in ("COLUMNS", "ROWS")),
    (errors, "BLOCK_ROWS"),
    (baselines, "CHUNK"),
    (leave_one_out, "ENTRIES"),
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_blocks_of_one_row_change_no_verdict(path, monkeypatch):
    """A certificate of any kind holds on its data row by row, dense and sparse."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    X, y = np.array(stored["X"]), None if stored["y"] is None else np.array(stored["y"])
    proof = from_json(json.dumps(stored["certificate"]))
    for module, name in SIZES:
        monkeypatch.setattr(module, name, 1)
    assert str(proof.verify(X, y)) == "holds"
    assert str(proof.verify(sparse.csr_array(X), y)) == "holds"
