"""What `halfspace` raises and warns: every message says who, what was expected, what came, what to do."""

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "CertificateError",
    "FewRowsWarning",
    "FileError",
    "GapWarning",
    "InputError",
    "MemoryLimitError",
    "ModelFileError",
    "NotSeparatedWarning",
]


class InputError(ValueError):
    """The data or a parameter cannot be used as given; nothing was changed."""


class CertificateError(ValueError):
    """A certificate file is malformed: not a certificate of this package, truncated, or of a newer format."""


class FileError(InputError):
    """A data file cannot be read: the message names the file, the row where there is one, and what to do."""


class MemoryLimitError(InputError):
    """A step would need more memory than it may take: the message says how much, and what to do. Nothing was allocated."""


class ModelFileError(ValueError):
    """A model file is not one, is damaged, or is of a newer format; nothing of it was used."""


class FewRowsWarning(UserWarning):
    """There are too few rows for what was asked; the message says how many are needed, and what holds without them."""


class NotSeparatedWarning(ConvergenceWarning):
    """The fit stopped without separating the classes; `outcome_` says why and what to try."""


class GapWarning(ConvergenceWarning):
    """The fit stopped before its duality gap was as small as asked for; `outcome_` says how large it is and what to do."""
