"""Files in: CSV, TSV, Excel, Parquet, Arrow, JSON lines, svmlight and npz, whole, sampled or in batches."""

from halfspace.files.opening import FORMATS
from halfspace.files.reading import Batch, Dataset, Source, read, stream
from halfspace.files.targets import TaskChoice, task_of

__all__ = ["FORMATS", "Batch", "Dataset", "Source", "TaskChoice", "read", "stream", "task_of"]
