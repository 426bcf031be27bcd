"""`halfspace data`: the built-in and generated problems."""

import io
from typing import Any

import click

from halfspace.cli.frame import Answer, refuse
from halfspace.cli.outputs import check_outputs, complete_file
from halfspace.cli.text import table
from halfspace.data import catalogue

__all__ = ["list_all", "make", "show"]

FIRST = 5


def list_all() -> Answer:
    """Name the problems."""
    found = [_facts(problem) for problem in catalogue.problems()]
    heads = ("name", "kind", "rows", "columns", "classes", "description")
    rows = [(f["name"], f["kind"], f"{f['n_rows']:,}", f["n_columns"], f["n_classes"], f["description"]) for f in found]
    return Answer({"command": "data list", "problems": found}, table(heads, rows, right="llrrrl"))


def show(name: str) -> Answer:
    """Describe a problem and show its first rows."""
    about = _find(name)
    columns, target = catalogue.make(name)
    text = io.StringIO()
    catalogue.write_csv(name, text)
    first = "".join(text.getvalue().splitlines(keepends=True)[: FIRST + 1]).rstrip()
    head = f"{name} ({about['kind']}): {about['description']}"
    counts = f"{about['n_rows']:,} rows, {about['n_columns']} columns, {about['n_classes']} classes; target: {target}"
    body = {"command": "data show", **about, "target": target, "columns": [c for c in columns if c != target]}
    return Answer(body, f"{head}\n{counts}\n\n{first}")


def make(kind: str, out: str | None, n: int | None, seed: int, *, wants_json: bool) -> Answer:
    """Write a problem as CSV."""
    name = _find(kind)["name"]
    if out is None and wants_json:
        refuse("with --json the table goes to a file: add --out CSV")
    check_outputs([], {"--out": out}, devices=True)
    columns, target = catalogue.make(name, n, random_state=seed)
    text = io.StringIO()
    catalogue.write_csv(name, text, n, random_state=seed)
    body = {"command": "data make", "name": name, "target": target, "n_rows": len(columns[target]), "seed": seed, "out": out}
    if out is None:
        click.echo(text.getvalue(), nl=False)
        return Answer(body)
    with complete_file(out) as file:
        file.write(text.getvalue().encode())
    return Answer(body, f"{out}: {body['n_rows']:,} rows; fit it with: halfspace fit {out} --target {target}")


def _facts(problem: Any) -> dict[str, Any]:
    """Return a problem as plain facts."""
    names = ("name", "kind", "description", "n_rows", "n_columns", "n_classes")
    return {name: getattr(problem, name) for name in names}


def _find(name: str) -> dict[str, Any]:
    """Return the facts of one problem, or refuse a name that no problem has."""
    found = {problem.name: problem for problem in catalogue.problems()}
    if name not in found:
        refuse(f"there is no problem {name!r}; there are: {', '.join(found)}")
    return _facts(found[name])
