"""Claims about the frame of the command: help, exit codes, errors, schemas, completion, start-up."""

import json
import os
import subprocess
import sys
import threading

import click
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import halfspace as package
from halfspace.cli import frame, main
from halfspace.cli.schemas import names, read

COMMANDS = [
    "fit",
    "predict",
    "separable",
    "certify",
    "inspect",
    "schema",
    "completion",
    "data",
    "data list",
    "data show",
    "data make",
    "mail",
    *(f"mail {name}" for name in ("train", "score", "learn", "explain", "status", "evaluate", "certify", "serve", "milter")),
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_opens_with_a_worked_example(halfspace, command):
    """The first line of every help is something to type, and --json is offered."""
    ran = halfspace(*command.split(), "--help")
    assert ran.code == 0
    assert ran.out.startswith("Example: ")
    assert "halfspace " + command.split()[0] in ran.out.splitlines()[0]
    assert ("--json" in ran.out) == (command not in {"data", "mail"})


def test_every_command_is_named_in_the_help(halfspace):
    """The help of the whole lists all commands and the exit codes."""
    out = halfspace("--help").out
    assert all(f"  {name} " in out for name in main.commands)
    assert "Exit codes" in out


def test_version(halfspace):
    """--version prints the version of the package."""
    assert package.__version__ in halfspace("--version").out


def fresh(code, **environment):
    """Run Python code in a new process."""
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
        timeout=100,
    )


def test_help_loads_nothing_heavy():
    """`halfspace fit --help` imports neither Numba nor scikit-learn nor NumPy nor pyarrow."""
    code = (
        "import sys\nfrom halfspace.cli import main\n"
        "try:\n    main(['fit', '--help'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "print([name for name in ('numba', 'sklearn', 'numpy', 'pyarrow') if name in sys.modules])"
    )
    assert fresh(code).stdout.splitlines()[-1] == "[]"


def test_without_click_one_sentence_names_the_extra():
    """Where click is not installed the command says what to install, with exit code 2."""
    code = (
        "import sys, importlib.util as util\nfind = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'click' else find(name, *rest)\n"
        "from halfspace.cli import main\nmain()"
    )
    ran = fresh(code)
    assert ran.returncode == 2
    assert "halfspace[cli]" in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("fot",),
        ("fit", "--nonsense"),
        ("predict",),
        ("fit", "x.csv", "--kernel", "none"),
        ("data", "dig"),
        ("schema", "nothing"),
    ],
    ids=["command", "option", "argument", "choice", "subcommand", "schema"],
)
def test_bad_usage_is_one_sentence_and_code_2(halfspace, answer, arguments):
    """Bad usage ends with one line on standard error, and with --json in an object as well."""
    ran = halfspace(*arguments)
    assert ran.code == 2
    assert ran.out == ""
    assert len(ran.err.splitlines()) == 1
    assert "--help" in ran.err
    assert answer(arguments[0], *arguments[1:], code=2)["error"] in ran.err


@pytest.mark.parametrize("arguments", [(), ("data",)], ids=["none", "data"])
def test_no_command_shows_the_help(halfspace, arguments):
    """Without a command the help is shown, as bad usage."""
    ran = halfspace(*arguments)
    assert ran.code == 2
    assert ran.err.startswith("Example: ")


def failing(error):
    """A command line with one command that fails."""
    group = frame.CommandLine("halfspace", example="halfspace fail")

    @group.command(example="halfspace fail")
    @click.option("--json", is_flag=True)
    def fail(json):  # noqa: ARG001  (click passes it)
        raise error

    return group


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (RuntimeError("no luck"), 2, "unexpected RuntimeError: no luck; set HALFSPACE_TRACEBACK=1"),
        (OSError(28, "No space left on device", "a.csv"), 2, "a.csv: No space left on device"),
        (MemoryError("4 GB"), 2, "--max-rows"),
        (
            ModuleNotFoundError("no", name="pyarrow"),
            2,
            'the package pyarrow is missing; install it with: pip install "halfspace[cli]"',
        ),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
    ids=["bug", "disk", "memory", "package", "ctrl-c"],
)
def test_failures_are_sentences(error, code, sentence):
    """Any failure is one sentence with its exit code, never that of a refuted claim."""
    ran = CliRunner().invoke(failing(error), ["fail", "--json"])
    assert ran.exit_code == code
    assert sentence in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    Draft202012Validator(read("error")).validate(json.loads(ran.stdout))


