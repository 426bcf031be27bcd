"""Memory: how much a fit takes beyond the data, at its peak, in a process of its own."""

import subprocess
import sys

from benchmarks.race import Case

PROGRAM = """
import resource, sys
import numpy as np
sys.path.insert(0, ".")
import halfspace as hs
from benchmarks.problems import dense, text_rows
peak = lambda: 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
make = {{"dense": lambda n: dense(n, 50), "CSR": lambda n: text_rows(n)}}["{kind}"]
hs.AdaTron(tol=1e-4).fit(*make(20_000))  # compiles
X, y = make({rows})
data = X.nbytes if "{kind}" == "dense" else X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
Path = None
before = int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
hs.AdaTron(tol=1e-4).fit(X, y)
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
print((1024 * int(status["VmHWM"].split()[0]) - before) / 1e6, data / 1e6)
"""


def _measured(kind, rows):
    output = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(kind=kind, rows=rows)], capture_output=True, text=True, check=True
    ).stdout
    extra, data = map(float, output.split()[-2:])
    return extra, data


def cases():
    for kind, rows in (("dense", 1_000_000), ("CSR", 300_000)):
        extra, data = _measured(kind, rows)
        yield Case(
            f"AdaTron on {kind} data of {data:.0f} MB: extra memory at the peak (MB, not s)",
            {"extra": lambda extra=extra: extra, "data": lambda data=data: data},
            0.5,
            at_most=True,
            repeats=1,
            cold=True,
        )
