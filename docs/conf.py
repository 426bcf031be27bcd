"""Sphinx settings; nothing here needs the network."""

import hashlib
import os
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
# Numba's own check misses changes in other files, so the examples get a cache folder named by a hash of the sources.
STATE = hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:16]
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".numba_cache" / STATE))

project = "halfspace"
author = "The halfspace maintainers"
copyright = author  # noqa: A001  (the name Sphinx reads)
version = release = re.findall(r'__version__ = "(.+)"', (ROOT / "src/halfspace/__init__.py").read_text(encoding="utf-8"))[0]

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc", "sphinx_gallery.gen_gallery"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build"]
nitpicky = False

html_theme = "alabaster"
html_title = f"halfspace {version}"
html_theme_options = {"show_powered_by": False, "page_width": "1080px", "fixed_sidebar": True}
html_show_sourcelink = False

autosummary_generate = True
autodoc_default_options = {"members": True, "inherited-members": "BaseEstimator,tuple", "show-inheritance": False}
autodoc_typehints = "none"  # the docstrings give shapes, which types cannot
numpydoc_show_class_members = False  # autodoc lists them
numpydoc_attributes_as_param_list = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "show_memory": False,
    "write_computation_times": False,  # its page would load a script from the network
    "show_signature": False,
    "download_all_examples": False,
}


def skip_inherited(_app, _what, _name, member, _skip, _options):  # noqa: ANN001, ANN201  (Sphinx's signature)
    """Leave out what scikit-learn and tuple document themselves; None leaves the decision to Sphinx."""
    origin = getattr(member, "__module__", None) or ""
    return True if origin.startswith("sklearn") or getattr(member, "__objclass__", None) is tuple else None


def setup(app):  # noqa: ANN001, ANN201  (Sphinx's signature)
    """Connect the choice of members."""
    app.connect("autodoc-skip-member", skip_inherited)
