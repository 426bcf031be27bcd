"""What the sources may do where: one driver, one place for threads, sparse matrices behind views."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import halfspace

ROOT = Path(halfspace.__file__).parent

SPARSE = {
    "_matrices.py": "sparse rows are put into canonical form where they enter",
    "certificates/": "a check reads the matrix itself, independently of the solvers and their views",
    "kernels/": "a kernel computes on whole matrices, as scikit-learn and SciPy hand them over",
    "tables/": "an encoder makes matrices",
    "ladder/leaks.py": "a tree reads dense columns, and rows are compared by what they store",
    "ladder/preparing.py": "scaling, and the products that measure a data set, are of whole matrices",
    "ladder/components.py": "components of sparse rows are found by iterations, without a dense copy",
    "ladder/conformal.py": "the few columns that a width depends on are read as a dense matrix",
    "report/gathering.py": "columns of an encoded table are drawn",
    "cli/predict.py": "a sparse file may be narrower than the model",
    "models/parameters.py": "the matrix is checked before a view is made of it",
    "models/planes/voted.py": "the rows that mistakes were made on are multiplied as a matrix",
    "models/prototypes/k_means.py": "the rounding of distances depends on how they are computed",
    "models/kernel/": "kernel models keep rows of the matrix, of either kind",
    "solvers/kernel/": "slots of a budget hold rows of the matrix, of either kind",
    "solvers/regression/": "a factorisation is of a whole matrix",
    "solvers/linear/adaptive_filter.py": "a block of rows is factorised",
}
"""Where it may matter whether a matrix is sparse, apart from rows/, and why."""


@cache
def _parsed() -> dict[str, ast.Module]:
    files = sorted(ROOT.rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in files}


def _sources(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    return ((name, tree) for name, tree in _parsed().items() if not folders or name.startswith(folders))


def _names(tree: ast.AST) -> Iterator[str]:
    """Yield every name and attribute that is read, imported or caught."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name


def test_only_the_driver_catches_keyboard_interrupts():
    """Ctrl-C is an outcome in solvers/run.py; no other solver and no model catches it, or everything, and goes on."""
    caught = set()
    for name, tree in _sources("solvers/", "models/"):
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler):
                kinds = {"BaseException"} if node.type is None else set(_names(node.type))
                ends = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
                if kinds & {"KeyboardInterrupt", "BaseException"} and not ends:
                    caught.add(name)
    assert caught == {"solvers/run.py"}


def test_threads_are_made_in_one_place():
    """Pools, and how many threads there are, are the business of rows/threads.py; `warm` compiles in two processes."""
    made = {"ThreadPoolExecutor", "ThreadpoolController", "Thread", "Parallel", "ProcessPoolExecutor"}
    users = {name for name, tree in _sources() if made & set(_names(tree))}
    assert users == {"rows/threads.py", "cli/warm.py"}


def test_only_the_driver_loops_with_a_clock():
    """No loop of another solver reads a clock or sleeps: steps are short, and the driver looks at the time between them."""
    clocks, loops = {"perf_counter", "monotonic", "process_time", "time_ns"}, (ast.For, ast.While)
    for name, tree in _sources("solvers/"):
        if name != "solvers/run.py":
            timed = [node.lineno for node in ast.walk(tree) if isinstance(node, loops) and clocks & set(_names(node))]
            assert not timed, f"{name} reads a clock in the loops at lines {timed}"


def test_sparse_matrices_are_told_apart_where_there_is_a_reason():
    """Algorithms see views; the rest of the places where the storage matters are listed, each with its reason."""
    users = {name for name, tree in _sources() if "issparse" in set(_names(tree)) and not name.startswith("rows/")}
    assert {name for name in users if not name.startswith(tuple(SPARSE))} == set()
    assert {reason for reason in SPARSE if not any(name.startswith(reason) for name in users)} == set()
