"""Names for the arrays that travel through the package."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["FloatArray", "IntArray", "Label", "Labels", "Matrix", "View"]

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Labels = NDArray[Any]
Label = Any
"""One class label: a string, a bool or a number."""
Matrix = Any
"""What a user hands in as `X`: an array, a sparse matrix, a data frame."""
View = Any
"""What the row operations accept: an array, `CSR`, `Gram` or `Clamped`."""
