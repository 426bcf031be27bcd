"""Large margins on published sparse data: time to a certified suboptimality, against LinearSVC and snapml."""

import math

from benchmarks.margins_setup import arrival_case
from benchmarks.problems import shared
from benchmarks.race import Result

REAL = {"a9a": 1, "w8a": 1, "sector": 1, "news20": 1}
"""The published sets and the class set against the rest."""


def cases():
    if shared("a9a") is None:
        print("a9a, w8a, sector, news20: left out, ../shared/data is not there")
        return
    for name, label in REAL.items():
        for C in (0.1, 1.0, 10.0):
            data = shared(name, one_class=label)
            yield arrival_case(f"{name} CSR, C={C:g}, to 1e-4", data, C, 1e-4, 0.9, ("LinearSVC", "snapml x2"), repeats=5)


def summary(results):
    """Return the geometric mean over the published sets."""
    real = [r for r in results if r.name.split()[0] in REAL]
    if not real:
        return []
    mean = math.exp(sum(math.log(r.ratio) for r in real) / len(real))
    return [
        Result(
            f"geometric mean of the {len(real)} published CSR cases",
            {"halfspace": 1.0, "fastest peer": mean},
            0.0,
            mean,
            1.5,
            at_most=False,
        )
    ]
