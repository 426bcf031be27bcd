"""The fuzzer as a program: `python -m fuzz --help`."""

import argparse
import runpy
import sys
from importlib import import_module
from pathlib import Path

from fuzz.engine import fuzz, replay

HOMES = {
    "model files": "model_files.ModelFiles",
    "certificates": "certificates.Certificates",
    "csv": "readers.Csv",
    "jsonl": "readers.JsonLines",
    "svmlight": "readers.Svmlight",
    "npz": "readers.Npz",
    "arrow": "readers.ArrowFiles",
    "parquet": "readers.Parquet",
    "excel": "readers.Excel",
}


def make(name):
    """Return the class of a target; what it needs is imported in the child."""
    module, _, cls = HOMES[name].partition(".")
    return getattr(import_module(f"fuzz.{module}"), cls)


def main():
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("target", nargs="*", help=f"what to fuzz, by default everything: {', '.join(HOMES)}")
    parser.add_argument("--seconds", type=float, help="time for all targets together")
    parser.add_argument("--cases", type=int, help="mutants of each target, instead of a time")
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant, its seed")
    parser.add_argument("--folder", default=".fuzz", help="where failures are kept")
    parser.add_argument("--replay", metavar="FILE", help="try a kept failure again")
    asked = parser.parse_args()
    runpy.run_path(str(Path(__file__).parents[2] / "conftest.py"))  # which says where compiled code is kept
    if asked.replay:
        name = next(name for name in HOMES if Path(asked.replay).name.startswith(name.replace(" ", "-")))
        sys.stdout.write(replay(make(name), asked.replay) + "\n")
        return 0
    names, failed = asked.target or list(HOMES), 0
    targets = [make(name) for name in names]
    total = sum(target.share for target in targets)
    for target in targets:
        seconds = None if asked.seconds is None else asked.seconds * target.share / total
        report = fuzz(target, folder=asked.folder, seconds=seconds, cases=asked.cases, first=asked.first)
        sys.stdout.write(f"{report}\n")
        sys.stdout.flush()
        failed += len(report.failures)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
