"""Rows: views of the data and the operations on them, orders, labels, threads."""

from halfspace.rows.outputs import outputs, squared_norms
from halfspace.rows.views import CSR, Clamped, Gram, axpy, dot, sqnorm, view_of

__all__ = ["CSR", "Clamped", "Gram", "axpy", "dot", "outputs", "sqnorm", "squared_norms", "view_of"]
