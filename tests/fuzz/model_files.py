"""Model files: bytes under the old checksum; trees, arrays and headers under a new one."""

import json
import marshal
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import NotFittedError

import halfspace as hs
from fuzz.engine import Target, folder_in_memory
from fuzz.models import all_models, data_of, fitted, ladders_and_encoders
from fuzz.mutations import JUNK, change_array, change_bytes, change_tree, doubled_name
from fuzz.parts import File, seal, sealed
from halfspace.errors import InputError, ModelFileError
from halfspace.modelfiles import load
from halfspace.modelfiles.codec import Decoder, Encoder
from halfspace.modelfiles.container import Contents
from halfspace.modelfiles.files import tree_of

__all__ = ["ModelFiles"]

MODEL_JUNK = [
    *JUNK,
    *({"@float": name} for name in ("nan", "inf", "-inf")),
    {"@array": "0"},
    {"@array": "1", "order": "F"},
    {"@array": "0", "from": 0, "shape": [1]},
    {"@array": "0", "from": 1, "shape": [0, 3]},
    {"@tuple": []},
    {"@tuple": [1.0, "x"]},
    {"@dict": [[1, 2]]},
    {"@dict": [[[], 1]]},
    {"@text": "0", "shape": [1]},
    {"@labels": ["a", 1], "codes": "0"},
    {"@scalar": "0"},
    {"@record": "Outcome", "fields": {}},
    {"@record": "Outcome", "fields": {"reason": "converged", "sentence": "", "remedy": ""}},
    {"@kernel": "RBF", "params": {"gamma": 1.0}},
    {"@kernel": "RBF", "params": {"gamma": 1e308}},
    {"@kernel": "Linear", "params": {}},
    {"@kernel": "Polynomial", "params": {"degree": 999, "gamma": 1.0, "coef0": 1.0}},
    {"@kernel": "Precomputed", "params": {}},
    {"@model": "AdaTron", "params": {}, "fitted": {}},
    {"@model": "KMeans", "params": {"n_clusters": 3}, "fitted": {}},
    {"@certificate": {"kind": "OneLabel", "label": "a"}},
]
METHODS = ("predict", "decision_function", "predict_proba", "transform", "score_samples", "responsibilities", "bic", "encode")
LARGEST = 64
"""Widest rows that are made for a model that expects others than its original did."""


class Subject(NamedTuple):
    """A model file in the making: its data, and its tree with its arrays, or the text of the tree, or the bytes of the file."""

    name: str
    tree: Any = None
    arrays: dict[str, Any] | None = None
    text: str | None = None
    raw: bytes | None = None


