"""Explicit features: approximations of kernels, random masks, polar coordinates, the lift."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import halfspace as hs
from halfspace.errors import InputError
from halfspace.kernels import (
    RBF,
    BSpline,
    Cosine,
    FeatureMap,
    FourierMap,
    LandmarkMap,
    Laplacian,
    Lift,
    Linear,
    PolarCoordinates,
    Polynomial,
    RandomMasks,
    Sigmoid,
)


@parametrize_with_checks(
    [
        FeatureMap(Polynomial(2, coef0=1.0)),
        LandmarkMap(RBF(), n_components=10),
        FourierMap(Laplacian("median"), n_components=10),
        RandomMasks(10, n_inputs=2),
        Lift(),
        PolarCoordinates(),
    ]
)
def test_scikit_learns_checks(estimator, check):
    """The maps keep scikit-learn's contract."""
    check(estimator)


@pytest.mark.parametrize("method", ["nystroem", "fourier"])
@pytest.mark.parametrize("kernel_", [RBF(0.3), RBF("scale"), RBF("median"), Laplacian(0.3), Laplacian("median")], ids=repr)
def test_features_approximate_the_kernel(kernel_, method, A):
    """Inner products of enough features are the kernel, nearly; the seed decides."""
    many = 23 if method == "nystroem" else 4000
    phi = kernel_.features(many, method)
    Z = phi.fit_transform(A)
    K = kernel_.resolved(A).exact(A)
    assert np.abs(Z @ Z.T - K).max() < (1e-6 if method == "nystroem" else 0.1)
    assert np.array_equal(Z, clone(phi).fit_transform(A))
    few = [kernel_.features(10, method, random_state=seed).fit_transform(A) for seed in (0, 1)]
    assert not np.array_equal(*few)
    assert np.allclose(clone(phi).fit(A).transform(sparse.csr_array(A)), Z, atol=1e-8)


def test_scikit_learns_maps_are_used_where_they_know_the_kernel():
    """Nystroem and RBFSampler get our parameters; other kernels get the same construction."""
    found = Polynomial(2, 0.5, 1.0).features(7, random_state=3)
    assert isinstance(found, Nystroem)
    assert (found.kernel, found.degree, found.gamma, found.coef0, found.n_components) == ("poly", 2, 0.5, 1.0, 7)
    assert [k.features(5).kernel for k in (Linear(), Cosine(), Sigmoid(1.0), RBF(1.0))] == [
        "linear",
        "cosine",
        "sigmoid",
        "rbf",
    ]
    sampler = RBF(0.25).features(50, "fourier")
    assert isinstance(sampler, RBFSampler)
    assert sampler.gamma == 0.25
    assert isinstance((RBF(1.0) + 1).features(5), LandmarkMap)
    assert isinstance(Laplacian(1.0).features(5, "fourier"), FourierMap)


def test_landmarks_agree_with_scikit_learn(A):
    """On the same landmarks our map spans what Nystroem's spans."""
    ours = LandmarkMap(RBF(0.3), n_components=8).fit(A)
    K, C = RBF(0.3).exact(ours.components_), RBF(0.3).exact(A, ours.components_)
    Z = ours.transform(A)
    assert np.allclose(Z @ Z.T, C @ np.linalg.solve(K, C.T), atol=1e-8)
    spline = BSpline(1, scale=2.0).features(23).fit(A)
    assert np.allclose(spline.transform(A) @ spline.transform(A).T, BSpline(1, scale=2.0).exact(A), atol=1e-6)
    assert LandmarkMap(Linear(), n_components=20).fit(A).normalization_.shape[1] == 4  # the rank of the landmarks
    assert len(ours.get_feature_names_out()) == 8


def test_bad_wishes_are_refused(A):
    """Unknown methods, kernels without known waves, no components."""
    with pytest.raises(InputError, match="'nystroem' or 'fourier'"):
        RBF(1.0).features(5, "taylor")
    with pytest.raises(InputError, match="use method='nystroem'"):
        Linear().features(5, "fourier")
    with pytest.raises(InputError, match="n_components must be"):
        RBF(1.0).features(0)
    with pytest.raises(InputError, match="not two of the columns"):
        Lift(columns=(0, 9)).fit(A)
    with pytest.raises(InputError, match="not two of the columns"):
        PolarCoordinates(columns=(0,)).fit(A)


def test_random_masks_are_association_units(A):
    """Every unit sees n_inputs inputs with signs ±1 and fires above its threshold; the seed decides."""
    units = RandomMasks(40, n_inputs=2, random_state=1).fit(A)
    masks = units.masks_.toarray()
    assert ((masks != 0).sum(axis=1) == 2).all()
    assert set(np.unique(masks)) == {-1.0, 0.0, 1.0}
    Z = units.transform(A)
    assert np.array_equal(Z, (units.thresholds_ < A @ masks.T).astype(float))
    assert 0.2 < Z.mean() < 0.8
    assert np.array_equal(Z, clone(units).fit_transform(A))
    assert np.array_equal(Z, units.transform(sparse.csr_array(A)))
    assert np.array_equal(RandomMasks(5, threshold=0.5).fit(A).thresholds_, np.full(5, 0.5))
    assert (RandomMasks(5, n_inputs=9).fit(A).masks_.toarray() != 0).all()
    assert list(units.get_feature_names_out()[:2]) == ["unit0", "unit1"]


def test_polar_coordinates_unroll_spirals():
    """In coordinates that turn with the radius two spirals are two clusters: a plane separates them."""
    toy = hs.data.spirals(100, turns=1.75)
    assert hs.separability(toy.X, toy.y).verdict == "inseparable"
    radius = np.hypot(*toy.X.T)
    angle = np.unwrap(np.arctan2(*toy.X[toy.y == 1][:, ::-1].T)[np.argsort(radius[toy.y == 1])])
    turns = np.polyfit(np.sort(radius[toy.y == 1]), angle, 1)[0]
    Z = PolarCoordinates(turns=turns).fit_transform(toy.X)
    assert np.allclose(Z[:, 0], radius)
    assert np.allclose(Z[:, 1] ** 2 + Z[:, 2] ** 2, 1.0)
    assert hs.separability(Z, toy.y).verdict == "separable"


def test_the_lift_separates_rings():
    """One more coordinate, x² + y², and a plane lies between two rings; names and tables pass through."""
    toy = hs.data.rings(100, noise=0.02)
    assert hs.separability(toy.X, toy.y).verdict == "inseparable"
    model = make_pipeline(Lift(), hs.Perceptron(random_state=0)).fit(toy.X, toy.y)
    assert model.score(toy.X, toy.y) == 1.0
    table = pd.DataFrame(toy.X, columns=["east", "north"])
    lift = Lift().set_output(transform="pandas").fit(table)
    assert list(lift.transform(table).columns) == ["east", "north", "east²+north²"]
    assert list(PolarCoordinates().fit(table).get_feature_names_out()) == ["radius", "cosine", "sine"]
    assert np.array_equal(Lift().fit_transform(sparse.csr_array(toy.X)), Lift().fit_transform(toy.X))
