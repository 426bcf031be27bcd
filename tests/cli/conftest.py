"""The command run in this process, its JSON checked against the published schemas, and a small table to run it on."""

import json
from typing import NamedTuple

import numpy as np
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from halfspace.cli import main
from halfspace.cli.schemas import read

QUICK = ("--rungs", "majority,perceptron,adaline")


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


def run_command(*arguments, stdin=None):
    """Run the command in this process; no traceback may ever be seen."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin, prog_name="halfspace")
    assert "Traceback" not in result.stdout + result.stderr
    return Ran(result.exit_code, result.stdout, result.stderr)


def checked_object(ran, schema):
    """Return the JSON object on standard output, after a check against its schema."""
    body = json.loads(ran.out)
    Draft202012Validator(read(schema)).validate(body)
    return body


@pytest.fixture
def halfspace():
    """Run the command: `halfspace("fit", path)`."""
    return run_command


@pytest.fixture
def answer():
    """Run the command with --json; return its checked object."""

    def run(command, *arguments, code=0, schema=None, stdin=None):
        ran = run_command(*command.split(), *arguments, "--json", stdin=stdin)
        assert ran.code == code, ran
        return checked_object(ran, schema or ("error" if code == 2 else command.split()[0]))

    return run


def write_table(path, n=120, seed=0):
    """Write a table of mixed columns with two classes that overlap."""
    rng = np.random.default_rng(seed)
    size, age = rng.normal(size=n), rng.integers(18, 80, size=n)
    colour = rng.choice(["red", "blue", "green"], size=n)
    kept = size + (colour == "red") + 0.3 * rng.normal(size=n) > 0.3
    lines = ["size,age,colour,kept"]
    lines += [
        f"{s:.6f},{a if i % 17 else ''},{c},{'yes' if k else 'no'}"
        for i, (s, a, c, k) in enumerate(zip(size, age, colour, kept, strict=True))
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def table(tmp_path_factory):
    """A CSV file with the target `kept`."""
    return write_table(tmp_path_factory.mktemp("cli") / "table.csv")


@pytest.fixture(scope="session")
def model(table):
    """A model file fitted to `table` by the command."""
    path = table.with_name("model.halfspace")
    ran = run_command("fit", table, "--target", "kept", "--save", path, *QUICK)
    assert ran.code == 0, ran
    return path
