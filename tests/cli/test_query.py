"""Claims about `halfspace query` and `halfspace curve`."""

import csv

import pytest


def test_rows_to_label_come_with_reasons(answer, model, table, tmp_path):
    """The rows are numbered as in the file, the least certain first, with random ones for an audit."""
    out = tmp_path / "to_label.csv"
    body = answer("query", model, table, "-k", 5, "--audit", 3, "--out", out)
    assert [one["purpose"] for one in body["rows"]] == ["label"] * 5 + ["audit"] * 3
    margins = [one["margin"] for one in body["rows"][:5]]
    assert margins == sorted(margins)
    with out.open(encoding="utf-8") as file:
        assert [int(row["row"]) for row in csv.DictReader(file)] == [one["row"] for one in body["rows"]]


def test_an_audit_gives_an_interval(halfspace, answer, model, table):
    """Labelled random rows give an exact interval of the error rate."""
    found = answer("query", model, table, "-k", 1, "--audited", table, "--labelled", table)["audit"]
    assert found["n"] == 120
    assert 0.0 <= found["low"] <= found["errors"] / 120 <= found["high"]
    said = halfspace("query", model, table, "-k", 2).out.splitlines()
    assert len(said) == 3
    assert "margin" in said[0]


def test_the_curve_is_carried_on(answer, halfspace, table, tmp_path):
    """Multiples and numbers of rows are understood, and the picture is written."""
    picture = tmp_path / "curve.svg"
    body = answer("curve", table, "--target", "kept", "--at", "2x,1000", "--repeats", 3, "--plot", picture)
    assert [one["n"] for one in body["predictions"]] == [240, 1000]
    assert body["predictions"][0]["low"] <= body["predictions"][0]["high"]
    assert picture.read_bytes().startswith(b"<?xml")
    assert (
        halfspace("curve", table, "--target", "kept", "--repeats", 3).out.splitlines()[-1].startswith("From 120 to 1,200 rows")
    )


@pytest.mark.parametrize("at", ["ten", "3", "x"])
def test_a_number_of_rows_that_makes_no_sense_is_refused(halfspace, table, at):
    """The refusal says what is expected."""
    ran = halfspace("curve", table, "--target", "kept", "--at", at)
    assert ran.code == 2
    assert "such as 10x" in ran.err
