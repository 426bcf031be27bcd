"""The engine reports what goes wrong, whatever it is, keeps the case and goes on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("poison", "said"),
    [("raise", "KeyError"), ("loop", "TooSlow"), ("grow", "MemoryError"), ("die", "SIGSEGV"), ("nothing", "")],
)
def test_a_failure_is_reported_kept_and_shrunk(poison, said, tmp_path):
    """An error, a loop without end, 3 GB of memory or a crash is named with its seed; the kept case has no idle change."""
    run = subprocess.run(
        [sys.executable, "-m", "fuzz.toys", poison, str(tmp_path)],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"},
    )
    assert "toy: 25 mutants" in run.stdout or poison == "die"
    assert said in run.stdout
    kept = [path.read_bytes() for path in tmp_path.iterdir()]
    assert all(poison.encode() in content for content in kept)
    assert bool(kept) == bool(said)
    if poison != "die":
        assert all(content == b"good " + poison.encode() for content in kept)
