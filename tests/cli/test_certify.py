"""Claims about `halfspace certify`."""

import json
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import halfspace as hs

NO_SOLVER = """
import sys
from halfspace.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    code = end.code
strangers = [name for name in sys.modules if name.startswith(("halfspace.models", "halfspace.solvers", "halfspace.ladder"))]
sys.stderr.write(repr(strangers))
sys.exit(code)
"""


def test_no_solver_and_no_model_is_imported(model, table):
    """The process that checks a ladder's certificate has loaded no module of solvers, models or the ladder."""
    arguments = ["certify", str(model), str(table), "--json"]
    ran = subprocess.run(
        [sys.executable, "-c", NO_SOLVER, *arguments], capture_output=True, text=True, check=False, timeout=100
    )
    assert json.loads(ran.stdout)["holds"], ran
    assert (ran.returncode, ran.stderr) == (0, "[]")


def test_it_holds_for_the_file_it_was_fitted_to(halfspace, answer, model, table):
    """The claim is re-derived from the rows that the winner learnt from: all of them, after the refit."""
    body = answer("certify", model, table)
    assert body["n_checked"] == hs.load(model).learnt_.size == body["n_rows"]
    assert "It holds" in halfspace("certify", model, table).out


@pytest.mark.parametrize(
    "rung", ["majority", "neighbours", *(pytest.param(name, marks=pytest.mark.compiled) for name in ("adatron", "kernel"))]
)
def test_every_kind_of_winner_is_checked(answer, table, tmp_path, rung):
    """Whatever wins has a certificate in its file, which holds, and which other labels refute."""
    path = tmp_path / "m"
    assert answer("fit", table, "--target", "kept", "--rungs", rung, "--save", path)["winner"] == rung
    assert answer("certify", path, table)["holds"]
    assert not answer("certify", path, changed(table, tmp_path / "other.csv", flip_half), code=1)["holds"]


def changed(table, path, change):
    """Write the table with its lines changed."""
    lines = table.read_text().splitlines()
    change(lines)
    path.write_text("\n".join(lines) + "\n")
    return path


def flip_half(lines):
    lines[1:60] = [f"{line[:-3]}no" if line.endswith("yes") else f"{line[:-2]}yes" for line in lines[1:60]]


def move_values(lines):
    lines[1:] = ["9" + line.lstrip("-") for line in lines[1:]]


@pytest.mark.parametrize("change", [flip_half, move_values], ids=["labels", "values"])
def test_other_data_refute_it(halfspace, answer, model, table, tmp_path, change):
    """Other labels or values are found out: exit code 1, with reasons."""
    other = changed(table, tmp_path / "other.csv", change)
    assert answer("certify", model, other, code=1)["reasons"]
    told = halfspace("certify", model, other).out
    assert "Refuted by other.csv" in told
    assert "names rows by their number: if the file was sorted" in told


@pytest.mark.parametrize("change", [lambda lines: lines.pop(), lambda lines: lines.append(lines[-1])], ids=["fewer", "more"])
def test_another_number_of_rows_refutes_it(answer, model, table, tmp_path, change):
    """A file with a row less or more is not the file of the claim, and the sentence says so."""
    other = changed(table, tmp_path / "other.csv", change)
    n = len(other.read_text().splitlines()) - 1
    assert answer("certify", model, other, code=1)["reasons"] == [
        f"the file has {n} rows, but the claim is about a file of 120"
    ]


def test_unknown_labels_refute_it(answer, model, table, tmp_path):
    """Labels that the model has never seen are not its data."""
    other = changed(
        table, tmp_path / "other.csv", lambda lines: lines.__setitem__(slice(1, None), [f"{x}s" for x in lines[1:]])
    )
    assert answer("certify", model, other, code=1)["reasons"]


def test_the_target_may_be_called_otherwise(answer, model, table, tmp_path):
    """--target names the labels in a file whose column was renamed."""
    other = changed(table, tmp_path / "other.csv", lambda lines: lines.__setitem__(0, lines[0].replace("kept", "stays")))
    assert answer("certify", model, other, "--target", "stays")["holds"]
    assert "stays" in answer("certify", model, other, code=2)["error"]


def test_a_model_saved_from_python(answer, tmp_path):
    """The certificate of any saved model is checked against a table of numbers."""
    X, y = np.array([[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [3.0, 0.5]]), np.array(["a", "a", "b", "b"])
    hs.save(hs.Perceptron().fit(X, y), tmp_path / "m")
    table = tmp_path / "t.csv"
    table.write_text("u,v,label\n" + "".join(f"{u},{v},{label}\n" for (u, v), label in zip(X, y, strict=True)))
    assert answer("certify", tmp_path / "m", table, "--target", "label")["holds"]
    hs.Perceptron().fit(X, y).certificate_.to_json(tmp_path / "c.json")
    assert answer("certify", tmp_path / "c.json", table, "--target", "label")["holds"]
    table.write_text(table.read_text().replace("0.0,1.0,a", "5.0,-3.0,a"))
    assert not answer("certify", tmp_path / "m", table, "--target", "label", code=1)["holds"]


def negate_weights(ladder):
    ladder.estimator_._W = -ladder.estimator_._W


def stretch(ladder):
    ladder.encoder_.recipes_[0]["parts"][0]["spread"] *= 3.0


def swap_categories(ladder):
    values = ladder.encoder_.recipes_[2]["values"]
    values[:2] = values[1::-1]


def steepen(ladder):
    ladder.calibration_ = ladder.calibration_._replace(slopes=2.0 * ladder.calibration_.slopes)


def shift_threshold(ladder):
    ladder.operating_point_ = replace(ladder.operating_point_, weights=np.array([0.2, 0.8]))


CHANGES = {
    negate_weights: "weights",
    stretch: "encoder",
    swap_categories: "encoder",
    steepen: "probabilities",
    shift_threshold: "operating point",
}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_model_that_predicts_otherwise_is_refuted(answer, model, table, tmp_path, change):
    """Weights, encoder or probabilities that are not those of the proof are found out, though the file has a new checksum."""
    ladder, path = hs.load(model), tmp_path / "other.halfspace"
    change(ladder)
    hs.save(ladder, path)
    found = answer("certify", path, table, code=1)
    assert CHANGES[change] in " ".join(found["reasons"])


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"{}", "not a halfspace certificate"),
        (b"{", "not JSON"),
        (b'{"halfspace": "separability", "format": 1, "format": 1}', "'format' comes twice"),
        (b"[1]", "cannot be loaded"),
        (b"", "cannot be loaded"),
        (bytes(range(150, 250)), "cannot be loaded"),
    ],
    ids=["empty object", "half an object", "a name twice", "list", "empty", "noise"],
)
def test_what_is_no_model_is_one_sentence(halfspace, table, tmp_path, content, word):
    """Anything else in place of a model is refused."""
    path = tmp_path / "m"
    path.write_bytes(content)
    ran = halfspace("certify", path, table)
    assert ran.code == 2
    assert word in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_file_is_needed(halfspace, model, tmp_path):
    """Without FILE only models of the built-in data can be checked; a model must be there."""
    assert "name the FILE" in halfspace("certify", model).err
    assert "there is no file" in halfspace("certify", tmp_path / "none", model).err
