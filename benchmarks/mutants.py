"""What the tests would miss: small faults are put into the checkers and the places where models claim, and tests must fail.

    python -m benchmarks.mutants                     # 150 mutants, drawn by the commit's hash
    python -m benchmarks.mutants --mutants 40 --seed 7 --only margins/gap

A mutant is one file with one expression changed. Nothing is written to the tree: a `sitecustomize` in a temporary folder hands
the changed text to Python where it would read the file, in the tests and in the processes they start. Each mutant runs only
the tests that pass through its line, the quickest first, until one fails; which these are is found once, by tracing
(`sys.settrace`), and kept in `.mutants/` under a hash of sources and tests. A file's own constants belong to all tests that
enter the file.

Killed: a test fails, or nothing can be imported, or the tests take far too long. Survivors that no test can tell from the
original are listed in `mutants_equivalent.txt` with the reason; they are left out of the share.
"""

import argparse
import ast
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "halfspace"
EQUIVALENT = Path(__file__).with_name("mutants_equivalent.txt")
CLAIMING = re.compile(r"certif|claim|measure|explained|enough|outcome|proof|widest|score_rung|make_folds|hopeless|winner")
"""Functions of models and of the ladder in which something is claimed, by name."""
WHERE: list[tuple[str, re.Pattern[str] | None]] = [
    ("certificates/**/*.py", None),
    ("questions/*.py", None),
    ("models/**/*.py", CLAIMING),
    ("ladder/*.py", CLAIMING),
]
TESTS = ("tests/certificates", "tests/oracle", "tests/properties/test_beyond_the_truth.py", "tests/models", "tests/ladder")
SHARE, LONGEST, MOST_TESTS = 0.95, 120.0, 200
"""The share to be killed, the seconds a mutant's tests may take, and how many of them are run."""
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult}
NAMES = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "any": "all", "all": "any"}
NAMES |= {"argmin": "argmax", "argmax": "argmin", "sum": "max", "norm": "abs", "fmin": "fmax"}
PRESENTATION = {"__str__", "__repr__", "__all__", "__init_subclass__", "__sklearn_tags__"}


class Mutant(NamedTuple):
    """A file with one expression changed."""

    path: str  # relative to src/halfspace
    line: int
    text: str  # the source line, so that the mutant is known again when lines move
    change: str
    source: str

    def key(self) -> tuple[str, str, str]:
        return self.path, self.text, self.change


def changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield what a node may be changed to, and a function that changes it and returns how to undo that."""
    yield from _left_out(node)
    for kind, change in CHANGES:
        if isinstance(node, kind):
            yield from change(node)


def _compared(node: ast.Compare) -> Iterator[tuple[str, Any]]:
    for k, op in enumerate(node.ops):
        if type(op) in COMPARISONS:
            yield from _swap(node.ops, k, COMPARISONS[type(op)](), "comparison")


def _computed(node: ast.BinOp | ast.AugAssign) -> Iterator[tuple[str, Any]]:
    """Change the operator; an allowance for rounding is taken away or made a thousand times as large instead."""
    if isinstance(node, ast.BinOp) and rounds(node):
        for factor in (0.0, 1e3) if isinstance(node.op, ast.Mult) else ():
            yield from _set(node, "right", ast.BinOp(node.right, ast.Mult(), ast.Constant(factor)))
    elif type(node.op) in OPERATORS:
        yield from _set(node, "op", OPERATORS[type(node.op)]())


def _constant(node: ast.Constant) -> Iterator[tuple[str, Any]]:
    """Change a number far enough to matter: floats a thousandfold or to nothing, whole numbers by one."""
    if type(node.value) is bool:
        yield from _set(node, "value", not node.value)
    elif type(node.value) is int:
        yield from _set(node, "value", node.value + 1)
    elif type(node.value) is float:
        yield from _set(node, "value", 1e3 * node.value if node.value else 1.0)


def _named(node: ast.Attribute | ast.Name) -> Iterator[tuple[str, Any]]:
    field = "attr" if isinstance(node, ast.Attribute) else "id"
    if isinstance(node.ctx, ast.Load) and (name := getattr(node, field)) in NAMES:
        yield from _set(node, field, NAMES[name])


def rounds(node: ast.AST) -> bool:
    """Tell whether an expression is an allowance for rounding: a product with the precision of floats in it."""
    return any(isinstance(part, ast.Name) and part.id == "EPS" for part in ast.walk(node))


CHANGES: tuple[tuple[Any, Any], ...] = (
    (ast.Compare, _compared),
    (ast.BinOp | ast.AugAssign, _computed),
    (ast.BoolOp, lambda node: _set(node, "op", ast.Or() if isinstance(node.op, ast.And) else ast.And())),
    (ast.If | ast.IfExp, lambda node: _set(node, "test", ast.UnaryOp(ast.Not(), node.test))),
    (ast.UnaryOp, lambda node: _set(node, "op", ast.UAdd()) if isinstance(node.op, ast.USub) else ()),
    (ast.Constant, _constant),
    (ast.Attribute | ast.Name, _named),
)


def _left_out(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield the claims that a verdict or a list of conditions could do without."""
    parts = node.args if isinstance(node, ast.Call) and ast.unparse(node.func) == "Verdict.of" else None
    if isinstance(node, ast.Return) and isinstance(node.value, ast.List):
        parts = node.value.elts
    for k, part in enumerate(parts or ()):
        if len(parts or ()) > 1 or isinstance(part, ast.Call | ast.Tuple):
            yield from _swap(parts, k, ast.Tuple([ast.Constant(value=True), ast.Constant(value="")], ast.Load()), "claim")


