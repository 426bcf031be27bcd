"""Large margins on sparse data: time to a certified suboptimality; and what over-relaxation buys."""

import halfspace as hs
from benchmarks.margins_setup import arrival_case
from benchmarks.problems import text_rows
from benchmarks.race import Case


def cases():
    for C in (0.1, 1.0, 10.0):
        for target in (1e-3, 1e-6):
            name = f"CSR 100k x 50k, 75 entries a row, C={C:g}, to {target:g}"
            yield arrival_case(name, text_rows(), C, target, 1.5, ("LinearSVC", "LIBLINEAR", "snapml x1", "snapml x2"))
    X, y = text_rows()
    yield Case(
        "over-relaxation, CSR 100k x 50k, C=10, to 1e-4: rate 1.5 against 1",
        {
            "rate 1.5": lambda: hs.AdaTron(C=10.0, rate=1.5).fit(X, y),
            "rate 1": lambda: hs.AdaTron(C=10.0, rate=1.0).fit(X, y),
            "rate 1.25": lambda: hs.AdaTron(C=10.0, rate=1.25).fit(X, y),
            "rate 1.75": lambda: hs.AdaTron(C=10.0, rate=1.75).fit(X, y),
        },
        1.0,
        repeats=2,
    )
