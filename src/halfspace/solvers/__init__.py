"""Solvers: one algorithm, one file, one theorem; `run` drives them all."""

from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.averaged import Mean, mean, start_mean, sum_up
from halfspace.solvers.rules.delta import Delta
from halfspace.solvers.rules.hebb import Hebb
from halfspace.solvers.rules.passive_aggressive import PassiveAggressive
from halfspace.solvers.rules.presenting import Presenting, Training
from halfspace.solvers.rules.rosenblatt import Rosenblatt
from halfspace.solvers.rules.sweep import Forget, State, Task, start
from halfspace.solvers.run import Budget, Method, Progress, Run

__all__ = [
    "Budget",
    "Delta",
    "Forget",
    "Hebb",
    "Mean",
    "Method",
    "Outcome",
    "PassiveAggressive",
    "Presenting",
    "Progress",
    "Rosenblatt",
    "Run",
    "State",
    "Task",
    "Training",
    "mean",
    "start",
    "start_mean",
    "sum_up",
]
