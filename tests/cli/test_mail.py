"""Claims about `halfspace mail`: what it learns, answers, and how it fails."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from halfspace.mail import one_shot

SPAM, HAM = "cheap pills, order now and win a prize", "the minutes of the meeting, see you at lunch"
SOURCES = Path(__file__).parents[2] / "src"


def mail(number, text):
    return f"From: a{number}@example.org\nSubject: message {number}\n\n{text} {number}\n".encode()


@pytest.fixture(scope="module")
def boxes(tmp_path_factory):
    """A folder of spam, an mbox of ham, and an index of both."""
    root = tmp_path_factory.mktemp("boxes")
    (root / "spam").mkdir()
    for number in range(20):
        (root / "spam" / str(number)).write_bytes(mail(number, SPAM))
        (root / f"ham{number}").write_bytes(mail(number, HAM))
    (root / "ham").write_bytes(
        b"".join(b"From a Mon Jan  1 00:00:00 2001\n" + mail(number, HAM) + b"\n" for number in range(20))
    )
    lines = [line for number in range(20) for line in (f"spam spam/{number}", f"ham ham{number}")]
    (root / "index").write_text("\n".join(lines) + "\n")
    return root


@pytest.fixture
def state(boxes, answer, tmp_path):
    """A trained state."""
    folder = tmp_path / "state"
    for label in ("spam", "ham"):
        body = answer("mail train", boxes / label, "--label", label, "--state", folder)
        assert (body["n_read"], body["n_new"]) == (20, 20)
    assert (body["n_ham"], body["n_spam"]) == (20, 20)
    return folder


@pytest.mark.parametrize(("text", "kind", "code"), [(SPAM, "spam", 10), (HAM, "ham", 0)])
def test_the_exit_code_is_the_answer(state, answer, halfspace, text, kind, code):
    """Spam exits with 10, ham with 0, and the object says the same."""
    message = mail(99, text)
    body = answer("mail score", "--state", state, code=code, stdin=message)
    assert body["answer"] == kind
    ran = halfspace("mail", "score", "--state", state, stdin=message)
    assert ran.out.startswith(f"{kind} score={body['score']:.4f} id={body['id']}")


def test_a_correction_teaches_and_is_taken_back(state, answer, halfspace):
    """Learning changes the counts, once for each message; --undo brings the counts back, and is refused the second time."""
    message = mail(99, SPAM)
    assert answer("mail learn", "--ham", "--state", state, stdin=message)["sentence"] == "learnt as ham"
    assert "already" in answer("mail learn", "--ham", "--state", state, stdin=message)["sentence"]
    assert answer("mail status", "--state", state)["n_ham"] == 21
    assert "taken back" in answer("mail learn", "--undo", "--state", state, stdin=message)["sentence"]
    ran = halfspace("mail", "learn", "--undo", "--state", state, stdin=message)
    assert ran.code == 75
    assert "never learnt" in ran.err
    assert "Promise (--ham-loss 0.01): not yet: 283 more ham needed." in halfspace("mail", "status", "--state", state).out


def test_reasons_are_given_in_words(state, answer, halfspace):
    """`explain` names words of the message, each way at most as many as asked for."""
    body = answer("mail explain", "--top", "5", "--state", state, stdin=mail(99, SPAM))
    assert body["answer"] == "spam"
    assert 0 < len(body["spam"]) <= 5
    assert all(one["share"] > 0 for one in body["spam"])
    assert "towards spam" in halfspace("mail", "explain", "--state", state, stdin=mail(99, SPAM)).out


def test_nothing_is_no_message(state, halfspace):
    """An empty standard input is a failure, neither ham nor spam."""
    ran = halfspace("mail", "score", "--state", state, stdin=b"")
    assert ran.code == 75
    assert "no message" in ran.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("score", "--state", "absent"), "there is no state in 'absent'"),
        (("score", "--nonsense"), "no such option: '--nonsense'"),
        (("score", "message"), "read from standard input (< FILE), not: 'message'"),
        (("score", "--state"), "--state needs a value"),
        (("score", "--ham-loss", "abc"), "takes a number such as 0.01, not 'abc'"),
        (("learn", "--undo", "--state", "absent"), "there is no state in 'absent'"),
        (("score", "--connect", "127.0.0.1:1"), "refused"),
        (("score", "--connect", "example.org:1"), "loopback"),
        (("learn", "--spam", "--ham"), "--spam, --ham, or --undo"),
        (("learn",), "--spam, --ham, or --undo"),
    ],
)
def test_failures_of_the_short_way_exit_with_75(monkeypatch, capsys, arguments, sentence):
    """A failure is one sentence and never the exit code of an answer."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Subject: x\n\n")))
    assert one_shot.run(arguments[0], list(arguments[1:])) == 75
    told = capsys.readouterr().err
    assert sentence in told
    assert len(told.splitlines()) == 1


@pytest.mark.parametrize("arguments", [["--header", "--json"], ["--header", "--nonsense"], ["--header", "--state", "absent"]])
def test_a_slip_in_a_delivery_script_loses_no_message(monkeypatch, capfdbinary, arguments):
    """With --header a message goes through, without a forged field, and with exit code 0, whatever was typed."""
    message = b"X-Halfspace: ham score=-9\nSubject: x\n\ny\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(message)))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out := io.BytesIO()))
    assert one_shot.run("score", arguments) == 0
    sys.stdout.flush()
    assert out.getvalue() == b"Subject: x\n\ny\n"
    assert capfdbinary.readouterr().out == b""


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("train", "absent", "--label", "spam"), "does not exist"),
        (("train", ".", "--label", "maybe"), "'maybe' is not one of"),
        (("status", "--state", "absent"), "there is no state"),
        (("explain", "--state", "absent"), "there is no state"),
        (("milter",), "--listen"),
        (("serve", "--listen", "0.0.0.0:80", "--state", "absent"), "loopback"),
        (("evaluate", "absent"), "there is no file"),
        (("evaluate", __file__, "--state", ".", "--rule", "perceptron"), "has its own rule, adatron"),
        (("certify", "--state", "absent"), "there is no state"),
    ],
)
def test_bad_input_is_refused(answer, tmp_path, monkeypatch, arguments, sentence):
    """Bad usage is one sentence with exit code 2."""
    monkeypatch.chdir(tmp_path)
    assert sentence in answer("mail", *arguments, code=2)["error"]


