"""Claims about what matters: columns that tell are evident, random ones are not, whatever the winner."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import FunctionTransformer

from halfspace.ladder.importance import column_importance


class Fitted:
    """What column_importance asks of a ladder, around a model of scikit-learn."""

    def __init__(self, model, X, y, *, learnt, classes=None):
        self.encoder_ = FunctionTransformer().fit(X)
        self.train_, self.test_, self.learnt_ = learnt, np.setdiff1d(np.arange(len(y)), learnt), learnt
        self.estimator_, self.scoring_ = model.fit(X[learnt], y[learnt]), "accuracy" if classes is not None else "rmse"
        if classes is not None:
            self.classes_ = classes

    def encode(self, X):
        """Return the rows as they are."""
        return X


def problem(seed, n=300):
    """Return rows of which only the first two columns tell, and numbers that they make."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 8))
    return X, 2.0 * X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(n)


@pytest.mark.parametrize("rows", [200, 300])
def test_random_columns_are_not_told_from_nothing(rows):
    """On held-out rows, or in folds where there are none, the columns that tell lead and no random one is evident."""
    for seed in range(4):
        X, y = problem(seed)
        for target, model, classes in ((y, Ridge(), None), ((y > 0).astype(int), LogisticRegression(), np.arange(2))):
            found = column_importance(Fitted(model, X, target, learnt=np.arange(rows), classes=classes), X, target)
            assert [column.name for column in found[:2]] == ["x0", "x1"]
            assert [column.evident for column in found] == [True, True] + [False] * 6


def test_less_work_takes_fewer_rows():
    """A tiny limit still answers, with larger errors."""
    X, y = problem(0)
    ladder = Fitted(Ridge(), X, y, learnt=np.arange(100))
    quick, slow = (column_importance(ladder, X, y, work=work)[0] for work in (1e2, 1e9))
    assert quick.error > slow.error
    assert str(slow).startswith("x0: +")
