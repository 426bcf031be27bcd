"""`halfspace schema`: the published JSON schemas of what `--json` prints."""

import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from halfspace.cli.frame import Answer, refuse

__all__ = ["names", "read", "run"]


def names() -> list[str]:
    """Return the names of the schemas, sorted."""
    return sorted(entry.name.removesuffix(".json") for entry in _folder().iterdir() if entry.name.endswith(".json"))


def read(name: str) -> dict[str, Any]:
    """Return a schema as a dictionary."""
    if name not in names():
        refuse(f"there is no schema {name!r}; there are: {', '.join(names())}")
    schema: dict[str, Any] = json.loads(_folder().joinpath(f"{name}.json").read_text(encoding="utf-8"))
    return schema


def run(name: str) -> Answer:
    """Answer with one schema."""
    schema = read(name)
    return Answer(schema, json.dumps(schema, indent=2))


def _folder() -> Traversable:
    """Return the folder of the schemas inside the package."""
    return files("halfspace").joinpath("schemas")
