"""The pages of the documentation say what happens."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = {
    "index": 1,
    "large_margins": 15,
    "kernels": 9,
    "kernel_machines": 8,
    "novelty": 5,
    "prototypes": 8,
    "probabilities": 1,
    "regression": 7,
    "intervals": 3,
    "model_export": 2,
    "validation": 8,
}
"""Pages with code, and the fewest blocks that each must have."""
TINY = r"(?<=gap )\d\.\d+|[\d.]+e-\d+"
"""Gaps and roundings, which differ from machine to machine."""
LONG = r"\d+\.\d{5,}"
"""Numbers with so many digits that the last ones do."""


@pytest.mark.compiled
@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_print_what_it_shows(page):
    """Every block of code runs after the one before, and prints the text below it, or nothing."""
    if page == "model_export":
        pytest.importorskip("onnxruntime")
    text = (DOCS / f"{page}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n(?:\n(?:It prints\n\n)?```text\n(.*?)```)?", text, re.DOTALL)
    assert len(blocks) == text.count("```python") >= PAGES[page]
    names = {}
    for code, shown in blocks:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(code, f"{page}.md", "exec"), names)  # noqa: S102  (our own page)
        texts = [re.sub(TINY, "TINY", text) for text in (printed.getvalue(), shown)]
        assert len({re.sub(LONG, "LONG", text) for text in texts}) == 1, "\n".join(texts)
        ours, theirs = ([float(number) for number in re.findall(LONG, text)] for text in texts)
        assert ours == pytest.approx(theirs, rel=1e-3)
