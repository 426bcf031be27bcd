"""Time limits: which estimators, questions and commands keep `max_time` within 10 % + 0.5 s, on several shapes.

`python -m benchmarks.time_limits [--cpu] [--limits 0.2 1 3] [--shapes ...] [--no-proofs] [name ...]` prints a line per fit:
the limit, wall and CPU seconds, whether the limit was kept, and whether the model's proof holds (`model.verify`). The process
is bound to one core. With `--cpu` the library counts the CPU time of the process, so that others on a busy machine do
not count; without it all is wall time, for a quiet machine. What breaks its limit is done once more, in case that it was
compiled the first time: limits hold with a warm cache.
"""

import argparse
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

SHAPES = ("dense", "sparse", "classes", "many")
LIMITS = (0.2, 1.0, 3.0)
PATIENCE = 120.0
"""CPU seconds after which a call is ended."""
COMMAND = "import time; time.perf_counter = time.{clock}; from halfspace.cli import main; main()"


def allowed(limit):
    """Return the seconds that a call with this limit may take."""
    return 1.1 * limit + 0.5


def problem(shape):
    """Return rows, two or more classes that no plane separates, and a number to predict."""
    import numpy as np
    from scipy import sparse

    rng = np.random.default_rng(0)
    n, d = {"dense": (20_000, 20), "sparse": (2_000, 8_000), "classes": (6_000, 20), "many": (200_000, 20)}[shape]
    dense = shape != "sparse"
    X = rng.standard_normal((n, d)) if dense else sparse.random(n, d, 0.005, format="csr", random_state=rng)
    target = X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n)
    y = np.arange(n) % 300 if shape == "classes" else (target > np.median(target)).astype(int)
    return X, y, target


def fits():
    """Return by name what makes an estimator with a time limit: all public ones, and settings that go other ways."""
    import inspect

    import numpy as np

    import halfspace as hs

    kinds = {name: getattr(hs, name) for name in hs.__all__}
    kinds = {name: kind for name, kind in kinds.items() if inspect.isclass(kind) and hasattr(kind, "fit")}
    found = {name: kind for name, kind in kinds.items() if "max_time" in kind().get_params()}
    more = {
        "KernelAdaTron hard": lambda: hs.KernelAdaTron(C=np.inf),
        "KernelAdaTron free": lambda: hs.KernelAdaTron(C=100.0, intercept="free"),
        "KernelAdaTron linear": lambda: hs.KernelAdaTron("linear"),
        "KernelAdaTron sweep": lambda: hs.KernelAdaTron(solver="sweep"),
        "KernelAdaTron cells": lambda: hs.KernelAdaTron(n_cells=20),
        "KernelPerceptron voted": lambda: hs.KernelPerceptron(variant="voted"),
        "KernelPerceptron budget": lambda: hs.KernelPerceptron(budget=200),
        "AdaTron hard": lambda: hs.AdaTron(C=np.inf),
        "AdaTron sweep": lambda: hs.AdaTron(solver="sweep", tol=1e-9),
        "GLVQ online": lambda: hs.GLVQ(optimizer="online", n_prototypes=5),
        "GMLVQ online": lambda: hs.GMLVQ(optimizer="online", n_prototypes=2),
        "KMeans 500": lambda: hs.KMeans(500),
        "IsotropicMixture 50": lambda: hs.IsotropicMixture(50),
        "Adaline online": lambda: hs.Adaline(solver="online"),
    }
    return found | more


def questions():
    """Return by name the functions with a time limit."""
    import halfspace as hs

    return {
        "separability": lambda X, y, limit: hs.separability(X, y, max_time=limit),
        "margin_bracket": lambda X, y, limit: hs.margin_bracket(X, y, max_time=limit),
        "adatron_path": lambda X, y, limit: hs.adatron_path(X, y, [0.1, 1.0, 10.0], max_time=limit),
        "kernel_path": lambda X, y, limit: hs.kernel_path(X, y, max_time=limit),
        "elbow": lambda X, _, limit: hs.elbow(X, range(2, 40), max_time=limit),
    }


class TooLongError(Exception):
    """A call took far more than it may."""


def _give_up(*_):
    msg = f"ended after {PATIENCE:g} CPU seconds"
    raise TooLongError(msg)


def call(name, data, limit):
    """Fit or ask once; return the model or the answer, or an error that refuses in a sentence."""
    from halfspace.errors import InputError

    X, y, target = data
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        if name in questions():
            return questions()[name](X, y, limit)
        model = fits()[name]().set_params(max_time=limit)
        return model.fit(X, target if hasattr(model, "score") and model.__sklearn_tags__().estimator_type == "regressor" else y)
    except (InputError, TooLongError) as error:
        return error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def timed(name, data, limit):
    """Call, and return the answer with its wall and CPU seconds."""
    wall, spent = time.monotonic(), time.process_time()
    answer = call(name, data, limit)
    return answer, time.monotonic() - wall, time.process_time() - spent


