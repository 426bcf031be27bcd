"""Time limits: which estimators, questions and commands keep `max_time` within 10 % + 0.5 s, on several shapes.

`python -m benchmarks.time_limits [--limits 0.2 1 3] [--shapes ...] [--proofs] [--write] [name ...]` prints a line per fit:
the limit, CPU seconds, whether the limit was kept, and with `--proofs` whether the model's proof holds. The process is bound
to one core and the library counts the CPU time of the process, so that others on a busy machine do not count; with `--wall`
all is wall time, for a quiet machine. Limits hold with a warm cache: a ladder, which leaves out what would have to be compiled,
is fitted to some rows in plenty of time before; what breaks its limit is done once more, and again as long as something was
compiled in it. `commands` among the names stands for `halfspace fit`, `separable` and `curve` from the start of the process
on, with limits of their own, for Python and its libraries take about 2 s to load; `predict` and `certify` have no limit and
are timed only. `--write` keeps the lines in results/time_limits.json, beside those of other shapes, limits and names; `--table`
prints these.
"""

import argparse
import datetime as dt
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

from benchmarks.__main__ import machine, use_fresh_cache
from benchmarks.tables import KEPT

SHAPES = {
    "dense": (20_000, 20),
    "many": (200_000, 20),
    "sparse": (2_000, 8_000),
    "wide": (12, 30_000),
    "classes": (6_000, 20),
    "column": (20_000, 1),
}
"""Rows and columns; "sparse" has 0.5 % of its entries, "classes" 300 classes instead of two."""
TABLES = {"million": (1_000_000, 5, 2), "long": (200_000, 10, 2), "wide": (12, 30_000, 2), "classes": (6_000, 5, 300)}
"""Rows, columns and classes of the files of commands."""
LIMITS = (0.2, 1.0, 3.0)
COMMAND_LIMITS = (3.0, 10.0)
PATIENCE = 120.0
"""CPU seconds after which a call is ended."""
MOST_TURNS = 5
"""Times that a call is made, at most, until nothing is compiled in it."""
COMMAND = "import time; time.perf_counter = time.{clock}; from halfspace.cli import main; main()"


def allowed(limit):
    """Return the seconds that a call with this limit may take."""
    return 1.1 * limit + 0.5


def problem(shape):
    """Return rows, two or more classes that no plane separates, and a number to predict."""
    import numpy as np
    from scipy import sparse

    rng = np.random.default_rng(0)
    n, d = SHAPES[shape]
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
    del kinds["LearningCurve"]  # it fits another estimator, which has the limit
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


def compilations():
    """Return a list that grows with every function that Numba compiles from now on; what is in its cache does not count."""
    from numba.core import event

    found = []

    class Ear(event.Listener):
        def on_start(self, event):
            found.append(event)

        def on_end(self, event):
            pass

    event.register("numba:compile", Ear())
    return found


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


def some_rows(data):
    """Return some rows of a problem, enough to be learnt from by every rung of a ladder, two of each class."""
    return tuple(part[:600] for part in data)


def time_fits(shape, limits, names, options):
    """Time the fits and questions of a shape; yield a line for each."""
    data, compiled = problem(shape), compilations()
    for name in [name for name in [*fits(), *questions()] if not names or name in names]:
        if "Ladder" in name:
            timed(name, some_rows(data), PATIENCE / 2)
        for limit in limits:
            for turn in range(MOST_TURNS):
                compiled.clear()
                answer, wall, spent = timed(name, data, limit)
                seconds = wall if options.wall else spent
                if seconds <= allowed(limit) or (turn > 0 and not compiled):
                    break
            remark = proof(answer, data) if options.proofs or isinstance(answer, Exception) else ""
            yield line(name, shape, limit, seconds, remark)


def line(name, shape, limit, seconds, remark):
    """Print and return what was measured of a call."""
    kept = limit is None or seconds <= allowed(limit)
    word = "" if limit is None else "kept" if kept else "BROKEN"
    print(f"{shape:8} {name:24} {limit or 0.0:5.1f}  {seconds:6.2f} s  {word}  {remark}", flush=True)
    return {"name": name, "shape": shape, "limit": limit, "seconds": round(seconds, 3), "kept": kept, "remark": remark}


def time_commands(limits, wall, files):
    """Time commands from the start of their process; yield a line for each."""
    clock = "perf_counter" if wall else "process_time"
    surroundings = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}  # as installed
    with tempfile.TemporaryDirectory() as folder:
        for shape, path in _files(Path(folder)).items():
            if files and shape not in files:
                continue
            model = str(path.with_suffix(".halfspace"))
            calls = [("halfspace fit", ["fit", str(path), "--target", "target", "--save", model], limit) for limit in limits]
            calls += [("halfspace separable", ["separable", str(path), "--target", "target"], limit) for limit in limits]
            calls += [("halfspace curve", ["curve", str(path), "--target", "target"], limit) for limit in limits]
            calls += [("halfspace predict", ["predict", model, str(path), "--out", f"{path}.predicted.csv"], None)]
            calls += [("halfspace certify", ["certify", model, str(path)], None)]
            for name, arguments, limit in calls:
                if limit is None and not Path(model).exists():
                    continue
                more = [] if limit is None else ["--max-time", str(limit)]
                program = [sys.executable, "-c", COMMAND.format(clock=clock), *arguments, *more]
                for _ in range(2):
                    spent, began = _children(), time.monotonic()
                    done = subprocess.run(program, capture_output=True, check=False, text=True, env=surroundings)
                    seconds = time.monotonic() - began if wall else _children() - spent
                    if limit is None or seconds <= allowed(limit):
                        break
                said = (done.stdout + done.stderr).strip().splitlines()
                remark = said[-1] if done.returncode else next((text for text in said if "winner" in text or ":" in text), "")
                yield line(name, shape, limit, seconds, f"exit {done.returncode}: {remark.replace(str(path), path.name)[:90]}")


