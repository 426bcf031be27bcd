"""The page in a real browser: no errors, and no wider than a telephone."""

import html
import re
import shutil
import subprocess

import pytest

from halfspace.report import gather, render

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FRAME = """<!DOCTYPE html><title>A telephone</title>
<iframe style="border: 0; width: {width}px; height: 2000px" srcdoc="{page}" onload="
document.body.dataset.widths = [contentDocument.documentElement.scrollWidth, contentWindow.innerWidth]"></iframe>"""

pytestmark = [
    pytest.mark.compiled,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to look at the page with"),
]


@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_loads_the_page_without_errors_and_without_scrolling_sideways(breast_cancer, tmp_path, width):
    """The page loads offline, writes nothing to the console, and is no wider than its window."""
    page = render(gather(*breast_cancer))
    path = tmp_path / "frame.html"  # in a frame, because a window of its own is at least 500 pixels wide
    path.write_text(FRAME.format(width=width, page=html.escape(page)), encoding="utf-8")
    flags = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--window-size=1400,2100",
    ]
    done = subprocess.run(
        [CHROMIUM, *flags, "--enable-logging=stderr", "--v=0", "--dump-dom", path.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert "CONSOLE" not in done.stderr
    content, window = map(int, re.search(r'data-widths="(\d+),(\d+)"', done.stdout).groups())
    assert window == width
    assert content <= window
