"""The README and the pages on commands, estimators and speed say what happens."""

import contextlib
import importlib
import io
import re
import shlex
from inspect import ismodule
from operator import attrgetter
from pathlib import Path

import pytest

import halfspace as hs
from halfspace.errors import NotSeparatedWarning

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
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


def run_python(code):
    """Return what a block of code prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "page", "exec"), {})  # noqa: S102  (our own pages)
    return printed.getvalue()


@pytest.mark.compiled
@pytest.mark.parametrize("page", ["README.md", "docs/main_job.md"])
def test_commands_print_what_a_page_shows(page, tmp_path):
    """Every command, and every block of code on the page of commands, runs in one folder and prints the text below it."""
    runner = pytest.importorskip("click.testing").CliRunner()
    from halfspace.cli import main

    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```(console|python)\n(.*?)```(?:\n\n```text\n(.*?)```)?", text, re.DOTALL)
    with contextlib.chdir(tmp_path):
        runner.invoke(main, ["data", "make", "rings", "--out", "rings.csv"])
        for kind, block, shown in blocks:
            if kind == "console":
                for command, below in re.findall(r"\$ halfspace (.*)\n((?:[^$].*\n|\n)*)", block):
                    ran = runner.invoke(main, shlex.split(command), prog_name="halfspace")
                    assert ran.exit_code == 0, ran.stderr
                    assert settled(ran.stdout) == settled(below), command
            elif page != "README.md":
                assert run_python(block) == shown


@pytest.mark.compiled
def test_the_ten_lines_print_what_the_readme_says():
    """The example in Python runs, and prints what its comments say."""
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    assert len(code.strip().replace("\n\n", "\n").splitlines()) <= 10
    comments = re.findall(r"print\(.*?\)  # (.*)", code)
    assert len(comments) == 3
    for line, comment in zip(run_python(code).splitlines(), comments, strict=True):
        assert comment.startswith(line)


def test_xor_is_refused_in_the_words_of_the_page():
    """The outcome on XOR is the sentence that the page on estimators quotes."""
    page = (ROOT / "docs" / "estimators.md").read_text(encoding="utf-8")
    quoted = re.search(r"outcome_\n(Proved.*?)```", page, re.DOTALL).group(1)
    with pytest.warns(NotSeparatedWarning):
        outcome = hs.Perceptron().fit(*hs.data.xor()[:2]).outcome_
    assert " ".join(quoted.split()) == str(outcome)


def test_the_page_on_estimators_lists_them_all():
    """Every public class that can be fitted is in the table."""
    page = (ROOT / "docs" / "estimators.md").read_text(encoding="utf-8")
    estimators = [name for name in hs.__all__ if hasattr(getattr(hs, name), "fit")]
    assert not [name for name in estimators if f"`{name}`" not in page and f"`hs.{name}`" not in page]


def test_the_speed_tables_are_those_of_the_kept_runs(monkeypatch):
    """README, docs/speed.md and RESULTS.md hold what `python -m benchmarks --tables` would write."""
    monkeypatch.syspath_prepend(ROOT)
    from benchmarks import tables

    for path, text in tables.pages().items():
        assert path.read_text(encoding="utf-8") == text, path.name


def test_the_reference_lists_public_names_that_exist():
    """Every name in the reference can be looked up, and every public estimator, certificate and kernel is in it."""
    page, listed = (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), set()
    for module, block in re.findall(r"currentmodule:: (\S+)\n(.*?)```", page, re.DOTALL):
        listed |= {f"{module}.{name}" for name in re.findall(r"^   ([\w.]+)$", block, re.MULTILINE)}
    for name in listed:
        importlib.import_module(name.rpartition(".")[0])
        assert attrgetter(name.partition(".")[2])(hs), name
    public = {
        "halfspace": hs.__all__,
        "halfspace.certificates": hs.certificates.__all__,
        "halfspace.kernels": hs.kernels.__all__,
    }
    names = {f"{module}.{name}" for module, names in public.items() for name in names if not name.startswith("_")}
    assert not sorted(name for name in names - listed if not ismodule(attrgetter(name.partition(".")[2])(hs)))


def test_the_words_of_the_lectures_lead_to_names_that_exist():
    """Every name `hs.…` or `halfspace.…` on the page of the lectures can be looked up."""
    page = (ROOT / "docs" / "lectures.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(?:hs|halfspace)\.([\w.]+)", page):
        if name.startswith("plots."):
            pytest.importorskip("halfspace.plots")
        assert attrgetter(name)(hs), name


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))])
def test_links_between_pages_lead_somewhere(page):
    """Every relative link of a page names a file that exists."""
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([\w./]+\.(?:md|png))(?:#[\w-]+)?\)", text)
    assert not [link for link in links if not (ROOT / page).parent.joinpath(link).exists()]
