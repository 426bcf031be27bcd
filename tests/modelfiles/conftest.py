"""Models to save, and files to damage."""

import contextlib
import hashlib
import json
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs

import halfspace as hs
from halfspace import kernels


def data_of(kind):
    """Return examples and labels of one kind."""
    X, y = make_blobs(24, 3, centers=2 if kind in ("two", "single", "matrix") else 3, cluster_std=2.5, random_state=1)
    words = np.array(["a", "bb", "ccc"])[y]
    return {
        "two": (X, y),
        "three": (X, words),
        "objects": (X, words.astype(object)),
        "single": (X.astype(np.float32), y.astype(bool)),
        "sparse": (sparse.csr_matrix(np.where(np.abs(X) > 2, X, 0.0)), words),
        "matrix": (X @ X.T, y),
        "unlabelled": (X, None),
        "targets": (X, X @ [1.0, -2.0, 0.5] + np.sin(np.arange(24.0))),
        "two targets": (X, X[:, :2] * 2.0 + 1.0),
    }[kind]


def _machines():
    """Return kernel models with their options."""
    perceptron, machine = hs.KernelPerceptron, hs.KernelAdaTron
    return {
        "kernel plain": (perceptron(max_iter=3), "three"),
        "kernel voted": (perceptron(max_iter=2, variant="voted"), "three"),
        "kernel averaged": (perceptron(max_iter=2, variant="averaged"), "two"),
        "projectron": (perceptron(max_iter=2, budget=5), "three"),
        "tabled budget": (perceptron(max_iter=2, budget=5), "sparse"),
        "kernel minover": (hs.KernelMinOver(max_iter=50), "three"),
        "machine": (machine(), "two"),
        "machine single": (machine(), "single"),
        "machine sparse": (machine(), "sparse"),
        "machine pairs": (machine(multi_class="ovo"), "three"),
        "machine cells": (machine(n_cells=3), "three"),
        "machine free": (machine(intercept="free", class_weight={"a": 2.0, "bb": 1.0, "ccc": 1.0}), "objects"),
        "machine formula": (machine(kernels.RBF(0.5) + 2 * kernels.Linear() ** 2), "three"),
        "machine matrix": (machine("precomputed"), "matrix"),
        "machine chance": (machine(random_state=np.random.RandomState(3)), "two"),
        "machine tuned": (hs.KernelAdaTronCV(Cs=[0.1, 10.0], gammas=[0.1, 1.0], cv=2), "three"),
    }


def _by_prototypes():
    """Return the classifiers by prototypes."""
    return {
        "lvq": (hs.LVQ(max_iter=3, random_state=0), "objects"),
        "glvq": (hs.GLVQ(n_prototypes=2, max_iter=5, random_state=0), "three"),
        "glvq online": (hs.GLVQ(optimizer="online", max_iter=3, random_state=0), "sparse"),
        "grlvq": (hs.GRLVQ(max_iter=5, random_state=0), "single"),
        "gmlvq": (hs.GMLVQ(max_iter=5, random_state=0), "two"),
        "gmlvq per class": (hs.GMLVQ(rank=2, per_class=True, max_iter=5, random_state=0), "three"),
    }


def _without_classes():
    """Return what learns from targets that are numbers, or from none."""
    return {
        "quantizer": (hs.VectorQuantizer(3, random_state=0), "unlabelled"),
        "gas": (hs.NeuralGas(3, random_state=0), "unlabelled"),
        "k-means": (hs.KMeans(3, random_state=0), "unlabelled"),
        "mixture": (hs.IsotropicMixture(2, random_state=0), "unlabelled"),
        "mixture each": (hs.IsotropicMixture(2, sigma="each", random_state=0), "unlabelled"),
        "regression": (hs.LinearRegression(ridge="cv", intercept="clamped"), "targets"),
        "regression twice": (hs.LinearRegression(intercept="free"), "two targets"),
        "bayesian": (hs.BayesianRegression(), "targets"),
        "filter": (hs.AdaptiveFilter(n_taps=2), "targets"),
    }