def _set(node: Any, field: str, value: Any) -> Iterator[tuple[str, Any]]:
    before = getattr(node, field)

    def apply() -> Any:
        setattr(node, field, value)
        return lambda: setattr(node, field, before)

    yield f"{_said(before)} -> {_said(value)}", apply


def _swap(items: Any, k: int, value: Any, what: str) -> Iterator[tuple[str, Any]]:
    before = items[k]

    def apply() -> Any:
        items[k] = value
        return lambda: items.__setitem__(k, before)

    yield f"{what} {k}: {_said(before)} -> {_said(value)}", apply


def _said(part: Any) -> str:
    if isinstance(part, ast.operator | ast.cmpop | ast.boolop | ast.unaryop):
        return type(part).__name__
    return ast.unparse(part)[:60] if isinstance(part, ast.AST) else repr(part)


def nodes(tree: ast.Module, wanted: re.Pattern[str] | None) -> Iterator[ast.AST]:
    """Yield the nodes that may be changed: no annotations, messages, docstrings or words for people."""

    def walk(node: ast.AST, *, inside: bool) -> Iterator[ast.AST]:
        if isinstance(node, ast.FunctionDef):
            if node.name in PRESENTATION:
                return
            inside = inside or wanted is None or bool(wanted.search(node.name))
            parts: list[ast.AST] = [*node.args.defaults, *(d for d in node.args.kw_defaults if d), *node.body]
        elif isinstance(node, ast.AnnAssign):
            parts = [node.value] if node.value else []
        elif isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom | ast.Assert) or (
            isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) in {"msg", "__all__"}
        ):
            return
        else:
            parts = list(ast.iter_child_nodes(node))
        if inside and hasattr(node, "lineno"):
            yield node
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and rounds(node):
            return  # an allowance for rounding is changed as a whole
        for part in parts:
            yield from walk(part, inside=inside)

    for node in tree.body:
        yield from walk(node, inside=wanted is None)


