"""The page: well formed, accessible, self-contained, and deaf to what hostile data say."""

import builtins
import re
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import pairwise

import numpy as np
import pytest

from halfspace.errors import FileError
from halfspace.report import gather, render, write

HOSTILE = '<script>alert("1")</script>'  # the first label of the shared ladders
VOID = {"meta", "br", "hr", "img", "input", "link"}
WINNERS = [
    pytest.param((winner, n), id=f"{winner}-{n}", marks=[pytest.mark.compiled] if winner == "kernel" else [])
    for winner in ("majority", "neighbours", "perceptron", "adaline", "adatron", "kernel")
    for n in (2, 3)
] + [pytest.param((winner, 0), id=f"{winner}-numbers") for winner in ("mean", "least_squares", "bayesian")]
CSS = files("halfspace.report").joinpath("page.css").read_text(encoding="utf-8")


class Page(HTMLParser):
    """Elements of a page in order, each with its ancestors and its text; tags that do not match are an error."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements = [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        element = {"tag": tag, "within": [e["tag"] for e in self.open], "attrs": dict(attrs), "text": "", "children": []}
        for parent in self.open[-1:]:
            parent["children"].append(element)
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        assert self.open.pop()["tag"] == tag

    def handle_data(self, data):
        for element in self.open:
            element["text"] += data

    def all(self, *tags):
        return [e for e in self.elements if e["tag"] in tags]


@pytest.fixture(scope="module", params=WINNERS)
def text(request, climbed, regressed):
    winner, n = request.param
    return render(gather(*(climbed(winner, n) if n else regressed(winner))))


@pytest.fixture(scope="module")
def report(breast_cancer):
    return render(gather(*breast_cancer, model_path="m.halfspace", file_path="my table.csv"))


def test_the_page_is_well_formed_and_accessible(text):
    """Tags match; language, title, viewport, one h1, headings in order; charts are named; tables have captions and scopes."""
    page = Page(text)
    assert text.startswith("<!DOCTYPE html>")
    assert page.all("html")[0]["attrs"]["lang"] == "en"
    assert page.all("title")[0]["text"].strip()
    assert any(e["attrs"].get("name") == "viewport" for e in page.all("meta"))
    levels = [int(e["tag"][1]) for e in page.all("h1", "h2", "h3", "h4")]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [e["attrs"]["id"] for e in page.elements if "id" in e["attrs"]]
    assert len(ids) == len(set(ids))
    for chart in page.all("svg"):
        assert chart["attrs"]["role"] == "img"
        named = {c["attrs"].get("id"): c for c in chart["children"] if c["tag"] in {"title", "desc"}}
        assert all(named[i]["text"].strip() for i in chart["attrs"]["aria-labelledby"].split())
    for table in page.all("table"):
        assert table["children"][0]["tag"] == "caption"
    assert all(e["attrs"].get("scope") in {"row", "col"} and e["text"].strip() for e in page.all("th"))
    assert all(e["attrs"]["href"][1:] in ids for e in page.all("a"))


def test_the_page_needs_nothing_from_outside(text):
    """No script, no picture, no style, no font and no link leads out of the file."""
    assert not re.search(r"https?:|//|@import|url\(|<link|<script|<iframe|<img|\ssrc\s*=|\son\w+\s*=", text)


def test_hostile_labels_and_columns_stay_text(climbed, breast_cancer):
    """A label or a column that is markup is shown as it is written, in text, in charts and in attributes."""
    text = render(gather(*climbed("perceptron", 3)))
    assert HOSTILE not in text
    assert HOSTILE in Page(text).all("body")[0]["text"]
    ladder, X, y = breast_cancer
    found = gather(ladder, X, y)
    names = ('"><svg onload=alert(1)>', "\x00\ud800 </title><b>", "a\nb")
    part = replace(found.influence[0], names=names, values=(3.0, -2.0, 1.0), label=names[0])
    text = render(replace(found, influence=(part,), source=names[0], verdict=names[0], notes=names, winner=found.winner))
    page = Page(text.replace("\x00", ""))
    assert not [e for e in page.elements if "onload" in e["attrs"]]
    assert not page.all("b")
    text.encode("utf-8")


def _themes():
    """Return the colours of each theme by name."""
    blocks = re.findall(r":root \{([^}]*)\}", CSS)
    return [dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", block)) for block in blocks]


def _luminance(colour):
    parts = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("theme", _themes(), ids=["light", "dark", "print"])
def test_colours_have_contrast(theme):
    """Every colour of text and marks has a contrast of 4.5 to both backgrounds, in every theme."""
    for front in ("ink", "quiet", "accent", "warn"):
        for back in ("paper", "panel"):
            low, high = sorted((_luminance(theme[front]), _luminance(theme[back])))
            assert (high + 0.05) / (low + 0.05) >= 4.5, (front, back)


def test_the_style_uses_named_colours_only():
    """Colours are written in the themes alone, so that the test of contrast sees all of them."""
    assert not re.search(r"#[0-9a-f]{3,6}\b|rgb|hsl", re.sub(r":root \{[^}]*\}", "", CSS))


def test_the_page_says_what_it_should(report):
    """The report on the breast-cancer data has its numbers, its command, and less than a megabyte."""
    words = Page(report).all("body")[0]["text"]
    assert len(report.encode()) < 1_000_000
    assert "halfspace certify m.halfspace 'my table.csv'" in words
    assert "worst" in words
    assert "95 % interval" in words
    assert len(Page(report).all("svg")) == 9


def test_a_skipped_rung_says_why(breast_cancer):
    """A rung that was skipped is in the table with its reason."""
    found = gather(*breast_cancer)
    rungs = (*found.rungs[:-1], replace(found.rungs[-1], skipped="it cannot <win>"))
    assert "Skipped: it cannot &lt;win&gt;" in render(replace(found, rungs=rungs))


def test_writing_is_whole_or_not_at_all(climbed, tmp_path):
    """A report replaces an older one; a folder that is not there is refused in one sentence and leaves nothing behind."""
    path = tmp_path / "report.html"
    path.write_text("old")
    write(*climbed("perceptron", 2), path, model_path="m", file_path="f")
    assert path.read_text(encoding="utf-8").rstrip().endswith("</html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileError, match="could not be written"):
        write(*climbed("perceptron", 2), tmp_path / "none" / "report.html")


def test_without_jinja2_the_extra_is_named(climbed, monkeypatch):
    """Where jinja2 is missing, the error names what to install."""
    found = gather(*climbed("majority", 2))
    real = builtins.__import__

    def importing(name, *rest):
        if name == "jinja2":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", importing)
    with pytest.raises(ImportError, match=r"halfspace\[cli\]"):
        render(found)