def all_models():
    """Return every estimator, with the options that change what it keeps, and the kind of data for it."""
    linear = {
        "perceptron": (hs.Perceptron(max_iter=5), "three"),
        "native": (hs.Perceptron(multi_class="native", max_iter=5), "three"),
        "no bias": (hs.Perceptron(intercept="none", max_iter=5), "single"),
        "averaged": (hs.AveragedPerceptron(max_iter=3), "three"),
        "averaged sparse": (hs.AveragedPerceptron(max_iter=3), "sparse"),
        "voted": (hs.VotedPerceptron(max_iter=2), "three"),
        "voted sparse": (hs.VotedPerceptron(max_iter=2), "sparse"),
        "pocket": (hs.PocketPerceptron(max_iter=3), "two"),
        "hebb": (hs.HebbClassifier(), "objects"),
        "adaline": (hs.Adaline(), "three"),
        "adaline online": (hs.Adaline(solver="online", max_iter=3), "two"),
        "passive aggressive": (hs.PassiveAggressive(max_iter=3), "three"),
        "minover": (hs.MinOver(max_iter=50), "three"),
        "adatron": (hs.AdaTron(), "three"),
        "adatron free": (hs.AdaTron(intercept="free"), "sparse"),
        "adatron tuned": (hs.AdaTronCV(Cs=(0.1, 1.0), cv=2), "two"),
        "committee": (hs.PerceptronCommittee(n_members=3, max_iter=3), "three"),
        "committee parts": (hs.PerceptronCommittee(n_members=3, diversity="features", vote="stability", max_iter=2), "two"),
    }
    return linear | _machines() | _by_prototypes() | _without_classes()


@pytest.fixture(scope="session")
def fitted():
    """Return a function that fits a model by name, once."""
    known = {}

    def fit(name):
        if name not in known:
            model, kind = all_models()[name]
            X, y = data_of(kind)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that few epochs do not separate the classes is not the question here
                known[name] = model.fit(X, y), X, y
        return known[name]

    return fit


class File:
    """The parts of a model file, to be damaged and sealed again with a correct checksum."""

    def __init__(self, raw):
        length = int.from_bytes(raw[:8], "little")
        self.header, self.data = json.loads(raw[8 : 8 + length]), bytearray(raw[8 + length :])
        self.about = json.loads(self.header["__metadata__"]["halfspace"])
        self.tree = self.about["tree"]

    def sealed(self, text=None):
        """Return the bytes of a file with these parts; `text` replaces the JSON of the tree."""
        return seal(self.header, self.about, json.dumps(self.tree) if text is None else text, bytes(self.data))

    def array(self, node):
        """Return a view of the array of a node, to be changed."""
        entry = self.header[node["@array"]]
        kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U32": "<u4", "BOOL": "?"}
        first, end = entry["data_offsets"]
        return np.frombuffer(memoryview(self.data)[first:end], dtype=kinds[entry["dtype"]])

    def learnt(self, *path):
        """Return the node of something learnt, by its path."""
        node = self.tree["fitted"][path[0]]
        for name in path[1:]:
            node = node["fields"][name] if isinstance(node, dict) and "fields" in node else node[name]
        return node


def seal(header, about, tree, data):
    """Return a file with the checksum that its contents have; a header that safetensors refuses gets none."""
    digest = hashlib.sha256(f"{about['version']} {tree}".encode())
    kinds = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U32": "<u4", "U8": "|u1", "BOOL": "|b1"}
    with contextlib.suppress(Exception):
        for name in sorted(name for name in header if name != "__metadata__"):
            entry = header[name]
            first, end = entry["data_offsets"]
            digest.update(f"{name} {kinds[entry['dtype']]} {tuple(entry['shape'])}".encode())
            digest.update(data[first:end])
    opening = f'"format":{about["format"]},"version":"{about["version"]}","sha256":"{digest.hexdigest()}"'
    raw = json.dumps({**header, "__metadata__": {"halfspace": f'{{{opening},"tree":{tree}}}'}}, separators=(",", ":")).encode()
    raw += b" " * (-len(raw) % 8)
    return len(raw).to_bytes(8, "little") + raw + data


@pytest.fixture(scope="session")
def parts_of():
    """Return the class that takes files apart."""
    return File


@pytest.fixture(scope="session")
def sealed():
    """Return the function that seals a file."""
    return seal


@pytest.fixture(scope="session")
def saved(fitted, tmp_path_factory):
    """Return a function that gives the bytes of a saved model by name."""
    folder, known = tmp_path_factory.mktemp("saved"), {}

    def save(name):
        if name not in known:
            hs.save(fitted(name)[0], folder / "model.halfspace")
            known[name] = (folder / "model.halfspace").read_bytes()
        return known[name]

    return save
