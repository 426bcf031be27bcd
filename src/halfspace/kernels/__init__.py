"""Kernels: values with a formula, an algebra and, where there is one, a proof."""

from halfspace.kernels.algebra import Power, Product, Scaled, Sum
from halfspace.kernels.base import Kernel
from halfspace.kernels.conditional import ConditionalExpectation
from halfspace.kernels.derived import Centered, Mapped, Normalized, OnColumns
from halfspace.kernels.feature_maps import FeatureMap, FourierMap, LandmarkMap, Lift, PolarCoordinates, RandomMasks
from halfspace.kernels.inner_product import Constant, Cosine, Linear, Polynomial, Sigmoid
from halfspace.kernels.mercer import MercerReport, mercer
from halfspace.kernels.names import as_kernel
from halfspace.kernels.precomputed import FromFunction, Precomputed
from halfspace.kernels.radial import RBF, Laplacian, Manhattan
from halfspace.kernels.scales import OnScales
from halfspace.kernels.spline import BSpline
from halfspace.kernels.values import from_dict

__all__ = [
    "RBF",
    "BSpline",
    "Centered",
    "ConditionalExpectation",
    "Constant",
    "Cosine",
    "FeatureMap",
    "FourierMap",
    "FromFunction",
    "Kernel",
    "LandmarkMap",
    "Laplacian",
    "Lift",
    "Linear",
    "Manhattan",
    "Mapped",
    "MercerReport",
    "Normalized",
    "OnColumns",
    "OnScales",
    "PolarCoordinates",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "RandomMasks",
    "Scaled",
    "Sigmoid",
    "Sum",
    "as_kernel",
    "from_dict",
    "mercer",
]