def test_the_traceback_is_there_for_the_asking(monkeypatch):
    """HALFSPACE_TRACEBACK=1 shows where a failure came from."""
    monkeypatch.setenv("HALFSPACE_TRACEBACK", "1")
    assert "Traceback" in CliRunner().invoke(failing(RuntimeError("no luck")), ["fail"]).stderr


def test_control_characters_do_not_reach_the_terminal(halfspace):
    """What a file or a name brings cannot steer the terminal."""
    assert "\x1b" not in halfspace("fit", "no\x1b[2Jfile.csv", "--target", "y").err


@pytest.mark.parametrize("name", names())
def test_schemas_are_schemas(halfspace, name):
    """Every published schema is valid by its draft, and `halfspace schema` prints it."""
    Draft202012Validator.check_schema(read(name))
    assert json.loads(halfspace("schema", name).out) == read(name) == json.loads(halfspace("schema", name, "--json").out)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_completion_scripts(answer, shell):
    """The script calls the command back."""
    assert "_HALFSPACE_COMPLETE" in answer("completion", shell)["script"]


def test_completion_completes():
    """The shell's question for commands that begin with `sep` is answered."""
    ran = fresh(
        "from halfspace.cli import main\nmain(prog_name='halfspace')",
        _HALFSPACE_COMPLETE="bash_complete",
        COMP_WORDS="halfspace sep",
        COMP_CWORD="1",
    )
    assert ran.stdout.strip() == "plain,separable"


def test_a_terminal_without_our_letters_is_no_failure():
    """Where standard error is Latin-1, other letters are replaced."""
    ran = fresh("from halfspace.cli import main\nmain(['schema', 'κ*'])", PYTHONIOENCODING="latin-1")
    assert ran.returncode == 2
    assert "'?*' is not one of" in ran.stderr


@pytest.mark.parametrize("command", ["fit", "predict", "separable", "certify", "inspect"])
def test_a_missing_file_is_said_before_anything_is_imported(command):
    """A file that is not there costs no import of NumPy, scikit-learn or Numba."""
    code = (
        "import sys; from halfspace.cli import main\n"
        f"try: main([{command!r}, 'no such file', 'nor this'][: 2 + ({command!r} in ('predict', 'certify'))])\n"
        "except SystemExit as end: print(end.code, [m for m in ('numpy', 'sklearn', 'numba') if m in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "2 []"
    assert ran.stderr == "halfspace: there is no file 'no such file'; check the name and the directory.\n"


def test_a_model_may_come_through_a_pipe(answer, model, table, tmp_path):
    """`inspect` and `certify` read a model file from a pipe."""
    for command in (("inspect",), ("certify", table)):
        pipe = tmp_path / command[0]
        os.mkfifo(pipe)
        writer = threading.Thread(target=lambda pipe=pipe: pipe.write_bytes(model.read_bytes()), daemon=True)
        writer.start()
        found = answer(command[0], pipe, *command[1:])
        writer.join()
        assert found.get("n_bytes", model.stat().st_size) == model.stat().st_size


def test_a_pipe_is_not_named_for_a_later_check(answer, table, tmp_path):
    """The command that checks again is offered for files only: a pipe would be empty by then."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(table.read_bytes()), daemon=True)
    writer.start()
    assert answer("fit", pipe, "--target", "kept", "--rungs", "majority", "--save", tmp_path / "m")["recheck"] is None
    writer.join()


def test_a_time_limit_counts_from_the_call_of_the_command(monkeypatch):
    """What importing and reading took is taken off; a little is always left, and outside of a command the limit is whole."""
    assert frame.seconds_left(5.0) == 5.0
    monkeypatch.setattr(frame._Called, "at", frame.time.perf_counter() - 3.0)
    assert frame.seconds_left(None) is None
    assert 1.5 < frame.seconds_left(5.0) <= 2.0
    assert frame.seconds_left(1.0) == 1e-3
