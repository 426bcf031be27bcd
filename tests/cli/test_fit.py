"""Claims about `halfspace fit`."""

import contextlib
import io

import numpy as np
import pytest

import halfspace as hs
from halfspace.cli.ladders import Watch
from halfspace.ladder import Progress

QUICK = ("--rungs", "majority,perceptron,adaline")


def test_text_and_files(halfspace, table, tmp_path):
    """Ladder, verdict, separability, proof, the command that checks it, and where model and report went."""
    model, report = tmp_path / "m.halfspace", tmp_path / "r.html"
    ran = halfspace("fit", table, "--target", "kept", "--save", model, "--report", report, *QUICK)
    assert ran.code == 0
    parts = ["averaged perceptron", "wins", "separable", "Proof: ", f"halfspace certify {model} {table}", str(report)]
    assert all(part in ran.out for part in parts), ran.out
    assert "Adaline (least squares): score" in ran.err  # progress is not on standard output
    assert report.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert hs.load(model).origin_["target"] == "kept"


def test_json_is_the_whole_of_standard_output(answer, table):
    """The object validates, names every rung, and nothing is written unless asked for."""
    body = answer("fit", table, "--target", "kept", *QUICK)
    assert [rung["name"] for rung in body["rungs"]] == ["majority", "perceptron", "adaline"]
    assert body["model"] is body["report"] is body["recheck"] is None
    assert body["n_train"] + body["n_test"] == body["data"]["n_rows"] == 120


def test_every_rung_is_named_where_a_user_looks(halfspace):
    """`--rungs`, the help's text and the Ladder's docstring list all rungs, in the order in which they are climbed."""
    from halfspace.ladder.rungs import RUNGS

    page = " ".join(halfspace("fit", "--help").out.split())
    assert ",".join(RUNGS) in page.replace(" ", "")
    assert ", ".join(plan.title.split(" (")[0] for plan in RUNGS.values()) in page
    assert ", ".join(f'"{name}"' for name in RUNGS) in " ".join(hs.Ladder.__doc__.split())


def test_relevances_by_column_name(answer, halfspace, table, tmp_path):
    """Where a learnt metric wins, text, JSON and `inspect` name the columns it looks at."""
    model = tmp_path / "m.halfspace"
    body = answer("fit", table, "--target", "kept", "--rungs", "gmlvq", "--save", model)
    names = [part["column"] for part in body["relevances"]]
    assert set(names) <= set(table.read_text(encoding="utf-8").splitlines()[0].split(","))
    assert np.isclose(sum(part["share"] for part in body["relevances"]), 1.0)
    assert answer("inspect", model)["ladder"]["relevances"] == body["relevances"]
    assert f"The metric relies on {names[0]} (" in halfspace("inspect", model).out


def test_principal_components(answer, halfspace, table, tmp_path):
    """`fit --pca` keeps them in the model file, which `certify` confirms, `inspect` shows and `predict` applies."""
    model = tmp_path / "m.halfspace"
    body = answer("fit", table, "--target", "kept", "--rungs", "majority,perceptron", "--pca", "0.8", "--save", model)
    assert body["pca"]["share"] >= 0.8
    assert answer("certify", model, table)["holds"]
    assert answer("inspect", model)["ladder"]["pca"] == body["pca"]
    assert answer("inspect", model)["proof"]["kind"] == "PrincipalComponents"
    assert len(answer("predict", model, table)["predictions"]) == 120
    refused = halfspace("fit", table, "--target", "kept", "--pca", "1.5")
    assert refused.code == 2
    assert "neither a share of the variance" in refused.err


def test_no_file_is_the_demonstration(answer, tmp_path):
    """Without FILE the built-in data are fitted, and model and report are written here."""
    with contextlib.chdir(tmp_path):
        body = answer("fit", "--rungs", "majority,adaline", "--max-rows", "150")
        assert body["data"]["source"] == "breast_cancer"
        assert answer("certify", body["model"])["holds"]
    assert {path.name for path in tmp_path.iterdir()} == {"model.halfspace", "halfspace-report.html"}