def proof(answer, data):
    """Return in a word whether what came of it is true."""
    if isinstance(answer, Exception):
        return f"refused: {answer}"[:120]
    checker = answer if hasattr(answer, "verify") else getattr(answer, "certificate_", None)
    if checker is None or not hasattr(checker, "verify"):
        return ""
    X, y, target = data
    regression = hasattr(answer, "fit") and answer.__sklearn_tags__().estimator_type == "regressor"
    return "holds" if checker.verify(X, target if regression else y) else "REFUTED"


def time_fits(shapes, limits, names, *, cpu, proofs):
    """Print a line per fit; return how many broke their limit or were refuted."""
    broken = 0
    signal.signal(signal.SIGPROF, _give_up)
    for shape in shapes:
        data = problem(shape)
        for name in [*fits(), *questions()]:
            if names and name not in names:
                continue
            for limit in limits:
                answer, wall, spent = timed(name, data, limit)
                if (spent if cpu else wall) > allowed(limit):  # perhaps it was compiled
                    answer, wall, spent = timed(name, data, limit)
                held = proof(answer, data) if proofs else ""
                kept = (spent if cpu else wall) <= allowed(limit)
                broken += not kept or held == "REFUTED"
                line = f"{shape:8} {name:24} {limit:5.1f}  wall {wall:6.2f}  CPU {spent:6.2f}  {'kept' if kept else 'BROKEN'}"
                print(f"{line}  {held}", flush=True)
    return broken


def time_commands(limits, *, cpu):
    """Print a line per command, timed from the start of its process; return how many broke their limit."""
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        files = _files(Path(folder))
        for command in ("fit", "separable"):
            for name, path in files.items():
                extra = ["--out", str(Path(folder) / "model")] if command == "fit" else []
                program = [
                    sys.executable,
                    "-c",
                    COMMAND.format(clock="process_time" if cpu else "perf_counter"),
                    command,
                    str(path),
                    *extra,
                ]
                subprocess.run([*program, "--max-time", "1"], capture_output=True, check=False)
                for limit in limits:
                    wall, spent = time.monotonic(), _children()
                    done = subprocess.run([*program, "--max-time", str(limit)], capture_output=True, check=False, text=True)
                    wall, spent = time.monotonic() - wall, _children() - spent
                    kept = (spent if cpu else wall) <= allowed(limit)
                    broken += not kept
                    said = (done.stdout + done.stderr).strip().splitlines()[-1:]
                    line = f"{command:10} {name:24} {limit:5.1f}  wall {wall:6.2f}  CPU {spent:6.2f}"
                    print(f"{line}  {'kept' if kept else 'BROKEN'}  {''.join(said)[:80]}", flush=True)
    return broken


def _children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _files(folder):
    """Write tables of several shapes; return their paths by name."""
    import numpy as np

    rng, paths = np.random.default_rng(0), {}
    for n, d, classes in ((2_000, 10, 2), (200_000, 10, 2), (12, 30_000, 2), (6_000, 5, 300)):
        name = f"{n:,} x {d:,}, {classes} classes"
        paths[name] = folder / f"{n}_{d}.csv"
        table = np.column_stack([rng.standard_normal((n, d)).round(3), np.arange(n) % classes])
        header = ",".join([*(f"x{k}" for k in range(d)), "target"])
        np.savetxt(paths[name], table, delimiter=",", fmt="%g", header=header, comments="")
    paths["2 x 140,000"] = folder / "wide.csv"
    row = ",".join(["1"] * 140_000)
    paths["2 x 140,000"].write_text(f"{row}\n{row}\n", encoding="utf-8")
    return paths


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.time_limits", description=__doc__)
    parser.add_argument("names", nargs="*", help="what to time (default: everything); 'commands' are the commands")
    parser.add_argument("--cpu", action="store_true", help="let the library count the CPU time of its process")
    parser.add_argument("--no-proofs", action="store_true", help="leave out the check of each model's proof")
    parser.add_argument("--limits", nargs="+", type=float, default=LIMITS)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=SHAPES)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    from benchmarks.__main__ import use_fresh_cache

    use_fresh_cache()
    if options.cpu:
        time.perf_counter = time.process_time  # before anything of ours is imported
    warnings.simplefilter("ignore")
    broken = 0
    if options.names != ["commands"]:
        broken += time_fits(options.shapes, options.limits, options.names, cpu=options.cpu, proofs=not options.no_proofs)
    if not options.names or "commands" in options.names:
        broken += time_commands(options.limits, cpu=options.cpu)
    print(f"{broken} broke their limit or were refuted")
    sys.exit(min(broken, 1))


if __name__ == "__main__":
    main()
