"""The page on the main job says what happens."""

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "main_job.md").read_text(encoding="utf-8")
VARIES = {
    r"\d[\d.]*(e-\d+)? s\b": "TIME s",
    r"\d[\d.]*e-\d+": "TINY",
    r"(\d\.\d\d)\d{4,}": r"\1",
    r"[\d,]+ bytes": "SIZE bytes",
    r"On \d{4}-.*": "On DATE",
    r"\d+ examples cross \(rows [^)]*\)": "EXAMPLES cross",
    r"─+": "─",
    r"\s+": " ",
}
"""What differs from run to run or from machine to machine, and what to read instead."""


def settled(text):
    """Return a text without what varies."""
    for pattern, word in VARIES.items():
        text = re.sub(pattern, word, text)
    return text.strip()


@pytest.mark.compiled
def test_the_commands_of_the_page_print_what_it_shows(tmp_path):
    """Every command and block of code runs after the one before, in one folder, and prints the text below it."""
    runner = pytest.importorskip("click.testing").CliRunner()
    from halfspace.cli import main

    blocks = re.findall(r"```(console|python)\n(.*?)```(?:\n\n```text\n(.*?)```)?", PAGE, re.DOTALL)
    assert len(blocks) >= 7
    with contextlib.chdir(tmp_path):
        for kind, block, text in blocks:
            if kind == "python":
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(block, "main_job.md", "exec"), {})  # noqa: S102  (our own page)
                assert printed.getvalue() == text
                continue
            for command, shown in re.findall(r"\$ halfspace (.*)\n((?:[^$].*\n|\n)*)", block):
                ran = runner.invoke(main, command.split(), prog_name="halfspace")
                assert ran.exit_code == 0, ran.stderr
                assert settled(ran.stdout) == settled(shown), command