def _children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _files(folder):
    """Write tables of several shapes; return their paths by name."""
    import numpy as np

    rng, paths = np.random.default_rng(0), {}
    for name, (n, d, classes) in TABLES.items():
        paths[name] = folder / f"{name}.csv"
        table = np.column_stack([rng.standard_normal((n, d)).round(3), np.arange(n) % classes])
        header = ",".join([*(f"x{k}" for k in range(d)), "target"])
        np.savetxt(paths[name], table, delimiter=",", fmt="%g", header=header, comments="")
    paths["140,000 columns"] = folder / "columns.csv"
    head, row = ",".join([*(f"x{k}" for k in range(140_000)), "target"]), ",".join(["1"] * 140_000)
    paths["140,000 columns"].write_text(f"{head}\n" + f"{row},a\n{row},b\n" * 2, encoding="utf-8")
    return paths


def keep(lines):
    """Keep lines in place of earlier ones about the same calls."""
    path = KEPT / "time_limits.json"
    before = json.loads(path.read_text(encoding="utf-8"))["lines"] if path.exists() else []
    git = [shutil.which("git"), "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    today = dt.datetime.now(tz=dt.UTC).date().isoformat()
    calls = {(row["name"], row["shape"], row["limit"]): row for row in before}
    calls |= {(row["name"], row["shape"], row["limit"]): {**row, "commit": commit, "date": today} for row in lines}
    body = ",\n".join(f"  {json.dumps(row)}" for row in calls.values())
    text = f'{{\n "machine": {json.dumps(machine())},\n "lines": [\n{body}\n ]\n}}\n'
    path.write_text(text, encoding="utf-8")


def table():
    """Return the kept lines as the table of docs/promises.md: for shapes and limits how many kept theirs, and the slowest."""
    lines = json.loads((KEPT / "time_limits.json").read_text(encoding="utf-8"))["lines"]
    groups = {}
    for row in lines:
        if row["limit"] is not None:
            command = row["name"].startswith("halfspace ")
            groups.setdefault(("command" if command else "fit", row["shape"], row["limit"]), []).append(row)
    text = ["| shape | limit | kept | not kept | nearest to its limit | commits |", "|---|---|---|---|---|---|"]
    for (kind, shape, limit), rows in sorted(groups.items(), key=lambda group: (group[0][0] == "command", *group[0][1:])):
        what = f"file `{shape}`" if kind == "command" else f"`{shape}`"
        broken = ", ".join(f"`{row['name']}` {row['seconds']:.2f}" for row in rows if not row["kept"]) or "none"
        slowest = max((row for row in rows if row["kept"]), key=lambda row: row["seconds"], default=rows[0])
        refused = sum(row["remark"].startswith(("refused", "exit 2")) for row in rows)
        kept = f"{sum(row['kept'] for row in rows)} of {len(rows)}" + (f" ({refused} refused)" if refused else "")
        commits = ", ".join(sorted({row["commit"] for row in rows}))
        near = f"`{slowest['name']}` {slowest['seconds']:.2f}"
        text.append(f"| {what} | {limit:g} s | {kept} | {broken} | {near} of {allowed(limit):.2f} | {commits} |")
    return "\n".join(text)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.time_limits", description=__doc__)
    parser.add_argument("names", nargs="*", help="what to time (default: everything); 'commands' are the commands")
    parser.add_argument("--wall", action="store_true", help="count wall time, on a quiet machine")
    parser.add_argument("--proofs", action="store_true", help="check each model's proof too")
    parser.add_argument("--write", action="store_true", help="keep what was measured")
    parser.add_argument("--limits", nargs="+", type=float)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=[], help="of the data (default: all, and the commands)")
    parser.add_argument("--files", nargs="+", choices=TABLES, default=[], help="of the commands (default: all)")
    parser.add_argument("--table", action="store_true", help="print what was kept as a table, and time nothing")
    options = parser.parse_args()
    if options.table:
        print(table())
        return
    if hasattr(os, "sched_setaffinity") and len(os.sched_getaffinity(0)) > 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    use_fresh_cache()
    if not options.wall:
        time.perf_counter = time.process_time  # before anything of ours is imported
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGPROF, _give_up)
    names, lines = set(options.names) - {"commands"}, []
    for shape in options.shapes or (SHAPES if names or not options.names else ()):
        lines += time_fits(shape, options.limits or LIMITS, names, options)
    if "commands" in options.names or not (options.names or options.shapes):
        lines += time_commands(options.limits or COMMAND_LIMITS, options.wall, options.files)
    if options.write:
        keep(lines)
    broken = sum(not row["kept"] or row["remark"] == "REFUTED" for row in lines)
    print(f"{broken} of {len(lines)} broke their limit or were refuted")
    sys.exit(min(broken, 1))


if __name__ == "__main__":
    main()
