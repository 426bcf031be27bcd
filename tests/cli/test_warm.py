"""Claims about `halfspace warm`: it compiles ahead, says how much, and finds everything the second time."""

import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from halfspace.cli import beside, warm
from halfspace.cli.ladders import COMPILING, Watch


@pytest.mark.compiled
def test_a_second_run_compiles_nothing(answer, monkeypatch):
    """What a first run has compiled is found on disk by the processes of a second one."""
    monkeypatch.setattr(warm, "JOBS", {"mail": warm.JOBS["mail"]})
    answer("warm")
    again = answer("warm")
    assert again["kept"]
    assert again["functions"] == 0
    assert [job["name"] for job in again["jobs"]] == ["mail"]


@pytest.mark.compiled
def test_compilations_are_counted_and_told(monkeypatch, tmp_path):
    """A job counts the functions that it compiles, and `fit` says once that it is compiling."""

    def job(a):
        njit(lambda x: a * x)(np.ones(3))

    monkeypatch.setitem(warm.JOBS, "one", lambda: job(1.0))
    assert warm._do("one").functions >= 1
    with (tmp_path / "told").open("w") as page, Watch(None, page):
        job(2.0)
        job(3.0)
    assert (tmp_path / "told").read_text().count(COMPILING) == 1


@pytest.mark.parametrize(("cores", "compiled", "begun"), [(2, False, 1), (1, False, 0), (2, True, 0)])
def test_a_process_beside_is_for_a_first_fit_and_a_free_core(monkeypatch, tmp_path, cores, compiled, begun):
    """`fit` has another process compile too, where a core is free and nothing has been compiled before."""
    started, ended = [], []

    class Process:
        def __init__(self, arguments, **options):
            started.append((arguments[1:], options["start_new_session"]))

        def kill(self):
            pass

    monkeypatch.setattr(beside.subprocess, "Popen", Process)
    monkeypatch.setattr(beside.atexit, "register", ended.append)
    monkeypatch.setattr(beside.os, "sched_getaffinity", lambda _: range(cores), raising=False)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    if compiled:
        (tmp_path / "rules").mkdir()
        (tmp_path / "rules" / "sweep.present-150.py311.nbi").touch()
    beside.start()
    assert started == [(["-m", "halfspace.cli.warm"], True)] * begun
    assert len(ended) == begun


@pytest.mark.compiled
def test_what_is_compiled_is_found_where_it_is_looked_for(monkeypatch, tmp_path):
    """A first fit leaves the file that tells the next one to start no process beside."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert beside.nothing_compiled()
    script = "import halfspace as hs; hs.Perceptron().fit([[0.0], [1.0]], [0, 1])"
    subprocess.run([sys.executable, "-W", "ignore", "-c", script], check=True)
    assert not beside.nothing_compiled()
