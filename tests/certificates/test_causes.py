"""Causes of refutation that a change of one field does not reach (those are in test_reasons.py), one example each."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from halfspace import certificates as proofs
from halfspace.certificates import from_json
from halfspace.kernels import Precomputed

FOLDER = Path(__file__).parent / "stored"


def stored(name):
    kept = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return from_json(json.dumps(kept["certificate"])), np.array(kept["X"]), kept["y"] and np.array(kept["y"])


def changed(name, **fields):
    proof = stored(name)[0]
    return replace(proof, **{key: value(proof) if callable(value) else value for key, value in fields.items()})


CAUSES = {
    "no neighbours of one example": (
        "NeighbourMeans",
        lambda: changed("NeighbourMeans", k=4),
        "k is not less than the examples",
    ),
    "a pair twice": (
        "PerPair",
        lambda: changed("PerPair", pairs=((0, 1), (0, 1), (1, 2)), parts=lambda p: (p.parts[0], p.parts[0], p.parts[2])),
        "not every pair of classes is there once",
    ),
    "no cells": (
        "PerCell",
        lambda: changed("PerCell", centres=np.zeros((0, 1)), cells=np.full(4, -1), parts=(), sample_weight=np.zeros(4)),
        "there are no cells",
    ),
    "a cell of another kind": (
        "PerCell",
        lambda: changed("PerCell", parts=lambda p: (proofs.ClassCounts(("a", "b"), (1, 1)), p.parts[1])),
        "a cell has no duality gap",
    ),
    "an example in no cell": (
        "PerCell",
        lambda: changed("PerCell", cells=np.array([0, 0, 1, -1])),
        "of positive weight is in no cell",
    ),
    "a cell with other weights": (
        "PerCell",
        lambda: changed("PerCell", sample_weight=np.array([2.0, 1.0, 1.0, 1.0])),
        "its examples have other weights",
    ),
    "no strength": ("MarginBracket", lambda: changed("MarginBracket", strengths=np.zeros(4)), "no strength is positive"),
    "no strength of a hard gap": (
        "DualityGap-hard",
        lambda: changed("DualityGap-hard", strengths=np.zeros(4)),
        "no strength is positive",
    ),
    "a theorem about a free bias": (
        "MarginBracket-free",
        lambda: proofs.MistakeBound.of(1, stored("MarginBracket-free")[0], proofs.Novikoff()),
        "the theorem is not about a free bias",
    ),
    "a bias without an intercept": (
        "Separability-separable",
        lambda: changed("Separability-separable", intercept=False, b=0.5),
        "there is a bias without an intercept",
    ),
    "a multiplier of a row outside": (
        "Separability-inseparable",
        lambda: changed(
            "Separability-inseparable", multipliers=lambda p: {row + 3: share for row, share in p.multipliers.items()}
        ),
        "a row outside 0..3",
    ),
    "a cost of one label": (
        "PrototypeErrors-cost",
        lambda: changed("PrototypeErrors-cost", prototype_labels=("a", "a", "a")),
        "a cost needs prototypes of two labels",
    ),
    "a metric for other classes": (
        "PrototypeErrors",
        lambda: changed("PrototypeErrors", omega=np.ones((2, 2, 2))),
        "there is not one metric for each class",
    ),
    "a course without a cost": (
        "PrototypeErrors",
        lambda: changed("PrototypeErrors", costs=np.ones(2)),
        "there is a course of the cost, but no cost",
    ),
    "a course that rises": (
        "PrototypeErrors-cost",
        lambda: changed("PrototypeErrors-cost", costs=lambda p: np.array([p.cost - 1.0, p.cost])),
        "the course of the cost rises",
    ),
    "a course that ends elsewhere": (
        "PrototypeErrors-cost",
        lambda: changed("PrototypeErrors-cost", costs=lambda p: np.array([p.cost + 2.0, p.cost + 1.0])),
        "the course of the cost rises, or does not end in the cost",
    ),
    "no centres": (
        "MixtureLikelihood",
        lambda: changed("MixtureLikelihood", weights=np.zeros(0), prototypes=np.zeros((0, 2)), sigmas=np.zeros(0)),
        "there are no centres",
    ),
    "common sigmas that differ": (
        "MixtureLikelihood",
        lambda: changed("MixtureLikelihood", rule="common", sigmas=np.array([1.0, 2.0])),
        "common sigma, but not the same for all",
    ),
    "a likelihood that falls": (
        "MixtureLikelihood",
        lambda: changed("MixtureLikelihood", course=lambda p: (p.log_likelihood + 1.0, p.log_likelihood)),
        "the log-likelihood falls in its course",
    ),
    "a likelihood that ends elsewhere": (
        "MixtureLikelihood",
        lambda: changed("MixtureLikelihood", course=lambda p: (p.log_likelihood - 2.0, p.log_likelihood - 1.0)),
        "the course does not end in the log-likelihood",
    ),
    "a step too long": (
        "FilterBound",
        lambda: changed("FilterBound", normalised=False, rate=9.0),
        "the theorem needs less than 2",
    ),
    "cells of several targets": (
        "KernelRidgeCells",
        lambda: changed("KernelRidgeCells", parts=lambda p: (p.parts[0], proofs.OneLabel("a"))),
        "there is not one KernelRidgeGap of the same targets for each cell",
    ),
    "classes of no kernel": (
        "KernelRidgeClasses",
        lambda: changed("KernelRidgeClasses", part=proofs.OneLabel("a")),
        "the part is not about functions of a kernel",
    ),
    "logarithms of no line": (
        "LogSmearing",
        lambda: changed("LogSmearing", part=proofs.OneLabel("a")),
        "the part is not about a line or a function of a kernel",
    ),
    "a constant both free and clamped": (
        "KernelRidgeGap",
        lambda: changed("KernelRidgeGap", clamp=1.0),
        "a constant cannot be both free and clamped",
    ),
}


@pytest.mark.parametrize("cause", CAUSES)
def test_each_cause_refutes_in_its_own_words(cause):
    """The stored certificate holds; the changed one is refuted, and says why."""
    name, make, words = CAUSES[cause]
    proof, X, y = stored(name)
    assert proof.verify(X, y)
    verdict = make().verify(X, y)
    assert not verdict
    assert words in str(verdict)


def test_a_matrix_of_pairs_is_square():
    """Parts of a precomputed kernel are about its rows and columns."""
    K, y = np.eye(3) + 0.5, np.array(["a", "b", "b"])
    gap = proofs.KernelGap.measure(K, y, kernel=Precomputed(), strengths=np.full(3, 0.1), C=1.0, positive="b")
    proof = proofs.PerPair(("a", "b"), ((0, 1),), (gap,))
    assert proof.verify(K, y)
    assert "a precomputed kernel needs a square matrix" in str(proof.verify(K[:, :2], y))
    assert "y has neither label" in str(proof.verify(K, np.array(["c", "c", "c"])))


def test_mistakes_on_a_budget_are_at_most_those_presented():
    """So many passes over so many examples make no more."""
    proof, X, y = stored("BudgetedMistakes")
    assert replace(proof, mistakes=0).verify(X, y)
    many = replace(proof, mistakes=len(y) + 1, theorem=proof.theorem._replace(lost=1e3))
    many = replace(many, bound=many.theorem.bound(many.norm, many.loss))
    assert f"{len(y) + 1} mistakes in 1 passes over {len(y)} examples" in str(many.verify(X, y))
    assert replace(many, passes=2, loss=2.0 * proof.loss, bound=many.theorem.bound(many.norm, 2.0 * proof.loss)).verify(X, y)
    assert replace(many, mistakes=len(y)).verify(X, y)


@pytest.mark.parametrize("name", ["Quantisation", "MixtureLikelihood"])
@pytest.mark.parametrize(("size", "words"), [(1e-170, "so small"), (1e160, "so large")])
def test_numbers_whose_squares_are_lost_are_refused_as_such(name, size, words):
    """Before anything is computed with them: examples and prototypes of such a size confirm nothing."""
    proof, X, _ = stored(name)
    changed = {"prototypes": proof.prototypes * size} | ({"sigmas": proof.sigmas * size} if name[0] == "M" else {})
    assert f"the numbers are {words}" in str(replace(proof, **changed).verify(X * size))
