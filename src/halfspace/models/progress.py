"""Progress of a fit: lines for `verbose`, and scikit-learn's callbacks (`set_callbacks`, scikit-learn 1.9)."""

import sys
import time
from collections.abc import Callable
from typing import Any

from halfspace.solvers.run import Progress

__all__ = ["Reporter"]

EVERY = 0.5
"""Seconds between two printed lines."""


class Reporter:
    """Called after every epoch; tells whoever listens, and returns whether a callback asks to stop."""

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        attributes: Callable[[], dict[str, Any]],
        epochs: int,
        text: Callable[[Progress], str] = lambda at: f"round {at.round}, {at.seconds:.1f} s",
    ) -> None:
        self.estimator, self.X, self.y, self.attributes, self.epochs, self.text = estimator, X, y, attributes, epochs, text
        self.printed = time.perf_counter()
        self.known: dict[int, Callable[[], Any]] = {}
        """What pieces of work know by now, by their number, for `attributes`."""
        self.root: Any = None
        self.epoch: Any = None
        if getattr(estimator, "_skl_callbacks", None):
            self.root = estimator._init_callback_context(max_subtasks=epochs)  # noqa: SLF001  (public contract)
            self.root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
            self.epoch = self._next_epoch()

    def _next_epoch(self) -> Any:
        """Open the task of the coming epoch."""
        context = self.root.subcontext(task_name="epoch")
        return context.call_on_fit_task_begin(estimator=self.estimator, X=self.X, y=self.y)

    @property
    def watch(self) -> Callable[[Progress], bool] | None:
        """What the driver is to call after every round; None if nobody listens."""
        return self if self.estimator.verbose or self.root is not None else None

    def __call__(self, at: Progress) -> bool:
        """Report the end of a round."""
        return self.tell(self.text(at), last=at.round >= self.epochs)

    def tell(self, text: str, *, last: bool = False) -> bool:
        """Report the end of a piece of work in a sentence; return whether a callback asks to stop."""
        now = time.perf_counter()
        if self.estimator.verbose and (now - self.printed >= EVERY or self.estimator.verbose > 1):
            self.printed = now
            self.line(text)
        if self.root is None:
            return False
        stop = self.epoch.call_on_fit_task_end(
            estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes=self.attributes
        )
        self.epoch = None if last else self._next_epoch()
        return bool(stop)

    def line(self, text: str) -> None:
        """Print a line about this fit."""
        if self.estimator.verbose:
            sys.stderr.write(f"[{type(self.estimator).__name__}] {text}\n")

    def close(self) -> None:
        """End the open tasks."""
        if self.root is not None:
            if self.epoch is not None:
                self.epoch.call_on_fit_task_end(estimator=self.estimator)
            self.root.call_on_fit_task_end(
                estimator=self.estimator, X=self.X, y=self.y, reconstruction_attributes=self.attributes
            )
