"""Kernel machines of many classes, one against one as SVC does it, on the publishers' own splits."""

from benchmarks.kernel_setup import Problem, fit_case


def cases():
    # Each problem with its bar against SVC, the largest test error, and how often ours runs.
    for problem, bar, most_error, repeats in (
        (Problem("letter", 16_000, 4.0, 16.0, multiclass=True), 2.0, None, 3),
        (Problem("usps", 7_291, 1 / 128, 10.0, multiclass=True), 2.0, None, 3),
        (Problem("mnist", 60_000, 0.02, 10.0, multiclass=True), 5.0, 0.015, 1),
    ):
        case = fit_case(
            problem,
            bar,
            repeats=repeats,
            seconds=1200.0,
            options={"multi_class": "ovo"},
            most_error=most_error,
            aside=("sklearnex",),
        )
        if case is not None:
            yield case
