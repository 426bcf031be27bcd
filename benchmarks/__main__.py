"""Run the races: `python -m benchmarks [--json] [--write] [file ...]`, e.g. `python -m benchmarks perceptron stream`.

`python -m benchmarks --tables` runs nothing, and writes the tables again from the results that are kept.
"""

import argparse
import hashlib
import importlib
import json
import os
import platform
import subprocess
import sys
import warnings
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks import race, tables
from benchmarks.tables import FILES

ROOT = Path(__file__).resolve().parents[1]


def use_fresh_cache():
    """Give Numba a cache folder named by a hash of the sources: its own check misses changes in other files."""
    digest = hashlib.sha256(b"".join(p.read_bytes() for p in sorted((ROOT / "src").rglob("*.py")))).hexdigest()[:16]
    os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".numba_cache" / digest))


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def commit():
    """Return the commit that is measured, and whether sources differ from it."""
    git = ["git", "-C", str(ROOT)]
    try:
        name = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
        changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "src"], check=False).returncode
    except (OSError, subprocess.CalledProcessError):
        return "commit not known"
    return f"commit {name}{', with changes' if changed else ''}"


def machine():
    """Describe the machine, the versions and the commit in one line each."""
    cpu = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line), "?"
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    packages = ("numpy", "scipy", "numba", "scikit-learn", "river", "snapml", "liblinear-official", "scikit-learn-intelex")
    return [
        f"{cpu}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}",
        ", ".join(f"{name} {_version(name)}" for name in packages),
        commit(),
    ]


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("files", nargs="*", default=FILES, help=f"which case files to run (default: {' '.join(FILES)})")
    parser.add_argument("--json", action="store_true", help="print the results as JSON")
    parser.add_argument("--write", action="store_true", help="keep the results and write the tables made of them")
    parser.add_argument("--tables", action="store_true", help="race nothing; write the tables from the kept results")
    options = parser.parse_args()
    strangers = set(options.files) - set(FILES)
    if strangers:
        parser.error(f"no such case file: {', '.join(sorted(strangers))}; there are: {', '.join(FILES)}")
    if options.tables:
        write_pages()
        return
    use_fresh_cache()
    warnings.simplefilter("ignore")
    ran = {}
    for file in options.files:
        ran[file] = {"machine": machine(), "results": run_file(importlib.import_module(f"benchmarks.{file}"))}
    if options.json:
        print(json.dumps(ran, indent=2, default=asdict))
        return
    print("\n".join([*machine(), "", *tables.full_table([r for file in ran.values() for r in file["results"]])]))
    if options.write:
        keep(ran)
        write_pages()


def run_file(module):
    """Run the cases of one file and return their results."""
    results = []
    for case in module.cases():
        print(f"{case.name} ...", file=sys.stderr, flush=True)
        results.append(race.run(case))
        print(f"    {results[-1].ratio:.2f}x  {results[-1].remark}", file=sys.stderr, flush=True)
    return results + (module.summary(results) if hasattr(module, "summary") else [])


def keep(ran):
    """Keep the results of the files that ran."""
    tables.KEPT.mkdir(exist_ok=True)
    for file, part in ran.items():
        (tables.KEPT / f"{file}.json").write_text(json.dumps(part, indent=1, default=asdict) + "\n", encoding="utf-8")


def write_pages():
    """Write RESULTS.md, docs/speed.md, docs/tables.md and the README's table from all results that are kept."""
    for path, text in tables.pages().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