def all_mutants(only: str, numbers: set[int] | None = None) -> list[Mutant]:
    """Return every mutant, in a fixed order; with `numbers` only these have a source, which takes time."""
    found: list[Mutant] = []
    for pattern, wanted in WHERE:
        for path in sorted(PACKAGE.glob(pattern)):
            name = str(path.relative_to(PACKAGE))
            if not re.search(only, name):
                continue
            text = path.read_text(encoding="utf-8")
            tree, lines, seen = ast.parse(text), text.splitlines(), {}
            for node in nodes(tree, wanted):
                line: int = node.lineno  # type: ignore[attr-defined]  # (only such nodes are yielded)
                for change, apply in changes(node):
                    undo = apply()
                    source = ast.unparse(tree) if numbers is None or len(found) in numbers else ""
                    undo()
                    count = seen[line, change] = seen.get((line, change), 0) + 1
                    said = change if count == 1 else f"{change} (number {count})"
                    found.append(Mutant(name, line, lines[line - 1].strip(), said, source))
    return found


HOOK = """
import importlib.machinery as machinery, os, sys
path, source = os.environ.get("MUTANT_PATH"), os.environ.get("MUTANT_SOURCE")
if path and source:
    read, code = machinery.SourceFileLoader.get_data, machinery.SourceFileLoader.get_code
    def get_data(self, name):
        return read(self, source if os.path.abspath(name) == path else name)
    def get_code(self, fullname):
        mine = os.path.abspath(self.get_filename(fullname)) == path
        return self.source_to_code(get_data(self, path), path) if mine else code(self, fullname)
    machinery.SourceFileLoader.get_data, machinery.SourceFileLoader.get_code = get_data, get_code
"""
TRACER = """
import json, os, sys, time
import pytest
ROOT, FILES = os.environ["MUTANT_ROOT"], set(os.environ["MUTANT_FILES"].split(os.pathsep))
found, here = {}, [None]
def local(frame, event, arg):
    here[0].add((frame.f_code.co_filename, frame.f_lineno))
    return local
def trace(frame, event, arg):
    if frame.f_code.co_filename not in FILES:
        return None
    return local(frame, event, arg)
@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    here[0], began = set(), time.perf_counter()
    sys.settrace(trace)
    try:
        result = yield
    finally:
        sys.settrace(None)
    lines = {}  # of tests that pass only: one that fails would kill everything
    for name, line in here[0]:
        lines.setdefault(os.path.relpath(name, ROOT), []).append(line)
    if lines:
        found[item.nodeid] = {"seconds": time.perf_counter() - began, "lines": lines}
    return result
def pytest_sessionfinish():
    with open(os.environ["MUTANT_OUT"] + os.environ.get("PYTEST_XDIST_WORKER", "main"), "w") as file:
        json.dump(found, file)
"""


def environment(hook: Path, **more: str) -> dict[str, str]:
    """Return what the processes run in: this tree's sources, the hook before anything else, one thread each."""
    paths = os.pathsep.join([str(hook), str(ROOT / "src")])
    return {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1", **more}


def covering(tests: list[str], workers: int) -> dict[str, Any]:
    """Return, for every test, its seconds and the lines of our files it passes through; found once for a state of the tree."""
    files = sorted({str(path) for pattern, _ in WHERE for path in PACKAGE.glob(pattern)})
    watched = [
        *map(Path, files),
        *(path for test in tests for path in sorted((ROOT / test).rglob("*.py")) if (ROOT / test).is_dir()),
    ]
    watched += [ROOT / test for test in tests if (ROOT / test).is_file()]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in watched)).hexdigest()[:16]
    kept = ROOT / ".mutants" / f"{digest}.json"
    if kept.exists():
        return dict(json.loads(kept.read_text(encoding="utf-8")))
    print("tracing the tests once (some minutes)", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "mutant_tracer.py").write_text(TRACER, encoding="utf-8")
        out = str(Path(folder) / "found.")
        where = {"MUTANT_ROOT": str(PACKAGE), "MUTANT_FILES": os.pathsep.join(files), "MUTANT_OUT": out}
        command = [sys.executable, "-m", "pytest", "-q", "-p", "mutant_tracer", "-p", "no:cacheprovider"]
        command += ["-n", str(workers), "--dist", "loadfile", *tests]
        done = subprocess.run(
            command, cwd=ROOT, env=environment(Path(folder), **where), capture_output=True, text=True, check=False
        )
        found: dict[str, Any] = {}
        for part in Path(folder).glob("found.*"):
            found |= json.loads(part.read_text(encoding="utf-8"))
    if done.returncode not in (0, 1) or not found:
        sys.exit(f"the tests cannot be traced:\n{done.stdout[-3000:]}{done.stderr[-2000:]}")
    kept.parent.mkdir(exist_ok=True)
    kept.write_text(json.dumps(found), encoding="utf-8")
    return found


