"""The report: one HTML file about a fitted ladder that opens offline, prints, and can be read aloud.

`gather` collects plain numbers, `render` makes the page of them, `write` does both and puts the file in place whole.
"""

from halfspace.report.findings import Findings
from halfspace.report.gathering import gather
from halfspace.report.page import render, write

__all__ = ["Findings", "gather", "render", "write"]
