"""Files in: CSV, TSV, Parquet, Arrow, JSON lines, svmlight and npz, whole, sampled or in batches."""

from halfspace.files.opening import FORMATS
from halfspace.files.reading import read, stream
from halfspace.files.values import Batch, Dataset, Source

__all__ = ["FORMATS", "Batch", "Dataset", "Source", "read", "stream"]
