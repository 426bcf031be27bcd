"""Large margins on published dense data: time to a certified suboptimality, against LinearSVC."""

from benchmarks.margins_setup import arrival_case
from benchmarks.problems import shared


def cases():
    if shared("a9a") is None:
        print("ijcnn1, a9a: left out, ../shared/data is not there")
        return
    for name, bar in (("ijcnn1", 3.0), ("a9a", 1.2)):
        for C in (0.1, 1.0, 10.0):
            data = shared(name, one_class=1, form="dense")
            yield arrival_case(f"{name} dense, C={C:g}, to 1e-4", data, C, 1e-4, bar, ("LinearSVC",), repeats=9)
