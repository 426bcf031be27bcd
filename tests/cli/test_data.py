"""Claims about `halfspace data`."""

import pytest

from halfspace.data import catalogue
from halfspace.files import read


def test_list_names_every_problem(answer, halfspace):
    """Text and object name the problems of the catalogue."""
    known = [problem.name for problem in catalogue.problems()]
    assert [problem["name"] for problem in answer("data list")["problems"]] == known
    out = halfspace("data", "list").out
    assert all(name in out for name in known)


@pytest.mark.parametrize("name", ["breast_cancer", "customers"])
def test_show_describes_one(answer, halfspace, name):
    """Columns, target and the first rows are shown."""
    body = answer("data show", name)
    assert body["target"] not in body["columns"]
    assert len(body["columns"]) == body["n_columns"]
    assert body["columns"][0] in halfspace("data", "show", name).out


def test_make_writes_what_read_reads(answer, halfspace, tmp_path):
    """The CSV has the rows asked for, the same on standard output, and depends on the seed."""
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for seed, path in enumerate(paths):
        body = answer("data make", "customers", "--n", 50, "--seed", seed, "--out", path)
    assert read(paths[0], body["target"]).n_rows == 50
    assert paths[0].read_text() != paths[1].read_text()
    assert halfspace("data", "make", "customers", "--n", 50).out == paths[0].read_text()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("show", "iriss"), "iris"),
        (("make", "nothing"), "there are"),
        (("make", "iris", "--n", "1000"), "150"),
        (("make", "xor", "--json"), "--out"),
    ],
    ids=["show", "make", "too many", "json without file"],
)
def test_bad_input(halfspace, arguments, word):
    """Unknown problems and impossible sizes are one sentence."""
    ran = halfspace("data", *arguments)
    assert ran.code == 2
    assert word in ran.err
    assert len(ran.err.splitlines()) == 1