def tests_of(mutant: Mutant, found: dict[str, Any]) -> list[str]:
    """Return the tests that pass through a mutant's line, or if none does (a constant of the file) through the file."""
    inside = {test: entry for test, entry in found.items() if mutant.path in entry["lines"]}
    through = {test: entry for test, entry in inside.items() if mutant.line in entry["lines"][mutant.path]}
    return sorted(through or inside, key=lambda test: found[test]["seconds"])[:MOST_TESTS]


def survives(mutant: Mutant, tests: list[str], hook: Path) -> bool:
    """Run the tests on a mutant; tell whether all of them pass."""
    if not tests:
        return True
    with tempfile.TemporaryDirectory() as folder:
        changed = Path(folder) / "changed.py"
        changed.write_text(mutant.source, encoding="utf-8")
        where = {"MUTANT_PATH": str(PACKAGE / mutant.path), "MUTANT_SOURCE": str(changed)}
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment(hook, **where), capture_output=True, text=True, timeout=LONGEST, check=False
            )
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == 0


def unchanged(mutant: Mutant) -> Mutant:
    """Return a mutant that is none, which no test may kill."""
    return mutant._replace(change="none", source=(PACKAGE / mutant.path).read_text(encoding="utf-8"))


def equivalents() -> dict[tuple[str, str, str], str]:
    """Read the mutants known to be equivalent: file, line and change, and the reason below them."""
    known, key = {}, None
    for line in EQUIVALENT.read_text(encoding="utf-8").splitlines():
        if line.startswith(("#", " ")) or not line:
            if key is not None and line.startswith("    "):
                known[key] = line.strip()
            continue
        path, text, change = line.split(" | ")
        key = path, text, change
    return known


def main() -> None:
    """Draw mutants, run their tests, and report."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S607  (git of the developer)
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mutants", type=int, default=150)
    parser.add_argument("--seed", default=head, help="drawn by this (default: the commit's hash)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="a pattern of file names")
    parser.add_argument("--tests", nargs="+", default=[*TESTS], help="where tests are looked for")
    asked = parser.parse_args()
    began = time.perf_counter()
    count, known = len(all_mutants(asked.only, set())), equivalents()
    numbers = random.Random(asked.seed).sample(range(count), min(asked.mutants, count))  # noqa: S311  (no secret)
    population = all_mutants(asked.only, set(numbers))
    drawn = [population[number] for number in numbers if population[number].key() not in known]
    found = covering(asked.tests, asked.workers)
    print(f"{len(drawn)} of {count:,} mutants, seed {asked.seed}; {len(found):,} tests enter these files", flush=True)
    survivors = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(asked.workers) as pool:
        (Path(folder) / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
        control = [unchanged(mutant) for mutant in drawn[:3]]
        if not all(survives(mutant, tests_of(mutant, found), Path(folder)) for mutant in control):
            sys.exit("the tests fail, or take too long, on the files as they are: nothing can be said about mutants")
        verdicts = pool.map(lambda mutant: survives(mutant, tests_of(mutant, found), Path(folder)), drawn)
        for mutant, alive in zip(drawn, verdicts, strict=True):
            if alive:
                survivors.append(mutant)
                print(
                    f"SURVIVED {' | '.join(mutant.key())}  (line {mutant.line}, {len(tests_of(mutant, found))} tests)",
                    flush=True,
                )
    killed = len(drawn) - len(survivors)
    share = killed / max(len(drawn), 1)
    print(
        f"killed {killed} of {len(drawn)} ({share:.1%}) in {(time.perf_counter() - began) / 60:.1f} minutes; {SHARE:.0%} wanted"
    )
    sys.exit(share < SHARE)


if __name__ == "__main__":
    main()
