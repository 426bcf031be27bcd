"""CONTRIBUTING's worked example, followed literally, gives an estimator that passes its laws and can be saved."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_worked_example_works(tmp_path):
    """Two files, one public name and one test file, written as the page says, are all that a new algorithm takes."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    pattern = r"^Steps? [^\n`]*`([\w/.]+\.py)`(?:(?!^Step).)*?^```python\n(.*?)^```"
    blocks = re.findall(pattern, TEXT, flags=re.MULTILINE | re.DOTALL)
    assert [Path(path).name for path, _ in blocks] == ["normalised.py", "normalised.py", "test_normalised.py"]
    for path, code in blocks:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(code, encoding="utf-8")
    with (tmp_path / "src/halfspace/__init__.pyi").open("a", encoding="utf-8") as public:
        public.write(
            re.search(r"^`(from halfspace\.models\.planes\.normalised import [^`]+)`", TEXT, flags=re.MULTILINE)[1] + "\n"
        )
    paths = [tmp_path / path for path, _ in blocks[1:]]
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "--doctest-modules", "--rootdir", tmp_path, *paths]
    settings = {"PYTHONPATH": str(tmp_path / "src"), "NUMBA_DISABLE_JIT": "1"}
    ran = subprocess.run(command, cwd=tmp_path, env=os.environ | settings, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert " passed" in ran.stdout
