"""Runs of the fuzzer in a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.fixture
def fuzzed(tmp_path):
    """Return a function that tries a number of mutants of some targets and fails with the report if one does harm."""

    def run(*targets, cases):
        path = f"{TESTS}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        command = [sys.executable, "-m", "fuzz", *targets, "--cases", str(cases), "--folder", str(tmp_path)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path})
        assert done.returncode == 0, done.stdout + done.stderr[-3000:]
        assert done.stdout.count(f"{cases:,} mutants") == len(targets)

    return run
