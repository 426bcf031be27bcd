"""A CSV file of 2 GB: `halfspace fit` and `halfspace predict` in processes of their own, with their time and peak memory.

Run by hand, not by `make bench`: `python -m benchmarks.big_csv [--gigabytes 2] [--folder FOLDER]`. Needs that much disk.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

COLUMNS = 20
BLOCK_ROWS = 50_000


def write_csv(path, n_bytes):
    """Write rows with two noisy classes until the file is large enough; return their number.

    The same block of rows is written again and again, because formatting numbers takes most of the time: scores mean little.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(BLOCK_ROWS, COLUMNS))
    kind = rng.choice(["red", "blue", "green"], size=BLOCK_ROWS)
    y = X[:, 0] - X[:, 1] + (kind == "red") + 0.5 * rng.normal(size=BLOCK_ROWS) > 0
    rows = [",".join(f"{v:.6f}" for v in row) for row in X]
    block = "".join(f"{row},{k},{'yes' if label else 'no'}\n" for row, k, label in zip(rows, kind, y, strict=True)).encode()
    with path.open("wb") as file:
        file.write((",".join([*(f"x{j}" for j in range(COLUMNS)), "kind", "label"]) + "\n").encode())
        n_blocks = 0
        while file.tell() < n_bytes:
            file.write(block)
            n_blocks += 1
    return n_blocks * BLOCK_ROWS


def measured(*arguments):
    """Run the command in a process of its own; print and return its seconds and peak memory in MB."""
    began = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "halfspace", *map(str, arguments)])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds, peak = time.perf_counter() - began, usage.ru_maxrss / 1024
    print(f"halfspace {arguments[0]}: exit code {process.returncode}, {seconds:.0f} s, peak memory {peak:.0f} MB", flush=True)
    return seconds, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=2.0)
    parser.add_argument("--folder", default=None)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        table, model, out = (Path(folder) / name for name in ("big.csv", "m.halfspace", "out.csv"))
        n_rows = write_csv(table, asked.gigabytes * 1e9)
        print(f"{table.stat().st_size / 1e9:.2f} GB, {n_rows:,} rows, {COLUMNS + 1} columns", flush=True)
        measured("fit", table, "--target", "label", "--save", model)
        measured("predict", model, table, "--proba", "--out", out)
        measured("certify", model, table)


if __name__ == "__main__":
    main()
