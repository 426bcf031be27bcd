"""Mutants of data files."""


def test_mutants_of_data_files_are_read_or_refused(fuzzed):
    """A changed data file is read, as a whole and in batches, or refused in one sentence, within 2 GB and 10 s."""
    fuzzed("csv", "jsonl", "svmlight", "npz", "arrow", "parquet", "excel", cases=120)
