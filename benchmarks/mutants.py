"""What the tests would miss: small faults are put into the checkers and the places where models claim, and tests must fail.

    python -m benchmarks.mutants                     # 150 mutants, drawn by the commit's hash
    python -m benchmarks.mutants --mutants 40 --seed 7 --only margins/gap
    python -m benchmarks.mutants --write             # and keep the result in results/mutants.json

A mutant is one file with one expression changed (`mutators.py`). Nothing is written to the tree. The tests are imported and
collected once; each mutant is a fork of that process, in which the code of the changed function is exchanged, so that it starts
in milliseconds. What is no code of a function (constants of a file, defaults, fields of classes) cannot be exchanged: such a
mutant is a new process, in which a `sitecustomize` hands the changed file to Python; so are processes that tests start.

Each mutant runs only the tests that pass through its statement, the quickest first, until one fails. Which these are is found
once and kept in `.mutants/` under a hash of sources and tests: the files are imported with a mark before each statement, and a
test that fails by itself is left out. What stands outside functions belongs to all tests that enter the file.

Killed: a test fails, or nothing can be imported, or a single test takes many times as long as without the fault. A mutant that
its tests do not find within `SPENT` seconds survives. Survivors that no test can tell from the original are listed in
`mutants_equivalent.txt` with the reason; they are left out of the share. What cannot change a number is not mutated: messages,
annotations, `assert`, and keyword arguments such as `copy` and `strict` (`mutators.GUARDS`).
"""

import argparse
import ast
import builtins
import gc
import hashlib
import json
import marshal
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from importlib import machinery
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from benchmarks.mutators import PACKAGE, ROOT, Mutant, Place, all_mutants, files, place_of

EQUIVALENT = Path(__file__).with_name("mutants_equivalent.txt")
KEPT = Path(__file__).with_name("results") / "mutants.json"
PROPERTIES = [f"properties/test_{name}.py" for name in ("beyond_the_truth", "own_proofs", "range", "vanishing")]
LAWS = [f"laws/test_{name}.py" for name in ("bayes_point", "perceptron_numbers")]
TESTS = ("certificates", *PROPERTIES, *LAWS, "questions", "models", "ladder", "contract/test_tied.py", "oracle")
OPTIONS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=ci")
"""Of pytest: nothing is remembered from one mutant to the next, and drawn examples are always the same."""
SHARE, LONGEST, SLOWER = 0.95, 15.0, 6.0
"""The share to be killed, the seconds of tests that a mutant gets, and how much longer they may take for it."""
TRACED, SPENT = 8.0, 40.0
"""Seconds of a single test beyond which it is left out, and of all tests of a mutant, compiled code loaded anew, at most."""


# ------------------------------------------------------------------------------------------------------------- who tests what
def marked(path: str) -> CodeType:
    """Compile a file with a mark before each statement of its functions: `__seen__((file, statement))`."""
    text = Path(path).read_text(encoding="utf-8")
    tree, lines = ast.parse(text), text.splitlines()

    def visit(node: ast.AST, place: Place) -> None:
        within = place_of(node, place, lines, None)
        for child in ast.iter_child_nodes(node):
            visit(child, within)
        for field in ("body", "orelse", "finalbody") if within.function is not None else ():
            block = getattr(node, field, None)
            if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                setattr(node, field, [part for k, one in enumerate(block) for part in mark(k, one, within)])

    def mark(k: int, statement: ast.stmt, place: Place) -> list[ast.stmt]:
        if k == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            return [statement]  # a docstring
        where = ast.Tuple([ast.Constant(path), ast.Constant(place._replace(line=statement.lineno).key())], ast.Load())
        call = ast.Expr(ast.Call(ast.Name("__seen__", ast.Load()), [where], []))
        return [ast.copy_location(call, statement), statement]

    visit(tree, Place(inside=True))
    return compile(ast.fix_missing_locations(tree), path, "exec")


def mark_imports() -> None:
    """Have our files imported with marks."""
    ours, plain = {str(path) for path, _ in files()}, machinery.SourceFileLoader.get_code
    builtins.__seen__ = lambda _: None  # type: ignore[attr-defined]

    def get_code(self: Any, name: str) -> CodeType | None:
        path = str(Path(self.get_filename(name)).absolute())
        return marked(path) if path in ours else plain(self, name)

    machinery.SourceFileLoader.get_code = get_code  # type: ignore[method-assign]


