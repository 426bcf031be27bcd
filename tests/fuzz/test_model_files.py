"""Mutants of model files, under a correct checksum or not."""

import pytest


@pytest.mark.compiled
def test_mutants_of_model_files_are_refused_or_can_be_used(fuzzed):
    """A changed model file is a ModelFileError, or its model predicts, prints, is judged, goes on learning and is saved."""
    fuzzed("model files", cases=2500)
