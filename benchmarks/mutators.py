"""Small faults: every expression of the checkers and of the places where models claim, changed in one way each."""

import ast
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "halfspace"
CLAIMING = re.compile(r"certif|claim|measure|explained|enough|outcome|proof|widest|score_rung|make_folds|hopeless|winner")
"""Functions of models and of the ladder in which something is claimed, by name."""
WHERE: list[tuple[str, re.Pattern[str] | None]] = [
    ("certificates/**/*.py", None),
    ("questions/*.py", None),
    ("models/**/*.py", CLAIMING),
    ("ladder/*.py", CLAIMING),
]
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
OPERATORS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult}
NAMES = {"max": "min", "min": "max", "maximum": "minimum", "minimum": "maximum", "any": "all", "all": "any"}
NAMES |= {"argmin": "argmax", "argmax": "argmin", "sum": "max", "norm": "abs", "fmin": "fmax"}
GUARDS = {"copy", "overwrite_a", "strict", "stacklevel", "check_finite"}
"""Keyword arguments that change no number: who owns memory, whose line a warning names, and guards against our own mistakes."""
PRESENTATION = {"__str__", "__repr__", "__all__", "__init_subclass__", "__sklearn_tags__"}


class Mutant(NamedTuple):
    """A file with one expression changed."""

    path: str  # relative to src/halfspace
    line: int
    text: str  # the source line, so that the mutant is known again when lines move
    change: str
    statement: str  # the statement in a function that the expression belongs to (`Place.key`); nothing outside functions
    code: CodeType | None  # compiled

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


class Place(NamedTuple):
    """Where a node stands: whether it may be changed, and in which function, by a hash of its text, and statement of it."""

    inside: bool
    function: tuple[int, int] | None = None  # hash and first line
    line: int = 0

    def key(self) -> str:
        """Return a name of the statement that stays when other functions change; nothing outside functions."""
        return "" if self.function is None else f"{self.function[0]:x}+{self.line - self.function[1]}"


def place_of(node: ast.AST, place: Place, lines: list[str], wanted: re.Pattern[str] | None) -> Place:
    """Return the place of what is in a node: itself a statement or a function, or within one."""
    if isinstance(node, ast.stmt) and place.function is not None:
        place = place._replace(line=node.lineno)
    if isinstance(node, ast.FunctionDef):
        inside = place.inside or wanted is None or bool(wanted.search(node.name))
        text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        place = place._replace(inside=inside, function=place.function or (zlib.crc32(text.encode()), node.lineno))
    return place


def _silent(node: ast.AST) -> bool:
    """Tell whether nothing in a node is to be changed: imports, messages, words for people, and guards like `assert`."""
    if isinstance(node, ast.keyword):
        return node.arg in GUARDS
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) in {"msg", "__all__"}
    if isinstance(node, ast.FunctionDef):
        return node.name in PRESENTATION
    return isinstance(node, ast.JoinedStr | ast.Raise | ast.Import | ast.ImportFrom | ast.Assert)


def nodes(tree: ast.Module, lines: list[str], wanted: re.Pattern[str] | None) -> Iterator[tuple[ast.AST, Place]]:
    """Yield the nodes that may be changed, with their places: no annotations, messages or words for people."""

    def walk(node: ast.AST, place: Place) -> Iterator[tuple[ast.AST, Place]]:
        if _silent(node):
            return
        within = place_of(node, place, lines, wanted)
        if isinstance(node, ast.FunctionDef):
            for part in (*node.args.defaults, *(d for d in node.args.kw_defaults if d)):
                yield from walk(part, place._replace(inside=within.inside))
            parts: list[ast.AST] = list(node.body)
        elif isinstance(node, ast.AnnAssign):
            parts = [node.value] if node.value else []
        else:
            parts = list(ast.iter_child_nodes(node))
        if within.inside and hasattr(node, "lineno"):
            yield node, within
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and rounds(node):
            return  # an allowance for rounding is changed as a whole
        for part in parts:
            yield from walk(part, within)

    for node in tree.body:
        yield from walk(node, Place(inside=wanted is None))


def files() -> list[tuple[Path, re.Pattern[str] | None]]:
    """Return the files that are changed, each with the names of its functions in which something is claimed."""
    return [(path, wanted) for pattern, wanted in WHERE for path in sorted(PACKAGE.glob(pattern))]


def all_mutants(only: str, numbers: set[int]) -> list[Mutant]:
    """Return every mutant, in a fixed order; those of these numbers are compiled, which takes time."""
    found: list[Mutant] = []
    for path, wanted in files():
        name = str(path.relative_to(PACKAGE))
        if not re.search(only, name):
            continue
        text = path.read_text(encoding="utf-8")
        tree, lines, seen = ast.parse(text), text.splitlines(), {}
        for node, place in nodes(tree, lines, wanted):
            line: int = node.lineno  # type: ignore[attr-defined]  # (only such nodes are yielded)
            for change, apply in changes(node):
                code = None
                if len(found) in numbers:
                    undo = apply()
                    code = compile(ast.fix_missing_locations(tree), str(path), "exec")
                    undo()
                count = seen[line, change] = seen.get((line, change), 0) + 1
                said = change if count == 1 else f"{change} (number {count})"
                found.append(Mutant(name, line, lines[line - 1].strip(), said, place.key(), code))
    return found