def test_a_replay_confirms_the_weights_or_refutes_them(state, answer):
    """`certify` learns the journal again; weights that were changed by hand are refuted, with exit code 1."""
    body = answer("mail certify", "--state", state)
    assert body["n_messages"] == 40
    assert [proof["kind"] for proof in body["proofs"] if proof["holds"]] == ["StreamMistakes", "DualityGap", "HamLoss"]
    with (state / "weights").open("r+b") as file:
        file.seek(4096 + 16 * 77)  # the first of the four numbers of a slot
        file.write(b"\1\2\3\4")
    assert answer("mail certify", "--state", state, code=1)["reasons"] == ["the weights differ from those of the replay"]


def test_a_stream_is_evaluated_by_scores_before_learning(boxes, state, answer, halfspace, tmp_path):
    """Scores in the file are those before learning, in order; a trained filter starts better and is not changed."""
    out, plot = tmp_path / "scores.csv", tmp_path / "roc.png"
    body = answer("mail evaluate", boxes / "index", "--scores", out, "--plot", plot)
    assert (body["ham"], body["spam"]) == (20, 20)
    rows = out.read_text().splitlines()
    assert rows[:2] == ["path,label,score", "spam/0,spam,0.0"]
    assert len(rows) == 41
    assert plot.read_bytes().startswith(b"\x89PNG")
    before = answer("mail status", "--state", state)
    assert answer("mail evaluate", boxes / "index", "--state", state)["roca"] == 0.0
    assert answer("mail status", "--state", state) == before
    assert "1-ROCA" in halfspace("mail", "evaluate", boxes / "index").out
    (boxes / "only").write_text("spam spam/1\n")
    assert "both classes" in answer("mail evaluate", boxes / "only", code=2)["error"]


def command(*arguments, stdin=b"", **environment):
    """Run the command in a new process."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), **environment}
    run = [sys.executable, "-m", "halfspace", "mail", *map(str, arguments)]
    return subprocess.run(run, input=stdin, capture_output=True, env=environment, check=False, timeout=100)


def test_a_delivery_imports_the_standard_library_alone(state):
    """A one-shot score loads neither NumPy nor Numba nor scikit-learn nor click, and answers."""
    code = (
        "import sys\nfrom halfspace.__main__ import main\n"
        f"sys.argv = ['halfspace', 'mail', 'score', '--header', '--state', {str(state)!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "heavy = {'numpy', 'numba', 'sklearn', 'scipy', 'click', 'rich', 'email', 'typing_extensions'}\n"
        "sys.stderr.write(repr(heavy & {*sys.modules}))"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    ran = subprocess.run(
        [sys.executable, "-c", code], input=mail(99, SPAM), capture_output=True, env=environment, check=False, timeout=100
    )
    assert ran.stderr == b"set()"
    assert ran.stdout.startswith(b"X-Halfspace: spam score=")
    assert b" top=" in ran.stdout


def test_a_delivery_never_fails(state):
    """With --header the message comes out whole and the exit code is 0, with a forged field gone, whatever is wrong."""
    message = mail(99, HAM)
    forged = b"X-Halfspace: ham\n" + message
    for wrong in (["--state", "absent"], ["--connect", "127.0.0.1:1"]):
        ran = command("score", "--header", *wrong, stdin=forged)
        assert (ran.returncode, ran.stdout) == (0, message)
        assert ran.stderr.startswith(b"halfspace: ")
    (state / "weights").write_bytes(b"")
    assert command("score", "--header", "--state", state, stdin=forged).stdout.endswith(message)


def test_a_delivery_gives_up(monkeypatch, capsysbinary):
    """What takes too long is given up, and the message goes through without an answer."""
    monkeypatch.setattr(one_shot, "PATIENCE", 0.05)
    monkeypatch.setattr(one_shot, "scored", lambda *_: [None for _ in iter(int, 1)])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Subject: x\n\ny")))
    assert one_shot.run("score", ["--header"]) == 0
    out, err = capsysbinary.readouterr()
    assert out == b"Subject: x\n\ny"
    assert b"gave up after 0.05 s" in err


def test_a_service_answers_the_command(state):
    """`mail serve` is found at the socket in the state directory; score and learn go to it, and it ends on SIGTERM."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    run = [sys.executable, "-m", "halfspace", "mail", "serve", "--state", state, "--json"]
    with subprocess.Popen(run, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as server:
        assert b"listening on" in server.stderr.readline()
        assert command("score", "--state", state, stdin=mail(99, SPAM)).returncode == 10
        assert command("learn", "--ham", "--state", state, stdin=mail(99, SPAM)).stdout == b"learnt as ham\n"
        assert b"never learnt" in command("learn", "--undo", "--state", state, stdin=mail(98, SPAM)).stderr
        server.terminate()
        out, _ = server.communicate(timeout=60)
    assert server.returncode == 0
    assert json.loads(out)["command"] == "mail serve"
    assert not (state / "socket").exists()
