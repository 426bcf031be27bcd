"""Claims about `halfspace warm`: it compiles ahead, says how much, and finds everything the second time."""

import numpy as np
import pytest
from numba import njit

from halfspace.cli import warm
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
