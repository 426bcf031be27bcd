"""The command `halfspace`: from a file to the simplest model that is good enough, with its proof.

Exit codes, the same for every command:

    0    it was done, and every claim that was checked holds
    1    a claim was refuted (`certify`)
    2    no answer: bad usage, bad input, a full disk, or a failure of the program itself
    130  interrupted (128 + the number of the signal, as shells have it; 141: the reader left): `fit` has printed and written
         the best it had found by then, if there was any

With `--json` standard output holds one JSON object and nothing else; `halfspace schema NAME` prints its schema. Everything
that is not the answer (progress, notes, errors) goes to standard error.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

__all__ = ["main"]


def _missing(*_: Any, **__: Any) -> NoReturn:
    """Say what the command needs."""
    sys.stderr.write('halfspace: the command needs click and rich; install them with: pip install "halfspace[cli]"\n')
    raise SystemExit(2)


main: Callable[..., Any] = (
    import_module("halfspace.cli.commands").main if find_spec("click") and find_spec("rich") else _missing
)