class ModelFiles(Target):
    """Mutants of saved models: a file is refused, or the model in it can be used and saved again."""

    name, suffix, share = "model files", ".halfspace", 2.0
    seconds = 30.0  # a type of numbers that no original has may have to be compiled

    def corpus(self):
        self._models, self._folder = {}, folder_in_memory()
        np.random.seed(0)  # noqa: NPY002  (what models without a random_state take their chance from)
        for name in all_models():
            self._add(name, *fitted(name))
        for name, (model, X, y) in ladders_and_encoders().items():
            self._add(name, model.fit(X, y), X, y)
        self._add("nothing", hs.AdaTron(), *data_of("targets"))
        self._names = list(self._models)
        return len(self._names)

    def _add(self, name, model, X, y):
        encoder = Encoder()
        tree = json.dumps(encoder.model(model))
        arrays = {str(k): array for k, array in enumerate(encoder.arrays)}
        self._models[name] = marshal.dumps(json.loads(tree)), arrays, X, y

    def original(self, number):
        name = self._names[number]
        return Subject(name, self._tree(name), dict(self._models[name][1]))

    def _tree(self, name):
        """Return a new copy of the tree of an original."""
        return marshal.loads(self._models[name][0])  # noqa: S302  (our own; twice as fast as JSON)

    def change(self, subject, chance):
        kind = chance.randrange(40)
        if subject.raw is not None or kind == 0:  # damage without a new checksum
            return subject._replace(raw=change_bytes(self.content(subject), chance))
        if subject.text is not None or kind < 4:
            text = json.dumps(subject.tree) if subject.text is None else subject.text
            edited = doubled_name(text, chance) if kind % 2 else change_bytes(text.encode(), chance).decode(errors="replace")
            return subject._replace(text=edited)
        if kind < 6:
            return subject._replace(raw=self._header_changed(subject, chance))
        if kind < 14 and subject.arrays:
            name = chance.choice(list(subject.arrays))
            subject.arrays[name] = change_array(subject.arrays[name], chance)
        else:
            strange = self._tree(chance.choice(self._names)) if kind == 14 else None
            change_tree(subject.tree, chance, MODEL_JUNK, strange)
        return subject

    def _header_changed(self, subject, chance):
        """Return a file whose description of the arrays is changed, sealed again."""
        content = self.content(subject)
        file = File(content)
        change_tree(file.header, chance)
        try:
            return seal(file.header, file.about, json.dumps(file.tree), bytes(file.data))
        except (KeyError, TypeError, AttributeError):  # the change took away what is to be sealed
            return content

    def content(self, subject):
        if subject.raw is not None:
            return subject.raw
        text = json.dumps(subject.tree) if subject.text is None else subject.text
        try:
            return sealed(text, subject.arrays)
        except UnicodeEncodeError:  # no file can hold that
            return b""

    def revived(self, content, number):
        return Subject(self._names[number], raw=content)

    def tried(self, subject):
        try:
            model = self._loaded(subject)
        except ModelFileError:
            return False
        *_, X, y = self._models[subject.name]
        use(model, X, y)
        return True

    def _loaded(self, subject):
        if subject.raw is not None:
            path = self._folder / "mutant"
            path.write_bytes(subject.raw)
            return load(path)
        text = json.dumps(subject.tree) if subject.text is None else subject.text
        return tree_of(Contents(2, "0.1.0", text, subject.arrays), "mutant").decode()


def use(model, X, y):
    """Do with a model what users do with one; an error of ours, or that it is not fitted, is an answer."""
    repr(model)
    _asked_about_rows(model, X)
    for name in dir(model):
        if name.endswith("_") and name[0] != "_":
            answered(getattr, model, name)
    for name in ("support_table", "summary", "sample", "sample_posterior"):
        if hasattr(model, name):
            answered(getattr(model, name))
    str(getattr(model, "certificate_", None))
    judge = model if hasattr(model, "verify") else getattr(model, "certificate_", None)
    if judge is not None:
        answered(judge.verify, X, y)
    encoder = Encoder()
    tree = json.loads(json.dumps(encoder.model(model), allow_nan=False))
    again = Decoder({str(k): array for k, array in enumerate(encoder.arrays)}).decode(tree)
    if hasattr(again, "partial_fit"):
        answered(again.partial_fit, *((X[:6],) if y is None else (X[:6], y[:6])))


def _asked_about_rows(model, X):
    """Ask for everything that a model says about rows."""
    d = getattr(model, "n_features_in_", X.shape[1])
    rows = X if d == X.shape[1] else np.ones((3, min(d, LARGEST)))
    for name in METHODS:
        if hasattr(model, name):
            answered(getattr(model, name), rows)
    for name in ("predict_set", "predict_interval"):
        if hasattr(model, name):
            answered(getattr(model, name), rows, 0.7)  # a level that few rows can give
    if isinstance(model, hs.BayesianRegression):
        answered(model.predict, rows, True)


def answered(ask, *arguments):
    """Ask something of a model; it may say that this model has no such thing, which is an AttributeError of ours."""
    try:
        ask(*arguments)
    except (InputError, NotFittedError):
        pass
    except ValueError as error:
        if "seed" not in str(error).lower():  # a random_state that scikit-learn or NumPy refuses
            raise
    except AttributeError as error:
        if error.name is not None:  # Python's own
            raise
