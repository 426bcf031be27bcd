"""`python -m halfspace` is the command `halfspace`.

Mail servers start `halfspace mail score` and `halfspace mail learn` for each message: these go a short way, by the standard
library alone, before anything else is imported.
"""

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line."""
    if sys.argv[1:2] == ["mail"] and sys.argv[2:3] in (["score"], ["learn"]) and not {"-h", "--help"} & {*sys.argv}:
        from halfspace.mail.one_shot import run  # noqa: PLC0415  (the short way)

        sys.exit(run(sys.argv[2], sys.argv[3:]))
    if sys.argv[1:2] == ["fit"] and not {"-h", "--help"} & {*sys.argv}:
        from halfspace.cli import beside  # noqa: PLC0415  (before anything slow)

        beside.start()
    from halfspace.cli import main as command_line  # noqa: PLC0415  (the long way)

    command_line(prog_name="halfspace")


if __name__ == "__main__":
    main()
