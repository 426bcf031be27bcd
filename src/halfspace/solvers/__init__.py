"""Solvers: one algorithm, one file, one theorem; `loop` drives them all."""

from halfspace.solvers.loop import Budget, Method, Progress, Run, iterate, solve
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.rules.averaged import Mean, mean, settle, start_mean
from halfspace.solvers.rules.delta import Delta
from halfspace.solvers.rules.hebb import Hebb
from halfspace.solvers.rules.passive_aggressive import PassiveAggressive
from halfspace.solvers.rules.rosenblatt import Rosenblatt
from halfspace.solvers.rules.sweep import Forget, State, Task, start

__all__ = [
    "Budget",
    "Delta",
    "Forget",
    "Hebb",
    "Mean",
    "Method",
    "Outcome",
    "PassiveAggressive",
    "Progress",
    "Rosenblatt",
    "Run",
    "State",
    "Task",
    "iterate",
    "mean",
    "settle",
    "solve",
    "start",
    "start_mean",
]
