"""Field checks of the two certificates that do not have annotations yet; goes with the last of them."""

from typing import Any

import numpy as np

from halfspace._typing import Label, Labels
from halfspace.certificates import arithmetic
from halfspace.certificates.fields import Scope, _is, _whole
from halfspace.kernels import Kernel

__all__ = ["both_signs", "is_array", "is_number", "rebuilt", "sound_bias", "sound_kernel"]


def is_number(value: Any, *, least: float = -np.inf, infinite: bool = False) -> bool:
    """Tell whether a field is a real number of at least `least`, finite unless `infinite` is allowed."""
    return _is("real" if infinite else "finite", value, Scope({}, {}), "") and value >= least


def is_array(value: Any, ndim: int, kind: str = "f") -> bool:
    """Tell whether a field is an array of finite floats (kind "f") or of whole numbers (kind "i") with `ndim` axes."""
    return isinstance(value, np.ndarray) and value.ndim == ndim and value.dtype.kind == kind and bool(np.isfinite(value).all())


def both_signs(y: Labels, positive: Label) -> bool:
    """Tell whether some labels are the positive one and some are not."""
    return arithmetic.both_signs(y, positive)[0]


def rebuilt(body: dict[str, Any]) -> dict[str, Any]:
    """Turn the plain fields of a gap back into arrays and floats."""
    arrays = {name: np.asarray(body[name], dtype=np.float64) for name in ("strengths",) if name in body}
    numbers = ("clamp", "bias", "primal", "dual", "C")
    return {**body, **arrays, "rows": _whole(body["rows"]), **{name: float(body[name]) for name in numbers if name in body}}


def sound_kernel(kernel: Any) -> bool:
    """Tell whether a field is a kernel with nothing left to learn from data."""
    return isinstance(kernel, Kernel) and kernel.is_resolved()


def sound_bias(certificate: Any) -> list[tuple[bool, str]]:
    """Return the claims about bias and clamped input."""
    c = certificate
    return [
        (isinstance(c.free, bool), "free is neither true nor false"),
        (is_number(c.bias) and (c.free is True or c.bias == 0.0), "the bias is not a number, or not free and not 0"),
        (is_number(c.clamp), "the clamped input is not a number"),
        (not (c.free is True and c.clamp), "a bias cannot be both free and clamped"),
    ]
