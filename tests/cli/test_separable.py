"""Claims about `halfspace separable`."""

import ast
import inspect
import json

import pytest

from halfspace.cli import separable


@pytest.fixture
def cross(tmp_path):
    """A table that no line separates."""
    path = tmp_path / "cross.csv"
    path.write_text("a,b,label\n0,0.5,no\n1,1.5,no\n0,1.5,yes\n1,0.5,yes\n")
    return path


def test_inseparable_is_an_honest_answer(halfspace, cross):
    """Any verdict is a success: exit code 0, and the sentence names the rows that forbid a plane."""
    ran = halfspace("separable", cross, "--target", "label")
    assert ran.code == 0
    assert "inseparable: the classes' convex hulls intersect (4 witness rows" in ran.out


def test_the_proof_file_is_checked_by_certify(answer, cross, tmp_path):
    """The proof of --out holds for the file it is about, and is refuted by another."""
    proof = tmp_path / "proof.json"
    body = answer("separable", cross, "--target", "label", "--out", proof)
    assert body["verdicts"][0]["verdict"] == "inseparable"
    assert answer("certify", proof, cross)["holds"]
    other = tmp_path / "other.csv"
    other.write_text(cross.read_text().replace("1,0.5", "1,0.75"))
    assert "not exactly zero" in answer("certify", proof, other, code=1)["reasons"][0]


def test_several_classes_are_proved_one_by_one(answer, tmp_path):
    """Of three classes each is asked against the rest, and one file proves all."""
    iris, proof = tmp_path / "iris.csv", tmp_path / "proof.json"
    target = answer("data make", "iris", "--out", iris)["target"]
    body = answer("separable", iris, "--target", target, "--out", proof, "--scale", "none")
    assert [one["verdict"] for one in body["verdicts"]] == ["separable", "inseparable", "inseparable"]
    assert answer("certify", proof, iris)["proof"]["kind"] == "PerClass"


def test_a_sample_is_proved_about_its_rows(answer, table, tmp_path):
    """The proof of a sample names its rows, and certify reads these."""
    proof = tmp_path / "proof.json"
    assert answer("separable", table, "--target", "kept", "--max-rows", 40, "--out", proof)["n_used"] == 40
    assert len(json.loads(proof.read_text())["rows"]) == 40
    assert answer("certify", proof, table)["n_checked"] == 40


@pytest.mark.parametrize(
    "damage",
    [
        lambda body: body.pop("scale"),
        lambda body: body.update(scale=3),
        lambda body: body.update(rows=["x"]),
        lambda body: body.update(rows=[[1]]),
        lambda body: body.update(n_rows=None),
        lambda body: body.update(certificate=5),
        lambda body: body["certificate"].update(kind="Nothing"),
        lambda body: body["certificate"].update(multipliers={"0": "1/0"}),
    ],
    ids=["no scale", "scale", "rows", "nested rows", "n_rows", "no certificate", "kind", "fraction"],
)
def test_a_damaged_proof_is_one_sentence(halfspace, answer, cross, tmp_path, damage):
    """Whatever a proof file holds, it is refused in one sentence."""
    proof = tmp_path / "proof.json"
    answer("separable", cross, "--target", "label", "--out", proof)
    body = json.loads(proof.read_text())
    damage(body)
    proof.write_text(json.dumps(body))
    ran = halfspace("certify", proof, cross)
    assert ran.code == 2
    assert len(ran.err.splitlines()) == 1
    assert "unexpected" not in ran.err


def test_rows_are_those_of_the_file(halfspace, tmp_path):
    """The rows that forbid a plane are named by their numbers in the file, rows without a label counted."""
    path = tmp_path / "cross.csv"
    path.write_text("a,b,label\n5,5,\n0,0.5,no\n1,1.5,no\n6,6,\n0,1.5,yes\n1,0.5,yes\n")
    assert "witness rows: 1, 2, 4, 5)" in halfspace("separable", path, "--target", "label").out


def test_it_does_not_load_the_ladder():
    """Its module names none of the ladder's, whose 200 modules a short time limit would count."""
    tree = ast.parse(inspect.getsource(separable))
    assert not [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and "ladder" in str(node.module)]


def test_classes_that_there_is_no_time_for_are_left_out_and_counted(halfspace, tmp_path):
    """A command that is late asks about two classes and notes how many are left; a proof to be written is about all."""
    path = tmp_path / "many.csv"
    path.write_text("a,b,label\n" + "".join(f"{k},{k * k % 7},c{k % 6}\n" for k in range(60)))
    late = halfspace("separable", path, "--target", "label", "--max-time", "1e-6")
    assert "c1: " in late.out
    assert "c2: " not in late.out
    assert "The time limit left no time to test the last 4 classes for separability" in late.err
    whole = halfspace("separable", path, "--target", "label", "--max-time", "1e-6", "--out", tmp_path / "proof.json")
    assert "c5: " in whole.out
