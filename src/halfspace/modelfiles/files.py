"""Saving and loading models, and reading parts of a file."""

import json
from pathlib import Path
from typing import Any

from halfspace.errors import FileError, ModelFileError
from halfspace.files.opening import on_disk
from halfspace.modelfiles.codec import Decoder, Encoder
from halfspace.modelfiles.container import Contents, parse, read, write
from halfspace.modelfiles.format1 import Format1Decoder

__all__ = ["Tree", "load", "read_tree", "save", "tree_of"]


def save(model: Any, path: str | Path) -> None:
    """Write a model to a file; a crash at any moment leaves what was there before.

    Parameters
    ----------
    model : estimator of halfspace
        Fitted or not: any classifier, `TableEncoder` or `Ladder`.
    path : path
        Where to; ".halfspace" is the suffix we recommend. A file of that name is replaced.

    Raises
    ------
    ModelFileError
        If the model holds what a file cannot hold (a function, say), or the file cannot be written.

    Examples
    --------
    >>> import tempfile, numpy as np, halfspace as hs
    >>> X, y = np.array([[1.0], [2.0], [-1.0]]), np.array(["yes", "yes", "no"])
    >>> path = Path(tempfile.mkdtemp()) / "model.halfspace"
    >>> hs.save(hs.AdaTron().fit(X, y), path)
    >>> hs.load(path).predict(X).tolist()
    ['yes', 'yes', 'no']
    """
    encoder = Encoder()
    tree = json.dumps(encoder.model(model), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    write(path, tree, encoder.arrays)


def load(path: str | Path) -> Any:
    """Read a model from a file; nothing in the file is run, and a damaged or malicious one is refused.

    Parameters
    ----------
    path : path
        A file that `save` wrote.

    Returns
    -------
    estimator
        With bit-equal predictions, the same parameters and the same certificate.

    Raises
    ------
    ModelFileError
        If this is no model file, is damaged, or is of a newer format.
    OSError
        If there is no such file, or it may not be read.

    Examples
    --------
    >>> load(__file__)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    halfspace.errors.ModelFileError: ...files.py cannot be loaded: it is not a halfspace model file: ...
    """
    return read_tree(path).decode()


def read_tree(path: str | Path) -> "Tree":
    """Read a file and check that it is undamaged, but make no objects yet.

    Parameters
    ----------
    path : path
        A file that `save` wrote.

    Returns
    -------
    Tree
        Parts of it are decoded when asked for, and import only what they need.
    """
    try:
        with on_disk(path) as file:
            contents = read(file)
    except FileError as error:
        raise ModelFileError(str(error)) from error
    except (ModelFileError, MemoryError, OverflowError) as error:
        raise _named(path, error) from error
    return tree_of(contents, path)


def tree_of(contents: Contents, path: str | Path) -> "Tree":
    """Return the tree of an undamaged file's contents; `path` is only what to call it."""
    try:
        node = _root(parse(contents.tree))
    except (ModelFileError, MemoryError) as error:
        raise _named(path, error) from error
    decoder = (Format1Decoder if contents.format == 1 else Decoder)(contents.arrays)
    return Tree(str(path), contents.version, node, decoder)


def _root(node: Any) -> dict[str, Any]:
    """Return the node of a model."""
    if not isinstance(node, dict) or not isinstance(node.get("@model"), str):
        msg = "it holds no model"
        raise ModelFileError(msg)
    return node


def _named(path: str | Path, error: Exception) -> ModelFileError:
    """Return an error that names the file."""
    return ModelFileError(f"{path} cannot be loaded: {str(error).rstrip('.')}.")


def _is_model(node: Any) -> bool:
    return isinstance(node, dict) and "@model" in node


class Tree:
    """An undamaged model file, whose parts are decoded when asked for.

    Parameters
    ----------
    path : str
        The file.
    version : str
        Of the halfspace that wrote it.
    node : dict
        The JSON node of a model.
    decoder : Decoder
        Knows the arrays it refers to.

    Attributes
    ----------
    model : str
        The class, e.g. "AdaTron".
    params, fitted : tuple of str
        Names of its parameters and of what it learnt.
    """

    def __init__(self, path: str, version: str, node: dict[str, Any], decoder: Decoder) -> None:
        self.path, self.version, self._node, self._decoder = path, version, node, decoder
        self.model: str = node["@model"]
        self.params, self.fitted = tuple(self._names("params")), tuple(self._names("fitted"))

    def _names(self, part: str) -> dict[str, Any]:
        """Return the nodes of the parameters, or of what was learnt."""
        found = self._node.get(part)
        if not isinstance(found, dict):
            raise _named(self.path, ValueError(f"its tree is damaged: {self.model} has no {part}"))
        return found

    def __contains__(self, name: str) -> bool:
        return name in self.fitted or name in self.params

    def _find(self, name: str) -> Any:
        """Return the node of a parameter or learnt attribute."""
        nodes = {**self._names("params"), **self._names("fitted")}
        if name not in nodes:
            raise _named(self.path, ValueError(f"the {self.model} in it has no {name!r}"))
        return nodes[name]

    def part(self, name: str) -> "Tree":
        """Return the tree of a model within the model, e.g. of "encoder_"."""
        node = self._find(name)
        if not isinstance(node, dict) or not isinstance(node.get("@model"), str):
            raise _named(self.path, ValueError(f"{name!r} of the {self.model} in it is no model"))
        return Tree(self.path, self.version, node, self._decoder)

    def certificate(self) -> Any:
        """Return the certificate of the model, or of the model within it that has one; None if there is none."""
        if "estimator_" in self.fitted:
            return self.part("estimator_").certificate()
        names = [name for name in ("certificate_", "_certificate") if name in self.fitted]
        return self.decode(names[0]) if names else None

    def predicting(self) -> "Tree":
        """Return the tree of the model that predicts: this one, or the model within it."""
        return self.part("estimator_").predicting() if "estimator_" in self.fitted else self

    def learnt(self) -> dict[str, Any]:
        """Return the learnt attributes by name, but for certificates; of a model within the model its own, by name.

        Records stay records: what an attribute must be, only its class knows, which would have to be imported.
        """
        nodes = self._names("fitted")
        names = [name for name in nodes if name.strip("_") != "certificate" and not _is_model(nodes[name])]
        within = {name: self.part(name).learnt() for name in nodes if _is_model(nodes[name])}
        return self._decoder.renewed(self.model, {name: self.decode(name) for name in names}) | within

    def decode(self, name: str | None = None) -> Any:
        """Return a parameter or learnt attribute by name, or the whole model.

        Parameters
        ----------
        name : str, optional
            As in `params` and `fitted`. Arrays of repeated calls share their memory.
        """
        node = self._node if name is None else self._find(name)
        try:
            return self._decoder.decode(node)
        except ModelFileError as error:
            raise _named(self.path, error) from error