def test_same_seed_same_model(halfspace, table, tmp_path):
    """Two runs with one seed predict the same, bit for bit."""
    outputs = []
    for name in ("a", "b"):
        assert halfspace("fit", table, "--target", "kept", "--save", tmp_path / name, "--seed", 3, *QUICK).code == 0
        outputs.append(hs.load(tmp_path / name).out_of_fold_)
    assert np.array_equal(*outputs)


def test_standard_input(answer, table):
    """`-` reads the table from standard input."""
    body = answer("fit", "-", "--target", "kept", "--rungs", "majority", stdin=table.read_bytes())
    assert body["data"]["source"] == "standard input"


@pytest.mark.parametrize("scale", ["standard", "rank", "none"])
def test_scale_is_kept_in_the_model(halfspace, table, tmp_path, scale):
    """The preprocessing asked for is the one in the model file."""
    path = tmp_path / "m"
    assert halfspace("fit", table, "--target", "kept", "--scale", scale, "--rungs", "majority", "--save", path).code == 0
    assert hs.load(path).encoder_.scale == scale


def test_a_sample_is_said_so(answer, table):
    """With --max-rows the number of rows used is told, and a note says it was a sample."""
    body = answer("fit", table, "--target", "kept", "--rungs", "majority", "--max-rows", 60)
    assert (body["data"]["n_used"], body["data"]["n_rows"]) == (60, 120)
    assert any("sample" in note for note in body["notes"])


def test_three_classes(answer, tmp_path):
    """More than two classes are asked one by one whether they are separable."""
    path = tmp_path / "iris.csv"
    target = answer("data make", "iris", "--out", path)["target"]
    body = answer("fit", path, "--target", target, "--rungs", "majority,adaline", "--test-size", 0)
    assert body["test"] is None
    assert [part["label"] for part in body["separability"]] == body["classes"]
    assert len(body["classes"]) == 3


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (("--rungs", "majority,sky"), "rungs"),
        (("--target", "keptt"), "kept"),
        (("--max-rows", "1"), "--max-rows"),
        (("--test-size", "1"), "--test-size"),
        (("--save", "nowhere/m"), "no folder"),
        (("--max-time", "0"), "--max-time"),
    ],
    ids=["rungs", "target", "max-rows", "test-size", "folder", "max-time"],
)
def test_bad_input_is_one_sentence(halfspace, table, options, word):
    """What cannot be used is named, before any work is done."""
    ran = halfspace("fit", table, *(("--target", "kept") if "--target" not in options else ()), *options)
    assert ran.code == 2
    assert word in ran.err.splitlines()[-1]


def test_the_input_is_never_overwritten(halfspace, table):
    """--save and --report refuse the name of the input."""
    before = table.read_bytes()
    for option in ("--save", "--report"):
        assert halfspace("fit", table, "--target", "kept", option, table).code == 2
    assert table.read_bytes() == before


def test_rungs_that_are_not_climbed_are_said_so():
    """Where there is no terminal, a skipped rung is one line with its reason."""
    page = io.StringIO()
    with Watch(None, page) as watch:
        watch(Progress("kernel", "kernel AdaTron", 0, 5, 0.0, float("nan"), "skipped: interrupted"))
    assert page.getvalue() == "kernel AdaTron: skipped: interrupted\n"


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self):
        self.text = ""

    def isatty(self):
        return True

    def write(self, text):
        self.text += text
        return len(text)

    def flush(self):
        """Nothing is kept back."""


def test_live_progress_shows_rung_fold_score_and_time_left():
    """In a terminal one live line tells how far the climb has come."""
    screen = Terminal()
    with Watch(60.0, screen) as watch:
        watch(Progress("adatron", "linear AdaTron", 0, 5, 0.0, float("nan"), ""))
        watch(Progress("adatron", "linear AdaTron", 2, 5, 12.0, 0.91, "gap 1e-3"))
        line = watch.line(Progress("adatron", "linear AdaTron", 2, 5, 12.0, 0.91, "gap 1e-3"))
    assert line == "linear AdaTron  fold 2/5  score 0.910  gap 1e-3  12 s  48 s left"
    assert "linear AdaTron" in screen.text
