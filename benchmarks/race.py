"""The race track: what a case is, how times are taken, and how they are shown.

A case names its contestants as functions of no arguments; the first one is ours. Every contestant runs once to warm up (the
time of our first call is reported apart, as it may compile), then all run in turn, `repeats` times, and the best time counts:
on a noisy machine the best of interleaved runs is the fairest figure, and only ratios within one run mean anything.
"""

import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Case", "Result", "remembered", "run"]


@dataclass
class Case:
    """Contestants on the same work, the bar to clear, and a check that the work was done equally well."""

    name: str
    contestants: dict[str, Callable[[], Any]]  # ours first
    bar: float  # least (or, with `at_most`, largest) ratio
    at_most: bool = False  # the bar limits our time over the peer's, instead of the peer's over ours
    check: Callable[[dict[str, Any]], str] = lambda _: ""  # results -> a remark on quality; raises if ours is worse
    repeats: int = 5  # 0: the warm-up counts, of contestants that return their own time
    cold: bool = False  # contestants return their own time: the clock is in another process
    known: dict[str, float] = field(default_factory=dict)  # times of peers too slow to run again, measured in this run
    limit: float | None = None  # time limit in seconds for ours, whatever the ratio


@dataclass
class Result:
    """What a race showed."""

    name: str
    seconds: dict[str, float]
    first_call: float
    ratio: float
    bar: float
    at_most: bool
    remark: str = ""
    late: bool = False  # over the limit of seconds

    @property
    def cleared(self) -> bool:
        """Whether the bar was cleared."""
        return not self.late and (self.ratio <= self.bar if self.at_most else self.ratio >= self.bar)


def run(case: Case) -> Result:
    """Run a case: warm up, then interleave."""
    outputs, first = {}, 0.0
    for position, (name, contestant) in enumerate(case.contestants.items()):
        begin = time.perf_counter()
        outputs[name] = contestant()
        if position == 0:
            first = time.perf_counter() - begin
    best = dict.fromkeys(case.contestants, float("inf")) if case.repeats else dict(outputs)
    for _ in range(case.repeats):
        for name, contestant in case.contestants.items():
            begin = time.perf_counter()
            output = contestant()
            taken = output if case.cold else time.perf_counter() - begin
            best[name] = min(best[name], taken)
    best.update(case.known)
    ours, *peers = best
    fastest = min(best[peer] for peer in peers)
    ratio = best[ours] / fastest if case.at_most else fastest / best[ours]
    remark = case.check(outputs)
    late = case.limit is not None and best[ours] > case.limit
    return Result(case.name, best, first, ratio, case.bar, case.at_most, remark, late=late)


def remembered(name: str, measure: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], str]:
    """Return what peers that take very long reached, and a remark: measured now, or in an earlier run.

    With HALFSPACE_PEERS=folder it is kept in that folder, so that ours alone runs again; without it all is measured in one go.
    """
    folder = os.environ.get("HALFSPACE_PEERS")
    path = Path(folder or ".") / f"{name}.json"
    if folder and path.exists():
        return json.loads(path.read_text(encoding="utf-8")), "peers of an earlier run"
    found = measure()
    if folder:
        path.write_text(json.dumps(found), encoding="utf-8")
    return found, ""
