"""Large margins on dense data: time to a certified suboptimality, against every solver of the same problem."""

from benchmarks.margins_setup import arrival_case
from benchmarks.problems import dense, shared

ALL = ("LinearSVC", "LIBLINEAR", "snapml x1", "snapml x2", "SGD")


def cases():
    for C in (0.1, 1.0, 10.0):
        case = arrival_case(f"dense 100k x 100, 5 % noise, C={C:g}, to 1e-6", dense(100_000, 100), C, 1e-6, 10.0, ALL)
        case.limit = 0.4
        yield case
    yield arrival_case("dense 500k x 50, C=1, to 1e-4", dense(500_000, 50), 1.0, 1e-4, 20.0, ALL)
    covtype = shared("covtype", one_class=2, form="standardised")
    if covtype is None:
        print("covtype: left out, ../shared/data is not there")
        return
    yield arrival_case("covtype 581k x 54, class 2 against the rest, C=1, to 1e-4", covtype, 1.0, 1e-4, 10.0, ALL)
