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
FILES = [
    "perceptron",
    "mnist",
    "stream",
    "cold_start",
    "shuffling",
    "large_margin",
    "large_margin_sparse",
    "separability",
    "memory",
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
    packages = ("numpy", "scipy", "numba", "scikit-learn", "river", "snapml", "liblinear-official")
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
    results = []
    for file in options.files:
        module, first = importlib.import_module(f"benchmarks.{file}"), len(results)
        for case in module.cases():
            print(f"{case.name} ...", file=sys.stderr, flush=True)
            results.append(race.run(case))
            print(f"    {results[-1].ratio:.2f}x  {results[-1].remark}", file=sys.stderr, flush=True)
        results += module.summary(results[first:]) if hasattr(module, "summary") else []
    if options.json:
        print(json.dumps({"machine": machine(), "results": [{**asdict(r), "cleared": r.cleared} for r in results]}, indent=2))
        return
    report = [*machine(), "", *table(results)]
    print("\n".join(report))
    if options.write:
        head = "# Results\n\nWritten by `python -m benchmarks --write`: best of interleaved repeats, one run, one machine.\n\n"
        (ROOT / "benchmarks" / "RESULTS.md").write_text(head + "\n".join(report) + "\n", encoding="utf-8")
        update_readme([*(f"{line}  " for line in machine()), "", *short_table(results)])


if __name__ == "__main__":
    main()
