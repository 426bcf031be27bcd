"""The ladder: start simple, climb while it pays."""

from halfspace.ladder.estimator import Ladder
from halfspace.ladder.regression import RegressionLadder
from halfspace.ladder.values import NumberTest, Progress, Rung, TestResult

__all__ = ["Ladder", "NumberTest", "Progress", "RegressionLadder", "Rung", "TestResult"]
