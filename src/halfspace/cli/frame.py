"""The frame around every command: help that opens with an example, `--json`, exit codes, errors of one sentence.

A command is declared in `commands` and done by a function of a module that is imported when the command is run: so `--help` and
the shell's completion load neither Numba nor scikit-learn, and `certify` loads no solver. The function returns an `Answer`.
"""

import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NoReturn

import click
from click.shell_completion import get_completion_class

from halfspace._clock import until
from halfspace._text import plain

__all__ = ["Answer", "CommandLine", "WorkedCommand", "as_json", "clean", "completion", "notes", "refuse", "seconds_left"]

COMPLETE = "_HALFSPACE_COMPLETE"
"""Set by the shell when it asks for completions."""
TRACEBACK = "HALFSPACE_TRACEBACK"
"""Set this variable to see where a failure came from."""
EXTRAS = {"matplotlib": "plots", "onnx": "onnx", "fastexcel": "excel"}
"""Packages that other extras than `cli` bring."""
LEAST = 1e-3
"""Seconds that a command has left at least: less is as good as none."""
REFUTED, NO_ANSWER, INTERRUPTED, READER_LEFT = 1, 2, 130, 141


@dataclass(frozen=True)
class Answer:
    """The answer of a command.

    Parameters
    ----------
    body : dict
        The JSON object of `--json`.
    text : str
        The same for people; empty when the output itself was the answer.
    code : int, default 0
        Exit code.
    pieces : iterable of str, optional
        With `--json`: the text of the object in pieces, where it is too large to be held in memory.
    failure : str, default ""
        What went wrong after the answer was known, for standard error.
    """

    body: dict[str, Any]
    text: str = ""
    code: int = 0
    pieces: Iterable[str] = field(default=())
    failure: str = ""


def as_json(body: Mapping[str, Any]) -> str:
    """Return the object as JSON text."""
    return json.dumps(plain(body), allow_nan=False)


def clean(text: Any) -> str:
    r"""Return text from a file as one line that cannot steer the terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in str(text))


class _Called:
    """When the command at hand was called, on the clock of `time.perf_counter`."""

    at: float | None = None


def seconds_left(limit: float | None) -> float | None:
    """Return what is left of a time limit that counts from the call of the command on, and a little at least."""
    if limit is None or _Called.at is None:
        return limit
    return max(limit - (time.perf_counter() - _Called.at), LEAST)


def notes(sentences: Iterable[str]) -> None:
    """Print notes on standard error, each once."""
    for sentence in dict.fromkeys(sentences):
        click.echo(f"note: {clean(sentence)}", err=True)


class _Worked:
    """Help that opens with a worked example."""

    def __init__(self, *arguments: Any, example: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.example = example

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example, then click's help."""
        formatter.write("Example: " + self.example.replace("\n", "\n         ") + "\n")
        formatter.write_paragraph()
        super().format_help(ctx, formatter)  # type: ignore[misc]


class WorkedCommand(_Worked, click.Command):
    """A command whose help opens with a worked example, done by a function in a module of its own.

    Parameters
    ----------
    example : str
        What to type, one line each.
    runs : str, default ""
        Module in `halfspace.cli` and, after a dot, function that takes the options and returns an `Answer`; the function is
        `run` if none is named. It becomes the callback, imported when the options have been read.
    """

    def __init__(self, *arguments: Any, runs: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.runs = runs

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options, then import what the command runs."""
        rest = super().parse_args(ctx, args)
        if self.runs and not ctx.resilient_parsing:
            module, _, function = self.runs.partition(".")
            self.callback = getattr(import_module(f"halfspace.cli.{module}"), function or "run")
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, with its time limit as the deadline of what it reads."""
        limit = ctx.params.get("max_time")
        with until(None if limit is None or _Called.at is None else _Called.at + float(limit)):
            return super().invoke(ctx)


class CommandLine(_Worked, click.Group):
    """A group of commands with the exit codes of `halfspace.cli`."""

    command_class = WorkedCommand

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help, as bad usage, where no command is named."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(NO_ANSWER)
        return super().parse_args(ctx, args)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run the command line and leave with its exit code; every failure is one sentence."""
        _Called.at = time.perf_counter()
        given = list(sys.argv[1:] if args is None else args)
        wants_json = "--json" in given
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a terminal without ± or a name without a meaning is no reason to fail
                stream.reconfigure(errors="replace")
        try:
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("default")
                answer = super().main(given, prog_name, **{**extra, "standalone_mode": False})
            notes(str(warning.message) for warning in warned)
            code = _print(answer, wants_json=wants_json) if isinstance(answer, Answer) else int(answer or 0)
        except (BrokenPipeError, SystemExit):  # click leaves when the reader has left, with the code of a refuted claim
            if COMPLETE in os.environ:  # or when it has answered the shell
                raise
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would complain once more on leaving
            code = READER_LEFT
        except (KeyboardInterrupt, click.Abort):
            code = _fail("interrupted", wants_json=wants_json, code=INTERRUPTED)
        except Exception as error:  # noqa: BLE001  (whatever went wrong, the user gets a sentence)
            if os.environ.get(TRACEBACK):
                traceback.print_exception(error)
            code = _fail(_sentence(error), wants_json=wants_json, code=NO_ANSWER)
        finally:
            _Called.at = None
        sys.exit(code)


def completion(shell: str) -> Answer:
    """Answer with the script by which a shell completes the commands of the running command line."""
    kind = get_completion_class(shell)
    if kind is None:
        refuse(f"there is no completion for {shell!r}; there is for bash, zsh and fish")
    commands = click.get_current_context().find_root().command
    script = kind(commands, {}, "halfspace", COMPLETE).source()
    return Answer({"command": "completion", "shell": shell, "script": script}, script)


def _print(answer: Answer, *, wants_json: bool) -> int:
    """Print an answer; return its exit code."""
    if wants_json:
        for piece in answer.pieces or [as_json(answer.body)]:
            click.echo(piece, nl=False)
        click.echo()
    elif answer.text:
        click.echo(answer.text)
    if answer.failure:
        click.echo(f"halfspace: {clean(answer.failure)}", err=True)
    sys.stdout.flush()  # so that a full disk is noticed here, and not after the last line of ours
    return answer.code


def refuse(sentence: str) -> NoReturn:
    """End with a sentence about how the command was used."""
    raise click.UsageError(sentence)


def _fail(sentence: str, *, wants_json: bool, code: int) -> int:
    """Tell a failure on standard error, with `--json` on standard output as well."""
    sentence = clean(" ".join(sentence.split()))
    click.echo(f"halfspace: {sentence}", err=True)
    if wants_json:
        click.echo(as_json({"error": sentence, "code": code}))
    return code


def _sentence(error: Exception) -> str:
    """Say what went wrong: our own errors and the system's as they are, others with how to see more."""
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{error.format_message()} (try: {error.ctx.command_path} --help)"
    if isinstance(error, click.ClickException):
        return error.format_message()
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or 'writing'}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"out of memory ({error}); use fewer rows: --max-rows"
    if isinstance(error, ModuleNotFoundError):
        extra = EXTRAS.get((error.name or "").partition(".")[0], "cli")
        return f'the package {error.name} is missing; install it with: pip install "halfspace[{extra}]"'
    if isinstance(error, ImportError):
        return str(error)
    if type(error).__module__ == "halfspace.errors":
        return str(error)
    return f"unexpected {type(error).__name__}: {error}; set {TRACEBACK}=1 and run again to see where it came from"