class Runner:
    """A plugin of pytest that runs some of the collected tests, in forks of its process, instead of all of them."""

    def __init__(self, work: Any) -> None:
        self.work, self.failed = work, False

    def pytest_runtestloop(self, session: Any) -> bool:
        """Do the work with what was collected."""
        self.items = {item.nodeid: item for item in session.items}
        self.work(self)
        return True

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember that a test failed."""
        self.failed = self.failed or report.failed

    def run(self, item: Any, after: Any) -> bool:
        """Run one test; tell whether it passed."""
        self.failed = False
        item.ihook.pytest_runtest_protocol(item=item, nextitem=after)
        return not self.failed

    def trace(self, names: list[str], kept: dict[str, Path]) -> None:
        """Run tests one by one; keep, for those that pass, their seconds and the statements they go through, file by file."""
        found: dict[str, Any] = {}
        for name, after in zip(names, [*names[1:], None], strict=True):
            seen: set[tuple[str, str]] = set()
            builtins.__seen__ = seen.add  # type: ignore[attr-defined]
            signal.signal(signal.SIGPROF, _too_long)
            signal.setitimer(signal.ITIMER_PROF, TRACED)
            began = time.process_time()
            passed = self.run(self.items[name], self.items.get(after) if after else None)
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            lines: dict[str, list[str]] = {}
            for path, statement in seen:
                lines.setdefault(str(Path(path).relative_to(PACKAGE)), []).append(statement)
            if passed and lines:
                found[name] = {"seconds": time.process_time() - began, "lines": lines}
            test = name.partition("::")[0]
            if after is None or after.partition("::")[0] != test:
                kept[test].write_text(json.dumps(found), encoding="utf-8")
                found = {}


def _too_long(*_: Any) -> None:
    raise TimeoutError("a test that takes longer than a mutant is given")


def forked(work: Any, out: Path, seconds: float) -> int:
    """Fork; in the child, without output and within its time, write what `work()` returns to a file. Return its id."""
    child = os.fork()
    if child:
        return child
    code = 3
    try:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(10 * seconds) + 60)
        out.write_text(json.dumps(work()), encoding="utf-8")
        code = 0
    finally:
        os._exit(code)


def kept_of(tests: list[str]) -> dict[str, Path]:
    """Return, for each file of tests, where its trace is kept: by a hash of it, with what it shares, and one of ours."""
    ours = hashlib.sha256(b"".join(path.read_bytes() for path, _ in files())).hexdigest()[:12]
    found = {}
    for test in tests:
        where = ROOT / "tests" / test
        for path in sorted(where.rglob("test_*.py")) if where.is_dir() else [where]:
            shared = path.with_name("conftest.py")
            own = hashlib.sha256(path.read_bytes() + (shared.read_bytes() if shared.exists() else b"")).hexdigest()[:12]
            found[str(path.relative_to(ROOT))] = ROOT / ".mutants" / f"{path.parent.name}-{path.stem}-{own}-{ours}.json"
    return found


def covering(tests: list[str], workers: int, *, stale: bool) -> dict[str, Any]:
    """Return, for every test, its seconds and the statements of our files it goes through; found once for a state of the tree.

    Where it is `stale`, what the same tests did with earlier sources will do: statements of unchanged functions are known.
    """
    kept = kept_of(tests)
    for test, path in kept.items() if stale else ():
        earlier = sorted(path.parent.glob(f"{path.name[:-18]}-*.json"), key=lambda old: old.stat().st_mtime)
        if earlier and not path.exists():
            kept[test] = earlier[-1]
    new = [test for test, path in kept.items() if not path.exists()]
    if new:
        print(f"looking where the tests of {len(new)} files go, once (some minutes)", flush=True)
        (ROOT / ".mutants").mkdir(exist_ok=True)
        code = "import sys; from benchmarks.mutants import trace_all; trace_all(int(sys.argv[1]), sys.argv[2:])"
        command = [sys.executable, "-c", code, str(workers), *(str(Path(test).relative_to("tests")) for test in new)]
        done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"the tests cannot be traced:\n{done.stdout[-3000:]}{done.stderr[-2000:]}")
        for path in kept.values():
            path.exists() or path.write_text("{}", encoding="utf-8")  # no test, or none that passes
    return {name: entry for path in kept.values() for name, entry in json.loads(path.read_text(encoding="utf-8")).items()}


def trace_all(workers: int, tests: list[str]) -> None:
    """Trace all tests, files of tests dealt out to the workers."""
    mark_imports()
    kept = kept_of(tests)

    def work(runner: Runner) -> None:
        modules = list(dict.fromkeys(name.partition("::")[0] for name in runner.items))
        with tempfile.TemporaryDirectory() as folder:
            children = []
            for k in range(workers):
                mine = [name for name in runner.items if modules.index(name.partition("::")[0]) % workers == k]
                children.append(forked(lambda mine=mine: runner.trace(mine, kept), Path(folder) / str(k), 3600))
            codes = [os.waitpid(child, 0)[1] for child in children]
        if any(codes):
            sys.exit(1)

    collect(work, [f"tests/{test}" for test in tests])


def collect(work: Any, tests: list[str]) -> None:
    """Import the tests and do some work with them."""
    import pytest

    os.chdir(ROOT)
    pytest.main([*OPTIONS, "-s", *tests], plugins=[Runner(work)])


# ------------------------------------------------------------------------------------------------------------------ one mutant
def is_function(code: CodeType) -> bool:
    """Tell whether code is that of a function, not of a file or of a class."""
    return bool(code.co_flags & 1)


def exchanged(old: CodeType, new: CodeType) -> dict[tuple[str, int], CodeType] | None:
    """Return the functions in which two files differ, by name and first line; None if they differ outside functions."""
    if is_function(old):
        inner = [part for part in new.co_consts if isinstance(part, CodeType)]
        found = {(new.co_qualname, new.co_firstlineno): new} if old != new else {}
        return {(part.co_qualname, part.co_firstlineno): part for part in inner if found} | found
    pairs = list(zip(old.co_consts, new.co_consts, strict=False))
    alike = [a == b or (isinstance(a, CodeType) and isinstance(b, CodeType)) for a, b in pairs]
    if len(old.co_consts) != len(new.co_consts) or old.co_code != new.co_code or old.co_names != new.co_names or not all(alike):
        return None
    found = {}
    for a, b in pairs:
        if isinstance(a, CodeType) and a != b:
            inside = exchanged(a, b)
            if inside is None:
                return None
            found |= inside
    return found


def living() -> dict[tuple[str, str, int], list[FunctionType]]:
    """Return all functions of our files, by file, name and first line."""
    ours: dict[tuple[str, str, int], list[FunctionType]] = {}
    paths = {str(path) for path, _ in files()}
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename in paths:
            code = function.__code__
            ours.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno), []).append(function)
    return ours


class Fate(NamedTuple):
    """What became of a mutant."""

    mutant: Mutant
    how: str  # the test that failed; "" if all passed
    cpu: float
    tests: int


class Laboratory:
    """Mutants, each tried in a fork of a process that has everything imported."""

    def __init__(self, runner: Runner, found: dict[str, Any], hook: Path) -> None:
        self.runner, self.found, self.hook = runner, found, hook
        self.functions = living()
        gc.collect()
        gc.freeze()

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that go through a mutant's statement, or if none does through its file; short ones come first.

        Where they would take too long, more tests come before more cases of the same: the k-th case counts k times its seconds.
        """
        inside = {
            name: entry for name, entry in self.found.items() if mutant.path in entry["lines"] and name in self.runner.items
        }
        through = {name: entry for name, entry in inside.items() if mutant.statement in entry["lines"][mutant.path]}
        chosen, total, most = [], 0.0, 0.1 * LONGEST if mutant.code is None else LONGEST
        price, cases = {}, Counter[str]()
        for name in sorted(through or inside, key=lambda name: self.found[name]["seconds"]):
            test = name.partition("[")[0]
            cases[test] += 1
            price[name] = cases[test] * self.found[name]["seconds"]
        for name in sorted(price, key=price.__getitem__):
            total += self.found[name]["seconds"]
            if total > most and chosen:
                break
            chosen.append(name)
        size = {name: int(self.found[name]["seconds"] / 0.05) ** 0.5 // 1 for name in chosen}
        return sorted(chosen, key=lambda name: (size[name], name.partition("::")[0]))

    def patches(self, mutant: Mutant) -> list[tuple[FunctionType, CodeType]] | None:
        """Return the functions that get other code; None if that would not be all that changes."""
        path = str(PACKAGE / mutant.path)
        old = compile(Path(path).read_text(encoding="utf-8"), path, "exec")
        new = exchanged(old, mutant.code) if mutant.code is not None else {}
        if new is None:
            return None
        if mutant.code is not None and not any((path, *key) in self.functions for key in new):
            return None
        return [
            (function, code)
            for key, code in new.items()
            for function in self.functions.get((path, *key), [])
            if function.__code__.co_freevars == code.co_freevars and function.__name__ != "<lambda>"
        ] or (None if mutant.code is not None else [])

    def start(self, mutant: Mutant, out: Path) -> int:
        """Start a mutant; its process ends with 0, having written the test that failed, or nothing if none did."""
        tests, patches = self.tests_of(mutant), self.patches(mutant)
        seconds = 20.0 + SLOWER * sum(self.found[name]["seconds"] for name in tests)
        where = {"MUTANT_PATH": str(PACKAGE / mutant.path), "MUTANT_CODE": f"{out}.code"}
        if mutant.code is not None:
            Path(where["MUTANT_CODE"]).write_bytes(marshal.dumps(mutant.code))

        def work() -> str:
            began = time.process_time()
            os.environ.update(environment(self.hook, **where) if mutant.code is not None else {})
            if patches is None:
                return self.apart(tests, seconds)
            for function, code in patches:
                function.__code__ = code
            items = [self.runner.items[name] for name in tests]
            for item, after in zip(items, [*items[1:], None], strict=True):
                if time.process_time() - began > SPENT:
                    return ""
                if not self.runner.run(item, after):
                    return str(item.nodeid)
            return ""

        return forked(work, out, seconds)

    def apart(self, tests: list[str], seconds: float) -> str:
        """Run tests in a new process, which imports the changed file."""
        command = [sys.executable, "-m", "pytest", *OPTIONS, "-x", *tests]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=10 * seconds)
        failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
        return "" if done.returncode == 0 else (failed or ["cannot be imported"])[0][:200]

    def fates(self, mutants: list[Mutant], workers: int) -> Any:
        """Try mutants, some at a time; yield what becomes of them, in the order in which that is known."""
        waiting, running = list(reversed(mutants)), {}
        with tempfile.TemporaryDirectory() as folder:
            while waiting or running:
                while waiting and len(running) < workers:
                    mutant, out = waiting.pop(), Path(folder) / str(len(waiting))
                    running[self.start(mutant, out)] = mutant, out
                child, status, usage = os.wait4(-1, 0)
                if child in running:
                    mutant, out = running.pop(child)
                    how = (
                        json.loads(out.read_text(encoding="utf-8")) if status == 0 else f"ended by {status}: too slow or broken"
                    )
                    yield Fate(mutant, how, usage.ru_utime + usage.ru_stime, len(self.tests_of(mutant)))


