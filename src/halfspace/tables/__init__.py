"""Tables to numbers: the encoder that stands before every model fitted on a file."""

from halfspace.tables.encoder import TableEncoder

__all__ = ["TableEncoder"]
