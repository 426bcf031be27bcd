"""Perceptrons, large-margin classifiers and their kin, that prove what they claim.

The public names are listed once, in `__init__.pyi`, which type checkers and editors read. Here each is imported when it is
first used, so that a process that only checks a certificate imports no solver, and one that delivers a mail next to nothing.
"""

__version__ = "0.1.0"


def _homes() -> dict[str, str]:
    """Return the module of each public name, read when the first is asked for."""
    import re  # noqa: PLC0415  (a delivery needs none of these)
    from pathlib import Path  # noqa: PLC0415

    text = Path(__file__).with_suffix(".pyi").read_text("utf-8")
    found = {name: home for home, name in re.findall(r"^from (\S+) import (\w+)", text, re.MULTILINE)}
    globals().update(_HOMES=found, __all__=[*found])
    return found


def __getattr__(name: str) -> object:
    """Import a public name from its module."""
    from importlib import import_module  # noqa: PLC0415  (likewise)

    from halfspace._collector import pause, resume  # noqa: PLC0415

    homes = globals().get("_HOMES") or _homes()
    if name in {"__all__", "_HOMES"}:
        return globals()[name]
    home = homes.get(name)
    if home is None:
        msg = f"module 'halfspace' has no attribute {name!r}"
        raise AttributeError(msg)
    pause()
    try:
        module = import_module(f"halfspace.{name}" if home == "halfspace" else home)
    finally:
        resume()
    if home == "halfspace":
        return module
    value = globals()[name] = getattr(module, name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_homes()})
