"""Claims about what happens when things go wrong: Ctrl-C, full disks, hostile files, files larger than memory should hold."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import halfspace as hs

FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
QUICK = ("--rungs", "majority,perceptron,adaline")


START = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a runner in the background hands on that Ctrl-C is ignored
from halfspace.cli import main
main()
"""


@contextmanager
def child(*arguments, **options):
    """Start the command in a process of its own, in which Ctrl-C works; one that has not ended is killed."""
    command = [sys.executable, "-c", START, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) as process:
        try:
            yield process
        finally:
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
            process.kill()


@pytest.mark.compiled
def test_ctrl_c_leaves_the_best_so_far_and_its_report(tmp_path, answer):
    """SIGINT in the middle of the second rung: exit code 130, a model that predicts, its report, and an honest outcome."""
    table, model, report = tmp_path / "t.csv", tmp_path / "m.halfspace", tmp_path / "r.html"
    answer("data make", "checkerboard", "--n", 8000, "--out", table)
    options = ("--target", "label", "--rungs", "majority,kernel", "--save", model, "--report", report, "--json")
    with child("fit", table, *options) as process:
        for line in process.stderr:
            if line.startswith("kernel"):
                break
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    body = json.loads(out)
    assert (body["outcome"]["reason"], body["winner"]) == ("interrupted", "majority")
    assert hs.load(model).predict(pa.table({"x0": [0.5], "x1": [0.5]})).shape == (1,)
    assert report.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert answer("certify", model, table)["holds"]


@pytest.mark.compiled
def test_ctrl_c_before_any_result_is_130(tmp_path):
    """SIGINT while there is nothing yet: one sentence, exit code 130, nothing written."""
    fifo, model = tmp_path / "fifo", tmp_path / "m"
    os.mkfifo(fifo)
    with child("fit", fifo, "--target", "label", "--save", model) as process, fifo.open("w"):  # it has begun to read
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip() == "halfspace: interrupted"
    assert not model.exists()


@FULL
@pytest.mark.parametrize(
    "arguments",
    [("predict", "MODEL", "TABLE"), ("separable", "TABLE", "--target", "kept"), ("data", "make", "iris")],
    ids=["predict", "separable", "data"],
)
def test_a_full_disk_is_one_sentence(halfspace, model, table, arguments, tmp_path):
    """Writing to a full device ends with the system's word for it, and the device stays one."""
    full = tmp_path / "full.csv"
    full.symlink_to("/dev/full")
    places = {"MODEL": model, "TABLE": table}
    ran = halfspace(*(places.get(word, word) for word in arguments), "--out", full)
    assert ran.code == 2
    assert "No space left on device" in ran.err.splitlines()[-1]
    assert Path("/dev/full").is_char_device()


@FULL
@pytest.mark.parametrize("option", ["--save", "--report"])
def test_models_and_reports_do_not_replace_devices(halfspace, table, option):
    """What is renamed into place refuses a device before the work begins."""
    ran = halfspace("fit", table, "--target", "kept", option, "/dev/full", *QUICK)
    assert ran.code == 2
    assert "is a device" in ran.err
    assert Path("/dev/full").is_char_device()


def no_space(*_):
    raise OSError(28, "No space left on device")


def test_a_disk_that_fills_up_does_not_take_the_result(halfspace, table, tmp_path, monkeypatch):
    """If model and report cannot be written, the table is shown all the same, old files stay, and the exit code is 2."""
    model, report = tmp_path / "m", tmp_path / "r.html"
    model.write_text("old")
    monkeypatch.setattr(os, "fsync", no_space)
    ran = halfspace("fit", table, "--target", "kept", "--save", model, "--report", report, *QUICK)
    assert ran.code == 2
    assert "wins" in ran.out
    assert not any(line.startswith(("Model:", "Report:", "Check it:", "Add --save")) for line in ran.out.splitlines())
    assert ran.err.splitlines()[-1].count("No space left on device") == 2
    assert model.read_text() == "old"
    assert list(tmp_path.iterdir()) == [model]


@FULL
def test_standard_output_may_be_full(model, table):
    """`halfspace predict ... > /dev/full` says so."""
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "halfspace", "predict", model, table]
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=100)
    assert ran.returncode == 2
    assert "No space left on device" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_reader_that_leaves_is_no_error(model, table, tmp_path):
    """`halfspace predict ... | head -1` ends silently, with the code shells give to a closed pipe."""
    long = tmp_path / "long.csv"
    lines = table.read_text().splitlines()
    long.write_text("\n".join([lines[0], *(lines[1:] * 300)]) + "\n")
    with child("predict", model, long) as process:
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
    assert (process.returncode, err) == (141, "")