HOOK = """
import importlib.machinery as machinery, marshal, os
path, file = os.environ.get("MUTANT_PATH"), os.environ.get("MUTANT_CODE")
if path and file:
    plain = machinery.SourceFileLoader.get_code
    def get_code(self, fullname):
        if os.path.abspath(self.get_filename(fullname)) != path:
            return plain(self, fullname)
        with open(file, "rb") as changed:
            return marshal.load(changed)
    machinery.SourceFileLoader.get_code = get_code
"""


def environment(hook: Path | None = None, **more: str) -> dict[str, str]:
    """Return what processes run in: this tree's sources, the hook before anything else, and one thread each."""
    paths = os.pathsep.join([*([str(hook)] if hook else []), str(ROOT / "src"), str(ROOT)])
    fixed = {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    return {**os.environ, "PYTHONPATH": paths, **fixed, **more}


# ------------------------------------------------------------------------------------------------------------------ the report
def equivalents() -> list[re.Pattern[str]]:
    """Read the mutants known to be equivalent: file, line and change; … stands for anything, and the reason is below them."""
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines()
    known = [line for line in lines if line and not line.startswith(("#", " "))]
    return [re.compile(".*".join(map(re.escape, line.split("…")))) for line in known]


def is_known(mutant: Mutant, known: list[re.Pattern[str]]) -> bool:
    """Tell whether a mutant is among those known."""
    return any(one.fullmatch(" | ".join(mutant.key())) for one in known)


def judged(asked: argparse.Namespace, found: dict[str, Any]) -> dict[str, Any]:
    """Draw mutants and try them; return the result."""
    count, known = len(all_mutants(asked.only, set())), equivalents()
    numbers = random.Random(asked.seed).sample(range(count), min(asked.mutants, count))  # noqa: S311  (no secret)
    if asked.named:
        named = {line.rpartition(" (line ")[0] or line for line in asked.named.read_text(encoding="utf-8").splitlines()}
        numbers = [k for k, mutant in enumerate(all_mutants(asked.only, set())) if " | ".join(mutant.key()) in named]
    population = all_mutants(asked.only, set(numbers))
    alike = [number for number in numbers if is_known(population[number], known)]
    drawn = [population[number] for number in numbers if number not in alike]
    print(f"{len(numbers)} of {count:,} mutants, seed {asked.seed}; {len(found):,} tests enter these files", flush=True)
    kept = ROOT / ".mutants" / f"fates-{asked.seed}.jsonl"
    lines = kept.read_text(encoding="utf-8").splitlines() if asked.resume and kept.exists() else []
    before = {tuple(key): how for *key, how in map(json.loads, lines)}
    fates = [Fate(mutant, before[mutant.key()], 0.0, 0) for mutant in drawn if mutant.key() in before]
    left = [mutant for mutant in drawn if mutant.key() not in before]

    def work(runner: Runner) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
            laboratory = Laboratory(runner, found, Path(folder))
            control = [mutant._replace(code=None) for mutant in left[:: max(1, len(left) // 3)]]
            for fate in laboratory.fates(control, asked.workers):
                if fate.how:
                    print(f"left out, as it fails on the files as they are: {fate.how}", flush=True)
                    found.pop(fate.how, None)
            for fate in laboratory.fates(left, asked.workers):
                fates.append(fate)
                with kept.open("a", encoding="utf-8") as file:
                    file.write(json.dumps([*fate.mutant.key(), fate.how]) + "\n")
                if asked.verbose or not fate.how:
                    said = fate.how or "SURVIVED"
                    print(f"{said}  <-  {' | '.join(fate.mutant.key())}", flush=True)
                    print(f"    line {fate.mutant.line}, {fate.tests} tests, {fate.cpu:.1f} s", flush=True)

    if left:
        collect(work, [f"tests/{test}" for test in asked.tests])
    survivors = [fate.mutant for fate in fates if not fate.how]
    return {
        "seed": asked.seed,
        "population": count,
        "drawn": len(numbers),
        "equivalent": len(alike),
        "killed": len(fates) - len(survivors),
        "of which too slow or broken": sum(fate.how.startswith("ended by") for fate in fates),
        "survivors": [f"{' | '.join(mutant.key())} (line {mutant.line})" for mutant in survivors],
        "killers": dict(Counter(fate.how.partition("::")[0].removeprefix("FAILED ") for fate in fates if "::" in fate.how)),
    }


def main() -> None:
    """Draw mutants, run their tests, and report."""
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S607  (git of the developer)
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mutants", type=int, default=150)
    parser.add_argument("--seed", default=head, help="drawn by this (default: the commit's hash)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="a pattern of file names")
    parser.add_argument("--named", type=Path, help="a file that names the mutants to try, one a line, as they are reported")
    parser.add_argument("--tests", nargs="+", default=[*TESTS], help="where tests are looked for, below tests/")
    parser.add_argument("--verbose", action="store_true", help="say of every mutant which test killed it")
    parser.add_argument("--stale", action="store_true", help="where tests go may be known from earlier sources")
    parser.add_argument("--resume", action="store_true", help="go on with an earlier run of this seed that was ended")
    parser.add_argument("--write", action="store_true", help="keep the result")
    asked = parser.parse_args()
    sys.path.insert(0, str(ROOT / "src"))
    os.environ.update(environment())
    began = time.perf_counter()
    result = judged(asked, covering(asked.tests, asked.workers, stale=asked.stale))
    tried = result["drawn"] - result["equivalent"]
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    result["minutes"] = round((time.perf_counter() - began) / 60, 1)
    result["CPU minutes"] = round(sum(u.ru_utime + u.ru_stime for u in usage) / 60, 1)
    share = result["killed"] / max(tried, 1)
    print(
        f"killed {result['killed']} of {tried} ({share:.1%}; {SHARE:.0%} wanted), {result['equivalent']} equivalent, in "
        f"{result['minutes']} minutes, {result['CPU minutes']} on the processors"
    )
    if asked.write:
        KEPT.write_text(json.dumps({"commit": head, **result}, indent=1) + "\n", encoding="utf-8")
    sys.exit(share < SHARE)


if __name__ == "__main__":
    main()
