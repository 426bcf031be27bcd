"""A claim about processes that are killed; `make fuzz` runs the long form (tests/mail/kills.py)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.mark.compiled
def test_nothing_acknowledged_is_lost_by_kill_9(tmp_path):
    """Four writers, killed at random: what was acknowledged is there, and the weights are those of a replay, bit for bit."""
    run = [sys.executable, HERE / "kills.py", tmp_path / "state", "--kills", "6"]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1] / "src")}
    ran = subprocess.run(run, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "10 kills" in ran.stdout
