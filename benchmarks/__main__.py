"""Run the races: `python -m benchmarks [--json] [--write] [file ...]`, e.g. `python -m benchmarks perceptron stream`."""

import argparse
import hashlib
import importlib
import json
import os
import platform
import sys
import warnings
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
KEPT = ROOT / "benchmarks" / "results"
FILES = [
    "perceptron",
    "mnist",
    "stream",
    "cold_start",
    "shuffling",
    "large_margin",
    "published_dense",
    "large_margin_sparse",
    "published_sparse",
    "separability",
    "memory",
    "kernel_matrix",
    "kernel_fit",
    "kernel_predict",
    "kernel_multiclass",
    "kernel_grid",
    "kernel_scaling",
    "kernel_covtype",
    "budgeted",
    "freund_schapire",
    "ladder",
    "svmlight",
    "neural_gas",
    "k_means",
    "mixture",
    "lvq_epoch",
    "lvq_accuracy",
    "lvq_quality",
    "regression",
]


def use_fresh_cache():
    """Give Numba a cache folder named by a hash of the sources: its own check misses changes in other files."""
    digest = hashlib.sha256(b"".join(p.read_bytes() for p in sorted((ROOT / "src").rglob("*.py")))).hexdigest()[:16]
    os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".numba_cache" / digest))


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def machine():
    """Describe the machine and the versions in one line each."""
    cpu = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), "?"
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ("numpy", "scipy", "numba", "scikit-learn", "river", "snapml", "liblinear-official", "scikit-learn-intelex")
    return [
        f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}",
        ", ".join(f"{name} {_version(name)}" for name in packages),
    ]


def table(results):
    """Return the results as a Markdown table."""
    lines = ["| case | times (s), ours first | ratio | bar | | first call (s) | remark |", "|---|---|---|---|---|---|---|"]
    for r in results:
        times = ", ".join(f"{name} {seconds:.3g}" for name, seconds in r.seconds.items())
        bar = f"<= {r.bar:g}x" if r.at_most else f">= {r.bar:g}x"
        verdict = "yes" if r.cleared else "**no**"
        lines.append(f"| {r.name} | {times} | {r.ratio:.2f}x | {bar} | {verdict} | {r.first_call:.2f} | {r.remark} |")
    return lines


def short_table(results):
    """Return the table of the README: case, ratio, bar."""
    lines = ["| case | ratio | bar | cleared |", "|---|---|---|---|"]
    for r in results:
        peers = ", ".join(list(r.seconds)[1:])
        against = f"{r.ratio:.2f}x the time of {peers}" if r.at_most else f"{r.ratio:.1f}x as fast as {peers}"
        if "nobody" in peers:
            against = f"at least {r.ratio:.0f}x: {peers.replace('nobody', 'nobody arrives')}"
        if "memory" in r.name:
            against = f"{r.ratio:.2f}x the data"
        bar = f"at most {r.bar:g}x" if r.at_most else f"{r.bar:g}x"
        lines.append(f"| {r.name} | {against} | {bar} | {'yes' if r.cleared else '**no**'} |")
    return lines


def update_readme(lines):
    """Put the table between its marks in the README."""
    path = ROOT / "README.md"
    before, rest = path.read_text(encoding="utf-8").split("<!-- speed table: begin -->\n")
    after = rest.split("<!-- speed table: end -->")[1]
    marked = ["<!-- speed table: begin -->", *lines, "<!-- speed table: end -->"]
    path.write_text(before + "\n".join(marked) + after, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("files", nargs="*", default=FILES, help=f"which case files to run (default: {' '.join(FILES)})")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--write", action="store_true", help="write benchmarks/RESULTS.md and the README's table")
    options = parser.parse_args()
    strangers = set(options.files) - set(FILES)
    if strangers:
        parser.error(f"no such case file: {', '.join(sorted(strangers))}; there are: {', '.join(FILES)}")
    use_fresh_cache()
    warnings.simplefilter("ignore")
    race = importlib.import_module("benchmarks.race")
    ran = {}
    for file in options.files:
        ran[file] = {"machine": machine(), "results": run_file(importlib.import_module(f"benchmarks.{file}"), race)}
    if options.json:
        print(json.dumps(ran, indent=2, default=asdict))
        return
    print("\n".join([*machine(), "", *table([r for file in ran.values() for r in file["results"]])]))
    if options.write:
        write(ran, race)


def run_file(module, race):
    """Run the cases of one file and return their results."""
    results = []
    for case in module.cases():
        print(f"{case.name} ...", file=sys.stderr, flush=True)
        results.append(race.run(case))
        print(f"    {results[-1].ratio:.2f}x  {results[-1].remark}", file=sys.stderr, flush=True)
    return results + (module.summary(results) if hasattr(module, "summary") else [])


def write(ran, race):
    """Keep the results of the files that ran, and make RESULTS.md and the README's table of all that are kept."""
    KEPT.mkdir(exist_ok=True)
    for file, part in ran.items():
        (KEPT / f"{file}.json").write_text(json.dumps(part, indent=1, default=asdict) + "\n", encoding="utf-8")
    head = [
        "# Results",
        "",
        "Written by `python -m benchmarks --write [file ...]`: best of interleaved repeats; a section is one run.",
    ]
    every = []
    for file in FILES:
        if (KEPT / f"{file}.json").exists():
            part = json.loads((KEPT / f"{file}.json").read_text(encoding="utf-8"))
            results = [race.Result(**{k: v for k, v in r.items() if k != "cleared"}) for r in part["results"]]
            head += ["", f"## {file}", "", *(f"{line}  " for line in part["machine"]), "", *table(results)]
            every += results
    (ROOT / "benchmarks" / "RESULTS.md").write_text("\n".join(head) + "\n", encoding="utf-8")
    update_readme([*(f"{line}  " for line in machine()), "", *short_table(every)])


if __name__ == "__main__":
    main()
