"""The README says what happens."""

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import halfspace as hs
from halfspace.errors import NotSeparatedWarning

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


@pytest.mark.compiled
def test_the_ten_lines_print_what_the_readme_says():
    """The first example runs, and prints what its comments say."""
    code = re.search(r"```python\n(.*?)```", README, re.DOTALL).group(1)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})  # noqa: S102  (our own README)
    comments = re.findall(r"print\(.*?\)  # (.*)", code)
    assert len(comments) == 3
    for line, comment in zip(printed.getvalue().splitlines(), comments, strict=True):
        assert comment.startswith(line)


def test_xor_is_refused_in_the_words_of_the_readme():
    """The outcome on XOR is the sentence the README quotes."""
    quoted = re.search(r"outcome_\n(Proved.*?)```", README, re.DOTALL).group(1)
    with pytest.warns(NotSeparatedWarning):
        outcome = hs.Perceptron().fit(*hs.data.xor()[:2]).outcome_
    assert " ".join(quoted.split()) == str(outcome)
