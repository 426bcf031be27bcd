"""Fits of kernel machines to a certified gap of 1e-3, against SVC and scikit-learn-intelex in single precision."""

from benchmarks.kernel_setup import Problem, fit_case, means

PROBLEMS = [
    Problem("a9a", 10_000, 0.05, 1.0),
    Problem("ijcnn1", 20_000, 2.0, 32.0),
    Problem("mnist", 10_000, 0.02, 10.0),
    Problem("covtype", 10_000, 0.1, 10.0),
    Problem("letter", 15_000, 4.0, 16.0),
    Problem("usps", 7_291, 0.02, 10.0),
    Problem("w8a", 10_000, 0.05, 10.0),
    Problem("higgs_sample", 8_000, 0.03, 1.0),
    Problem("covtype", 10_000, 0.1, 1000.0),
    Problem("ijcnn1", 20_000, 2.0, 1000.0),
]


def cases():
    for problem in PROBLEMS:
        case = fit_case(problem, 1.0)
        if case is not None:
            yield case


def summary(results):
    """Return the geometric means against both peers."""
    return means(results, {"SVC": 10.0, "sklearnex": 3.0}, "fits")
