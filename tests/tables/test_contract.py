"""scikit-learn's own checks on the encoder, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from halfspace.tables import TableEncoder


@pytest.mark.compiled  # nothing is compiled here, but the checks are many: once is enough
@parametrize_with_checks([TableEncoder(), TableEncoder(scale="none")])
def test_scikit_learn_contract(estimator, check):
    """The encoder keeps scikit-learn's contract."""
    check(estimator)
