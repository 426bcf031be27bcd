"""Files in: CSV, TSV, Parquet, Arrow, JSON lines, svmlight and npz, whole, sampled or in batches."""

from halfspace.data.files.opening import FORMATS
from halfspace.data.files.reading import read, stream
from halfspace.data.files.values import Batch, Dataset, Source

__all__ = ["FORMATS", "Batch", "Dataset", "Source", "read", "stream"]
