"""Kept results as tables: times in RESULTS.md, ratios in docs/speed.md, accuracies in docs/tables.md, families in README.md."""

import json
from pathlib import Path

from benchmarks.race import Result

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "results"
FAMILIES = {
    "perceptrons": ["perceptron", "mnist", "stream"],
    "large margins": ["large_margin", "published_dense", "large_margin_sparse", "published_sparse"],
    "kernel machines": [
        "kernel_matrix",
        "kernel_fit",
        "kernel_predict",
        "kernel_multiclass",
        "kernel_grid",
        "kernel_scaling",
        "novelty",
    ],
    "prototypes": ["neural_gas", "k_means", "mixture", "lvq_epoch", "lvq_accuracy", "lvq_quality"],
    "regression": ["regression", "kernel_regression"],
    "ladder and files": ["ladder", "real_tables", "svmlight"],
}
"""The files that race peers, by family: each family is one row of the README."""
OTHERS = [
    "calibration",
    "conformal",
    "noise",
    "small_fits",
    "patience",
    "cold_start",
    "shuffling",
    "separability",
    "leave_one_out",
    "learning_curves",
    "query",
    "memory",
    "kernel_covtype",
    "budgeted",
    "freund_schapire",
    "growth",
]
"""The files that measure something else: a start, memory, a rate, or one of our methods against another."""
FILES = [*(file for files in FAMILIES.values() for file in files), *OTHERS]


def kept(file):
    """Return the machine and the results kept of one file, or None if it has not been run."""
    path = KEPT / f"{file}.json"
    if not path.exists():
        return None
    part = json.loads(path.read_text(encoding="utf-8"))
    return part["machine"], [Result(**{k: v for k, v in r.items() if k != "cleared"}) for r in part["results"]]


def full_table(results):
    """Return the results as a Markdown table with all times."""
    lines = ["| case | times (s), ours first | ratio | bar | | first call (s) | remark |", "|---|---|---|---|---|---|---|"]
    for r in results:
        times = ", ".join(f"{name} {seconds:.3g}" for name, seconds in r.seconds.items())
        bar = f"<= {r.bar:g}x" if r.at_most else f">= {r.bar:g}x"
        lines.append(f"| {r.name} | {times} | {r.ratio:.2f}x | {bar} | {_yes_or_no(r)} | {r.first_call:.2f} | {r.remark} |")
    return lines


def ratio_table(results):
    """Return the results as a Markdown table of ratios and bars."""
    lines = ["| case | ratio | bar | cleared |", "|---|---|---|---|"]
    return lines + [f"| {r.name} | {_ratio(r)} | {_bar(r)} | {_yes_or_no(r)} |" for r in results]


def family_table(results_of):
    """Return one row per family: its median case, the case furthest below its bar, and how many bars were cleared."""
    lines = ["| family | median case | weakest case, measured by its bar | bars cleared |", "|---|---|---|---|"]
    for family, results in results_of.items():
        races = sorted((r for r in results if not r.at_most), key=lambda r: r.ratio)
        median = races[(len(races) - 1) // 2]
        weakest = min(results, key=lambda r: (r.cleared, r.bar / r.ratio if r.at_most else r.ratio / (r.bar or 1e-9)))
        cells = [f"{r.name}: {_ratio(r)}" for r in (median, weakest)]
        for k, r in enumerate((median, weakest)):
            why = ", for its accuracy or a time limit" if r.late else ""
            if k or not r.cleared:
                cells[k] += f" (bar {_bar(r)}: {'cleared' if r.cleared else '**missed**'}{why})"
        lines.append(f"| {family} | {cells[0]} | {cells[1]} | {sum(r.cleared for r in results)} of {len(results)} |")
    return lines


def _ratio(r):
    peers = ", ".join(list(r.seconds)[1:])
    if not peers:
        return f"{100 * r.ratio:.1f} % of tables"
    if "memory" in r.name:
        return f"{r.ratio:.2f}x the data"
    if "not s)" in r.name:
        return f"{r.ratio:.2f}x that of {peers}"
    if "nobody" in peers:
        return f"at least {r.ratio:.0f}x: {peers.replace('nobody in', 'no peer gets there within')}"
    return f"{r.ratio:.2f}x the time of {peers}" if r.at_most else f"{r.ratio:.1f}x as fast as {peers}"


def _bar(r):
    if len(r.seconds) == 1:
        return f"at most {100 * r.bar:g} %"
    if not r.bar:
        return "as good a result"
    return f"at most {r.bar:g}x" if r.at_most else f"{r.bar:g}x"


def _yes_or_no(r):
    return "yes" if r.cleared else "**no**"


def pages():
    """Return the text that each of the pages should have, by its path."""
    from benchmarks import relevance, relevance_growth  # not where results are read only

    head = [
        "# Results",
        "",
        "Written by `python -m benchmarks --write [file ...]`: best of interleaved repeats; a section is one run.",
    ]
    runs = {file: run for file in FILES if (run := kept(file))}
    for file, (machine, results) in runs.items():
        head += ["", f"## {file}", "", *(f"{line}  " for line in machine), "", *full_table(results)]
    of_family = {family: [r for file in files if file in runs for r in runs[file][1]] for family, files in FAMILIES.items()}
    speed = []
    for family, results in {**of_family, "other measurements": [r for f in OTHERS if f in runs for r in runs[f][1]]}.items():
        speed += [f"## {family.capitalize()}", "", *ratio_table(results), ""]
    readme, docs, accuracy = ROOT / "README.md", ROOT / "docs" / "speed.md", ROOT / "docs" / "tables.md"
    return {
        ROOT / "benchmarks" / "RESULTS.md": "\n".join(head) + "\n",
        docs: _between_marks(docs, speed[:-1]),
        accuracy: _between_marks(accuracy, [*relevance.page(), *relevance_growth.page()]),
        readme: _between_marks(readme, family_table(of_family)),
    }


def _between_marks(path, lines):
    """Return the text of a page with the lines between its two marks."""
    begin, end = "<!-- speed table: begin -->\n", "<!-- speed table: end -->"
    before, rest = path.read_text(encoding="utf-8").split(begin)
    return before + begin + "\n".join([*lines, end]) + rest.split(end)[1]
