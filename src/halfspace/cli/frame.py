"""The frame around every command: help that opens with an example, `--json`, exit codes, errors of one sentence.

A command is declared in `commands` and done in a module of its own, which is imported when it is run: so `--help` and the
shell's completion load neither Numba nor scikit-learn, and `certify` loads no solver.
"""

import os
import sys
import traceback
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, NoReturn

import click

from halfspace.cli.answers import Answer, as_json, clean, notes

__all__ = ["CommandLine", "WorkedCommand", "perform", "refuse"]

TRACEBACK = "HALFSPACE_TRACEBACK"
"""Set this variable to see where a failure came from."""
REFUTED, NO_ANSWER, INTERRUPTED, READER_LEFT = 1, 2, 130, 141


class _Worked:
    """Help that opens with a worked example."""

    def __init__(self, *arguments: Any, example: str = "", **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.example = example

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the example, then click's help."""
        _write_example(self.example, formatter)
        super().format_help(ctx, formatter)  # type: ignore[misc]


class WorkedCommand(_Worked, click.Command):
    """A command whose help opens with a worked example.

    Parameters
    ----------
    example : str
        What to type, one line each.

    Examples
    --------
    >>> command = WorkedCommand("fit", example="halfspace fit table.csv --target y")
    >>> print(command.get_help(click.Context(command)).splitlines()[0])
    Example: halfspace fit table.csv --target y
    """


class CommandLine(_Worked, click.Group):
    """A group of commands with the exit codes of `halfspace.cli`.

    Parameters
    ----------
    example : str
        What to type, one line each.

    Examples
    --------
    >>> group = CommandLine("halfspace", example="halfspace fit")
    >>> print(group.get_help(click.Context(group)).splitlines()[0])
    Example: halfspace fit
    """

    command_class = WorkedCommand

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Show the help, as bad usage, where no command is named."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(NO_ANSWER)
        return super().parse_args(ctx, args)

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run the command line and leave with its exit code."""
        given = list(sys.argv[1:] if args is None else args)
        extra["standalone_mode"] = False
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):  # a terminal without ± or a name without a meaning is no reason to fail
                stream.reconfigure(errors="replace")
        sys.exit(_guarded(lambda: super(CommandLine, self).main(given, prog_name, **extra), wants_json="--json" in given))


def perform(command: str, options: dict[str, Any], *, wants_json: bool) -> int:
    """Run a command's module and print its answer.

    Parameters
    ----------
    command : str
        Name of the module in `halfspace.cli`.
    options : dict
        What its function `run` takes.
    wants_json : bool
        Whether standard output is to hold one JSON object, instead of text.

    Returns
    -------
    int
        The exit code.

    Examples
    --------
    >>> perform("schemas", {"name": "error"}, wants_json=True)  # doctest: +ELLIPSIS
    {"$schema": ...}
    0
    """
    try:
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("default")
            answer: Answer = import_module(f"halfspace.cli.{command}").run(**options)
        notes(str(warning.message) for warning in warned)
        _print(answer, wants_json=wants_json)
    except BrokenPipeError:  # click would end with the code of a refuted claim
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # or Python would complain once more on leaving
        return READER_LEFT
    return answer.code


def _print(answer: Answer, *, wants_json: bool) -> None:
    """Print an answer."""
    if wants_json:
        for piece in answer.pieces or [as_json(answer.body)]:
            click.echo(piece, nl=False)
        click.echo()
    elif answer.text:
        click.echo(answer.text)
    if answer.failure:
        click.echo(f"halfspace: {clean(answer.failure)}", err=True)
    sys.stdout.flush()  # so that a full disk is met here, and not after the last line of ours


def refuse(sentence: str) -> NoReturn:
    """End with a sentence about how the command was used.

    Examples
    --------
    >>> refuse("there is no such file")
    Traceback (most recent call last):
        ...
    click.exceptions.UsageError: there is no such file
    """
    raise click.UsageError(sentence)


def _write_example(example: str, formatter: click.HelpFormatter) -> None:
    """Write an example of one line or several."""
    first, *others = example.splitlines()
    formatter.write(f"Example: {first}\n")
    for line in others:
        formatter.write(f"         {line}\n")
    formatter.write_paragraph()


def _guarded(run: Callable[[], Any], *, wants_json: bool) -> int:
    """Return the exit code of a run, with every failure told in one sentence."""
    try:
        return int(run() or 0)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", wants_json=wants_json, code=INTERRUPTED)
    except Exception as error:  # noqa: BLE001  (whatever went wrong, the user gets a sentence)
        if os.environ.get(TRACEBACK):
            traceback.print_exception(error)
        return _fail(_sentence(error), wants_json=wants_json, code=NO_ANSWER)


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
        return f'the package {error.name} is missing; install it with: pip install "halfspace[cli]"'
    if type(error).__module__ == "halfspace.errors":
        return str(error)
    return f"unexpected {type(error).__name__}: {error}; set {TRACEBACK}=1 and run again to see where it came from"
