"""The catalogue of problems: each is what its line says, and is the same for the same seed."""

import csv
import io

import numpy as np
import pytest

from halfspace.data.catalogue import make, problems, write_csv
from halfspace.errors import InputError

NAMES = [problem.name for problem in problems()]


@pytest.mark.parametrize("problem", problems(), ids=NAMES)
def test_a_problem_is_what_it_says(problem):
    """Rows, columns, classes and target agree with the catalogue; the target is the last column."""
    columns, target = make(problem.name)
    assert list(columns)[-1] == target == problem.target
    assert len(columns) == problem.n_columns + 1
    assert {values.shape for values in columns.values()} == {(problem.n_rows,)}
    assert len(set(columns[target].tolist())) == problem.n_classes or (
        not problem.n_classes and columns[target].dtype.kind == "f"
    )
    assert all(values.dtype.kind in "biufUM" for values in columns.values())


@pytest.mark.parametrize("name", NAMES)
def test_so_many_rows_by_seed(name):
    """So many rows come as asked for; the same seed gives the same rows."""
    first, second = io.StringIO(), io.StringIO()
    n = 20 if name == "hubble" else 101
    write_csv(name, first, n=n, random_state=3)
    write_csv(name, second, n=n, random_state=3)
    assert first.getvalue() == second.getvalue()
    assert len(first.getvalue().splitlines()) == n + 1


def test_hubbles_line_is_the_known_one():
    """The typed table has the slopes that textbooks give: 424 km/s per megaparsec through the origin, 454 with a constant."""
    table, _ = make("hubble")
    r, v = table["distance"], table["velocity"]
    assert r @ v / (r @ r) == pytest.approx(423.9, abs=0.05)
    assert np.polyfit(r, v, 1) == pytest.approx([454.16, -40.78], abs=0.01)


def test_names_that_can_be_read():
    """The demo's columns and labels have their names."""
    columns, target = make("breast-cancer")
    assert "worst concave points" in columns
    assert set(columns[target].tolist()) == {"malignant", "benign"}


def test_customers_have_what_real_tables_have():
    """The table of customers has an id, a constant, gaps of all kinds, and rows that contradict each other."""
    table, target = make("customers")
    assert len(set(table["customer"].tolist())) == 1000
    assert set(table["currency"].tolist()) == {"EUR"}
    assert np.isnan(table["age"]).any()
    assert np.isnat(table["last order"]).any()
    assert "" in table["region"]
    seen, contradictions = {}, 0
    for row in zip(*(map(str, table[name]) for name in table if name not in ("customer", target)), table[target], strict=True):
        contradictions += seen.setdefault(row[:-1], row[-1]) != row[-1]
    assert contradictions == 10


def test_csv(tmp_path):
    """A file has a header, empty cells where values are missing, words for switches and ISO dates."""
    path = tmp_path / "customers.csv"
    assert write_csv("customers", path, n=200) == "left"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 200
    assert {row["newsletter"] for row in rows} == {"true", "false"}
    assert "" in {row["age"] for row in rows}
    assert "" in {row["last order"] for row in rows}
    assert all(len(row["joined"]) == 10 for row in rows)


@pytest.mark.parametrize(
    ("name", "n", "words"),
    [
        ("moons", None, "no problem 'moons'. Give one of: breast_cancer"),
        ("iris", 151, "from 4 to 150, as many as iris has"),
        ("rings", 1, "at least 4"),
    ],
    ids=["unknown", "too-many", "too-few"],
)
def test_what_cannot_be_made(name, n, words):
    """An unknown name or an impossible number of rows is refused with what is possible."""
    with pytest.raises(InputError, match=words):
        make(name, n)
