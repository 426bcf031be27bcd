"""A new process, from import to the first fit finished: with Numba's cache filled by an earlier process, and with an empty one.

The first fits ever are measured against the imports that any compiled fit needs, `import numba, sklearn`. What was compiled on
the way, how often and in how many CPU seconds, stands beside them with the functions that took most.
"""

import json
import os
import subprocess
import sys
import tempfile

from benchmarks.race import Case

SCRIPT = """
import time
begin = time.perf_counter()
from {module} import Perceptron
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((200, 10))
Perceptron(max_iter=20{options}).fit(X, X[:, 0] > 0)
print(time.perf_counter() - begin)
"""

FIRST = """
import json, sys, time
begin = time.perf_counter()
import numba, sklearn
from numba.core import event
class Listener(event.Listener):
    open, spent = [], {{}}
    def on_start(self, event):
        self.open.append([time.process_time(), 0.0])
    def on_end(self, event):
        began, inner = self.open.pop()
        taken, name = time.process_time() - began, event.data["dispatcher"].__name__
        if self.open:
            self.open[-1][1] += taken
        count, sum = self.spent.get(name, (0, 0.0))
        self.spent[name] = count + 1, sum + taken - inner
event.register("numba:compile", Listener())
{work}
taken = time.perf_counter() - begin
sys.stdout.write("\\n" + json.dumps([taken, Listener.spent]))
"""

FIT = """
import numpy as np, halfspace
rng = np.random.default_rng(0)
X = rng.standard_normal((300, 10))
halfspace.{name}().fit(X, X[:, 0] + 0.3 * rng.standard_normal(300) > 0)
"""

DEMO = """
from halfspace.__main__ import main
sys.argv = ["halfspace", "fit"]
try:
    main()
except SystemExit:
    pass
"""

TOP = 10
"""Functions named."""


def _output(script, folder=None, cache=None):
    """Return what a process prints that runs a script in a folder, with a cache of its own or the usual one."""
    environment = os.environ if cache is None else {**os.environ, "NUMBA_CACHE_DIR": cache}
    command = [sys.executable, "-W", "ignore", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder, env=environment).stdout


def _process(module, options=""):
    return float(_output(SCRIPT.format(module=module, options=options)))


def _first(work, spent):
    """Return the seconds of a process that does some work with nothing compiled yet; what it compiled goes to `spent`."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        taken, compiled = json.loads(_output(FIRST.format(work=work), folder, cache).splitlines()[-1])
    spent.clear()
    spent.update(compiled)
    return taken


def _remark(spent):
    total, count = sum(seconds for _, seconds in spent.values()), sum(number for number, _ in spent.values())
    most = sorted(spent.items(), key=lambda item: -item[1][1])[:TOP]
    named = ", ".join(f"{name} {seconds:.1f}" for name, (_, seconds) in most)
    return f"compiled {count} in {total:.1f} s of CPU: {named}"


def _first_case(name, work, bar, repeats):
    spent = {}
    contestants = {"halfspace": lambda: _first(work, spent), "import numba, sklearn": lambda: _first("", {})}
    return Case(name, contestants, bar, at_most=True, repeats=repeats, cold=True, check=lambda _: _remark(spent))


def cases():
    yield Case(
        "second process: import to first fit finished",
        {"halfspace": lambda: _process("halfspace"), "scikit-learn": lambda: _process("sklearn.linear_model", ", tol=None")},
        1.3,
        at_most=True,
        repeats=5,
        cold=True,
    )
    for name, bar in (("Perceptron", 2.0), ("AdaTron", 3.0), ("KernelAdaTron", 4.0)):
        yield _first_case(f"first fit ever: {name}", FIT.format(name=name), bar, 3)
    yield _first_case("first fit ever: halfspace fit on the demo", DEMO, 8.0, 2)