def rows(*lines):
    """Bytes of a CSV file with thirty rows, the given ones last."""
    usual = [f"{i % 7},{'ab'[i % 2]},{'yn'[i % 3 == 0]}" for i in range(30)]
    return "\n".join(["size,kind,label", *usual, *lines]).encode() + b"\n"


HOSTILE = {
    "ragged": (rows("1,a,y", "1,a", "2,b,n"), "33"),
    "binary": (bytes(range(256)) * 40, "binary"),
    "one class": (b"size,label\n1,y\n2,y\n3,y\n", "one class"),
    "an id as target": (b"size,label\n" + b"".join(b"%d,r%d\n" % (i % 5, i) for i in range(60)), "id"),
    "columns of nothing": (b"size,kind,label\n" + b",,y\n,,n\n" * 20, "no usable column"),
    "empty": (b"", "empty"),
    "header only": (b"size,label\n", "no rows"),
    "no such target": (rows().replace(b"label", b"labels"), "labels"),
    "UTF-16 without a mark": ("size,label\n1,y\n2,n\n".encode("utf-16-le") * 9, "binary"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_one_sentence(halfspace, answer, tmp_path, name):
    """One sentence on standard error that says what is wrong, exit code 2, no traceback; with --json the same sentence."""
    content, word = HOSTILE[name]
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    ran = halfspace("fit", path, "--target", "label", *QUICK)
    assert ran.code == 2
    last = ran.err.splitlines()[-1]
    assert word in last, last
    assert "unexpected" not in last
    assert all(line.startswith("note: ") for line in ran.err.splitlines()[:-1])
    assert answer("fit", path, "--target", "label", code=2)["error"] in last


def test_another_encoding_is_read_with_a_note(answer, tmp_path):
    """Text that is not UTF-8 is read as Windows-1252, and a note says so."""
    path = tmp_path / "t.csv"
    path.write_bytes(rows().replace(b"kind", "Größe".encode("cp1252")))
    assert any("1252" in note for note in answer("fit", path, "--target", "label", "--rungs", "majority")["notes"])


MEASURED = """
import sys
import pyarrow as pa
from halfspace.cli import main
for arguments in sys.argv[1].splitlines():
    try:
        main(arguments.split())
    except SystemExit as end:
        assert end.code == 0, end
    print("peak", pa.default_memory_pool().max_memory() >> 20)
"""


def peaks(*commands):
    """Run commands one after the other in one process; return the most MB its tables took, up to the end of each.

    Counted is what pyarrow holds, so every table. What the process gets from the system levels off at some 300 MB more than it
    needs, with pyarrow's reading ahead, and only beyond the sizes of a test: benchmarks/big_csv.py measures it.
    """
    lines = "\n".join(" ".join(map(str, arguments)) for arguments in commands)
    ran = subprocess.run([sys.executable, "-c", MEASURED, lines], capture_output=True, text=True, check=True, timeout=300)
    return [int(line.split()[1]) for line in ran.stdout.splitlines() if line.startswith("peak")]


@pytest.mark.compiled
def test_a_large_file_is_fitted_and_predicted_in_bounded_memory(tmp_path):
    """Memory does not grow with the file: 35 MB more of CSV take less than 20 MB more, to fit a sample and to predict."""
    X = np.random.default_rng(0).normal(size=(5_000, 20))
    block = "".join(",".join(f"{v:.6f}" for v in row) + (",yes\n" if row[0] > row[1] else ",no\n") for row in X).encode()
    head = ",".join([*(f"x{j}" for j in range(20)), "label"]).encode() + b"\n"
    small, large, model, out = (tmp_path / name for name in ("small.csv", "large.csv", "m", "p.csv"))
    small.write_bytes(head + block * 20)  # more than a batch
    large.write_bytes(head + block * 55)
    fit = ("--target", "label", "--rungs", "majority,perceptron", "--max-rows", 5000, "--save", model)
    commands = [(("fit", file, *fit), ("predict", model, file, "--out", out)) for file in (small, large)]
    _, before, fitted, predicted = peaks(*commands[0], *commands[1])
    assert max(fitted, predicted) - before < 20
    assert out.read_bytes().count(b"\n") == 275_001
