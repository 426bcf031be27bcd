"""The page on regression says what happens."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[1] / "docs" / "regression.md").read_text(encoding="utf-8")


@pytest.mark.compiled
def test_the_blocks_of_the_page_print_what_it_shows():
    """Every block of code runs after the one before, and prints the text below it, or nothing."""
    blocks = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", PAGE, re.DOTALL)
    assert len(blocks) == PAGE.count("```python") >= 6
    names = {}
    for code, text in blocks:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, "regression.md", "exec"), names)  # noqa: S102  (our own page)
        assert printed.getvalue() == text
