"""Data: views and their row operations, labels, toy problems."""

from halfspace.data.outputs import outputs, squared_norms
from halfspace.data.toys import Toy, checkerboard, rings, spirals, teacher_student, two_clouds, xor
from halfspace.data.views import CSR, Clamped, Gram, axpy, dot, sqnorm, view_of

__all__ = [
    "CSR",
    "Clamped",
    "Gram",
    "Toy",
    "axpy",
    "checkerboard",
    "dot",
    "outputs",
    "rings",
    "spirals",
    "sqnorm",
    "squared_norms",
    "teacher_student",
    "two_clouds",
    "view_of",
    "xor",
]
