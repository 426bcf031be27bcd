"""scikit-learn's own checks, on every estimator, with no expected failure."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import halfspace as hs


class OnlineAdaline(hs.Adaline):
    """The delta rule depends on the order, so it takes no sample_weight, and its signature says so."""

    def __init__(self, *, max_iter=100, random_state=None):
        super().__init__(solver="online", max_iter=max_iter, random_state=random_state)

    def fit(self, X, y):
        return super().fit(X, y)


class OnlineGLVQ(hs.GLVQ):
    """Presenting rows depends on the order, so it takes no sample_weight, and its signature says so."""

    def __init__(self, *, max_iter=100, random_state=None):
        super().__init__(optimizer="online", max_iter=max_iter, random_state=random_state)

    def fit(self, X, y):
        return super().fit(X, y)


class OnlineGMLVQ(hs.GMLVQ):
    """Likewise, with a metric."""

    def __init__(self, *, max_iter=100, random_state=None):
        super().__init__(optimizer="online", max_iter=max_iter, random_state=random_state)

    def fit(self, X, y):
        return super().fit(X, y)


class LearntRegressor(hs.RelevanceKernelRegressor):
    """The folds in which a metric is chosen do not know that a row twice is one with weight 2: no sample_weight here."""

    def fit(self, X, y):
        return super().fit(X, y)


class LearntClassifier(hs.RelevanceKernelClassifier):
    """Likewise; and its probabilities follow from rows left out, of which one of weight 2 is out altogether."""

    def fit(self, X, y):
        return super().fit(X, y)


ESTIMATORS = [
    hs.Perceptron(max_iter=100),
    hs.AveragedPerceptron(),
    hs.VotedPerceptron(),
    hs.PocketPerceptron(),
    hs.HebbClassifier(),
    hs.Adaline(),
    hs.PassiveAggressive(),
    hs.MinOver(max_iter=5000),
    hs.KernelPerceptron(),
    hs.KernelMinOver(),
    hs.BayesPoint(n_members=50),
    hs.KernelAdaTron(gamma=0.1, tol=1e-12),  # as for AdaTron below; gamma="scale" does not know of weights
    hs.PerceptronCommittee(),
    hs.AdaTron(tol=1e-12),  # some checks compare answers to 1e-7: the plane is that near only at a gap of its square
    hs.AdaTronCV(tol=1e-12, Cs=(0.1, 1.0), cv=2),
    hs.KernelAdaTronCV(tol=1e-12, cv_tol=1e-6, Cs=(0.3, 3.0), gammas=(0.1, 1.0), cv=2),
    hs.VectorQuantizer(),
    hs.NeuralGas(),
    hs.KMeans(2, init="farthest", tol=0),  # chance would draw other rows where a row is given twice instead of weighing twice
    hs.IsotropicMixture(2, init="farthest", tol=0, max_iter=200),
    hs.Calibrated(hs.HebbClassifier(), cv=2),
    hs.LVQ(),
    hs.GLVQ(),
    hs.GRLVQ(),
    hs.GMLVQ(),
    hs.LinearRegression(),
    hs.BayesianRegression(),
    hs.KernelRegression(gamma=0.1, ridge=0.5),  # the choice of both does not know that a row twice is one with weight 2
    hs.RelevanceKernelRegressor(kernel=hs.kernels.RBF(0.1), ridge=0.5),  # as above: folds do not know of weights
    LearntClassifier(kernel=hs.kernels.Manhattan(0.1), ridge=0.5),
    hs.LogTarget(),
    hs.AdaptiveFilter(),
    hs.Novelty(level=0.1),  # a check of 300 rows wants some of them to be novel
]
VARIANTS = [
    hs.Perceptron(multi_class="native", max_iter=100),
    hs.AveragedPerceptron(multi_class="native"),
    OnlineAdaline(),
    hs.PassiveAggressive(multi_class="native", variant="PA-II"),
    hs.KernelPerceptron(variant="averaged", max_iter=10),
    hs.KernelPerceptron(variant="voted", max_iter=3),
    hs.KernelPerceptron(budget=20, max_iter=10),
    hs.KernelAdaTron(gamma=0.1, multi_class="ovo", intercept="free", tol=1e-12),
    hs.KernelAdaTron(gamma=0.1, solver="sweep", tol=1e-12, max_iter=1000),
    hs.BayesPoint("rbf", gamma=10.0, n_members=20),  # a wide kernel leaves overlapping clouds little room: slow
    hs.PerceptronCommittee(vote="stability", diversity="bootstrap"),
    LearntRegressor(),
    LearntClassifier(),
    OnlineGLVQ(),
    OnlineGMLVQ(),
    hs.LinearRegression(ridge="evidence", intercept="free"),
]
"""Other settings of the same classes, run by `pytest --variants`."""
pytestmark = [
    pytest.mark.compiled,
    pytest.mark.filterwarnings("ignore::halfspace.errors.NotSeparatedWarning"),
    pytest.mark.filterwarnings("ignore::halfspace.errors.GapWarning"),
    pytest.mark.filterwarnings("ignore::halfspace.errors.FewRowsWarning"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_contract(estimator, check):
    """The estimator keeps scikit-learn's contract."""
    check(estimator)


@pytest.mark.variant
@parametrize_with_checks(VARIANTS)
def test_scikit_learn_contract_of_variants(estimator, check):
    """So it does with other settings."""
    check(estimator)
