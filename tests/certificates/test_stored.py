"""Certificates written by earlier versions: every kind is read, confirmed on its data, and written again unchanged."""

import json
from pathlib import Path

import numpy as np
import pytest

from halfspace.certificates import Certificate, check, from_json

FILES = sorted((Path(__file__).parent / "stored").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_stored_certificates_are_read_and_confirmed(path, tmp_path):
    """A certificate of an earlier version holds on its data, not on other data, and its JSON comes back as it was."""
    stored = json.loads(path.read_text(encoding="utf-8"))
    X, y = np.array(stored["X"]), None if stored["y"] is None else np.array(stored["y"])
    text = json.dumps(stored["certificate"])
    file = tmp_path / "certificate.json"
    file.write_text(text, encoding="utf-8")
    assert str(check(file, X, y)) == "holds"
    assert json.loads(from_json(text).to_json()) == stored["certificate"]
    if path.stem not in {"ClassCounts", "LabelCount", "OneLabel", "RidgeGap-exact", "TargetMean"}:
        assert not check(file, 1.5 * X + 0.75, None if y is None else np.roll(y, 1))


def test_every_kind_is_stored():
    """No kind of certificate is without a stored file."""
    own = {name for name, kind in Certificate.kinds.items() if kind.__module__.startswith("halfspace.")}
    assert own == {path.stem.split("-")[0] for path in FILES}
