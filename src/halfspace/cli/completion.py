"""`halfspace completion`: click's completion scripts."""

import click
from click.shell_completion import get_completion_class

from halfspace.cli.answers import Answer
from halfspace.cli.frame import refuse

__all__ = ["run"]


def run(shell: str, commands: click.Command) -> Answer:
    """Answer with the script for one shell.

    Examples
    --------
    >>> "_HALFSPACE_COMPLETE" in run("zsh", click.Command("halfspace")).text
    True
    """
    kind = get_completion_class(shell)
    if kind is None:
        refuse(f"there is no completion for {shell!r}; there is for bash, zsh and fish")
    script = kind(commands, {}, "halfspace", "_HALFSPACE_COMPLETE").source()
    return Answer({"command": "completion", "shell": shell, "script": script}, script)
