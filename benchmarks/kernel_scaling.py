"""How the cost of a fit grows with the number of rows: the sets of `kernel_fit` at 2k to 40k rows, and a log-log plot."""

import itertools
import re

import numpy as np

from benchmarks.kernel_setup import ROOT, Problem, fit_case, seconds_of
from benchmarks.race import Result

SIZES = (2_000, 5_000, 10_000, 20_000, 40_000)
MACHINES = {"a9a": (0.05, 1.0), "ijcnn1": (2.0, 32.0), "mnist": (0.02, 10.0), "covtype": (0.1, 10.0)}
PICTURE = ROOT / "docs" / "kernel_scaling.png"


def cases():
    for (name, (gamma, C)), n in itertools.product(MACHINES.items(), SIZES):
        case = fit_case(Problem(name, n, gamma, C), 1.0, repeats=3 if n <= 10_000 else 2, seconds=600.0)
        if case is not None:
            yield case


def _rows(result):
    """Return the number of rows of a result, read from its name ("fit covtype class 2 10k, ...")."""
    return 1000 * float(re.search(r" ([\d.]+)k,", result.name).group(1))


def _curve(results, who):
    """Return the sizes and the seconds of a contestant, without the fits that were stopped."""
    points = [(_rows(r), seconds_of(r, who)) for r in results if f"{who} was stopped" not in r.remark]
    return np.array([point for point in points if point[1] is not None]).T


def exponent(curve):
    """Return the power of n that fits the seconds best."""
    return float(np.polyfit(*np.log(curve), 1)[0])


def name_sizes(panel, sizes):
    """Write the sizes that were measured, and no others, along the axis of a panel."""
    panel.set_xticks(sizes, [f"{size / 1000:g}k" if size >= 1000 else f"{size:g}" for size in sizes])
    panel.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)


def _draw(groups):
    """Draw seconds against rows, one panel per set, both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, panels = plt.subplots(1, len(groups), figsize=(3.4 * len(groups), 3.4), sharey=True, layout="constrained")
    for panel, (name, results) in zip(np.atleast_1d(panels), groups.items(), strict=True):
        for who, mark in (("SVC", "s"), ("sklearnex", "^"), ("halfspace", "o")):
            curve = _curve(results, who)
            if curve.size:
                panel.loglog(*curve, marker=mark, label=f"{who}, n^{exponent(curve):.1f}" if curve.shape[1] > 1 else who)
        panel.set(title=name, xlabel="rows")
        name_sizes(panel, sorted({_rows(r) for r in results}))
        panel.legend(frameon=False, fontsize=8)
    np.atleast_1d(panels)[0].set_ylabel("seconds to fit")
    figure.savefig(PICTURE, dpi=120)
    plt.close(figure)


def summary(results):
    """Return, for each set, our growth against that of SVC, and draw the curves."""
    groups = {name: [r for r in results if r.name.split()[1] == name] for name in MACHINES}
    groups = {name: group for name, group in groups.items() if group}
    rows = []
    for name, group in groups.items():
        curves = [_curve(group, who) for who in ("halfspace", "SVC")]
        if all(curve.size and curve.shape[1] > 1 for curve in curves):
            growth, peer = map(exponent, curves)
            seconds = {"halfspace": growth, "SVC": peer}
            what = f"{name}: power of n with which the time grows (powers, not s)"
            rows.append(Result(what, seconds, 0.0, growth / peer, 1.0, at_most=True))
    try:
        if rows:
            _draw(groups)
            rows[-1].remark = f"drawn in {PICTURE.relative_to(ROOT)}"
    except ImportError:
        print("no picture of the scaling: matplotlib is not installed")
    return rows
