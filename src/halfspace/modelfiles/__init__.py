"""Model files: what was learnt, as arrays and JSON; nothing in them is code.

`save` writes a model so that a crash leaves the old file whole; `load` reads it back to bit-equal predictions, or refuses it
with `ModelFileError`. Nothing in a file names code to run. `read_tree` reads parts of a file, importing only what they need.
"""

from halfspace.modelfiles.files import Tree, load, read_tree, save

__all__ = ["Tree", "load", "read_tree", "save"]
