"""How far a climb has come, on standard error: a live line in a terminal, a line per rung elsewhere."""

import sys
import time
from types import TracebackType
from typing import Any, Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from halfspace.cli.answers import clean

__all__ = ["Watch"]


class Watch:
    """A callback of `Ladder` that shows its progress.

    Parameters
    ----------
    max_time : float or None
        Seconds that were given, for the time left.
    stream : text file, optional
        Where to write; standard error by default.

    Examples
    --------
    >>> from halfspace.ladder import Progress
    >>> with Watch(None, sys.stdout) as watch:
    ...     watch(Progress("adatron", "linear AdaTron", 0, 5, 0.0, float("nan"), ""))
    ...     watch(Progress("adatron", "linear AdaTron", 5, 5, 1.25, 0.968, ""))
    linear AdaTron ...
    linear AdaTron: score 0.968 after 5 folds, 1.2 s in all
    """

    def __init__(self, max_time: float | None, stream: TextIO | None = None) -> None:
        self._max_time = max_time
        self._stream = stream or sys.stderr
        self._live: Live | None = None
        self._last: Any = None
        self._heard = 0.0

    def __enter__(self) -> Self:
        if self._stream.isatty():
            screen = Console(file=self._stream)
            self._live = Live(console=screen, transient=True, refresh_per_second=4, get_renderable=self._shown)
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Any) -> None:
        """Show a `Progress` of the ladder."""
        self._last, self._heard = progress, time.perf_counter()
        if self._live is not None:
            self._live.refresh()
        elif progress.fold == 0:
            self._say(f"{progress.title}: {clean(progress.message)}" if progress.message else f"{progress.title} ...")
        elif progress.fold == progress.folds:
            self._say(
                f"{progress.title}: score {progress.score:.3f} after {progress.folds} folds, {progress.seconds:.1f} s in all"
            )

    def _shown(self) -> Text:
        """Return the live line; its clock goes on between one piece of news and the next."""
        if self._last is None:
            return Text("preparing the rows")
        since = time.perf_counter() - self._heard
        return Text(self.line(self._last, since), overflow="ellipsis", no_wrap=True)

    def line(self, progress: Any, since: float = 0.0) -> str:
        """Return the live line, `since` seconds after the news: rung, fold, score so far, message, time, time left."""
        parts = [progress.title, f"fold {progress.fold}/{progress.folds}"]
        if progress.fold:
            parts.append(f"score {progress.score:.3f}")
        if progress.message:
            parts.append(clean(progress.message))
        spent = progress.seconds + since
        parts.append(f"{spent:.0f} s")
        if self._max_time is not None:
            parts.append(f"{max(0.0, self._max_time - spent):.0f} s left")
        return "  ".join(parts)

    def _say(self, line: str) -> None:
        """Write one line at once."""
        self._stream.write(line + "\n")
        self._stream.flush()
