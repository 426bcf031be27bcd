"""The corpus of models: every estimator, with the options that change what it keeps."""

import warnings

import numpy as np
import pyarrow as pa
from scipy import sparse
from sklearn.datasets import make_blobs

import halfspace as hs
from halfspace import kernels

__all__ = ["all_models", "data_of", "fitted", "ladders_and_encoders"]


def data_of(kind):
    """Return examples and labels of one kind."""
    X, y = make_blobs(12, 3, centers=2 if kind in ("two", "single", "matrix") else 3, cluster_std=2.5, random_state=1)
    words = np.array(["a", "bb", "ccc"])[y]
    return {
        "two": (X, y),
        "three": (X, words),
        "objects": (X, words.astype(object)),
        "single": (X.astype(np.float32), y.astype(bool)),
        "sparse": (sparse.csr_matrix(np.where(np.abs(X) > 2, X, 0.0)), words),
        "matrix": (X @ X.T, y),
        "unlabelled": (X, None),
        "targets": (X, X @ [1.0, -2.0, 0.5] + np.sin(np.arange(12.0))),
        "two targets": (X, X[:, :2] * 2.0 + 1.0),
        "positive": (X, np.exp(0.1 * X[:, 0]) + 0.1 * (np.arange(12.0) % 3)),
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
        "calibrated": (hs.Calibrated(machine(), cv=2), "three"),
        "novelty": (hs.Novelty(), "unlabelled"),
        "relevance": (hs.RelevanceKernelClassifier(), "three"),
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
        "bayesian unknown": (hs.BayesianRegression(noise="unknown", intercept="clamped"), "targets"),
        "kernel regression": (hs.KernelRegression(), "targets"),
        "kernel regression cells": (hs.KernelRegression(kernel_rows=10, gamma=0.1, ridge=0.5), "targets"),
        "relevance regression": (hs.RelevanceKernelRegressor(), "targets"),
        "log target": (hs.LogTarget(hs.LinearRegression(ridge=1.0)), "positive"),
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


def fitted(name):
    """Return a fitted model by name, with its examples and labels."""
    model, kind = all_models()[name]
    X, y = data_of(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that few epochs do not separate the classes is not the question here
        return model.fit(X, y), X, y


def _mixed():
    """Return a table with columns of every kind: numbers, words, dates, truth values, text, and numbers with gaps."""
    n = 12
    return pa.table(
        {
            "a": np.arange(n) ** 2 / 7.0,
            "colour": ["red", "blue", "green"] * 4,
            "when": pa.array([f"2020-0{1 + i % 9}-1{i % 7}" for i in range(n)]).cast(pa.date32()),
            "yes": [bool(i % 2) for i in range(n)],
            "text": [f"the {first} and {second} of it" for first, second in zip("abcabdaedbca", "xyzxyzzyxxyz", strict=True)],
            "gap": [None if i % 4 == 0 else float(i) for i in range(n)],
        }
    )


def ladders_and_encoders():
    """Return ladders and table encoders by name, each with its examples and labels, not fitted yet."""
    (X, y), (_, numbers), table, few = data_of("three"), data_of("targets"), _mixed(), {"n_splits": 2, "n_repeats": 1}
    return {
        "ladder": (hs.Ladder(rungs=["majority", "perceptron", "glvq"], **few), X, y),
        "ladder of numbers": (hs.RegressionLadder(rungs=["mean", "ridge"], **few), X, numbers),
        "ladder of neighbours": (hs.Ladder(rungs=["neighbours"], **few), X, y),
        "ladder on components": (hs.Ladder(rungs=["perceptron"], pca=2, **few), X, y),
        "ladder of a table": (hs.Ladder(rungs=["perceptron"], novelty=True, **few), table, y),
        "neighbours of numbers": (hs.RegressionLadder(rungs=["neighbours"], **few), X, numbers),
        "table": (hs.TableEncoder(), table, None),
        "table in ranks": (hs.TableEncoder(scale="rank", max_categories=4, keep_text=True), table, None),
        "columns": (hs.TableEncoder(), data_of("sparse")[0], None),
    }
