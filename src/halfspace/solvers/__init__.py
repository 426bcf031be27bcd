"""Solvers: one algorithm, one file, one theorem; `loop` drives them all."""

from halfspace.solvers.averaged import Mean, mean, settle, start_mean
from halfspace.solvers.delta import Delta
from halfspace.solvers.hebb import Hebb
from halfspace.solvers.loop import Budget, Method, Progress, Run, iterate, solve
from halfspace.solvers.outcome import Outcome
from halfspace.solvers.passive_aggressive import PassiveAggressive
from halfspace.solvers.rosenblatt import Rosenblatt
from halfspace.solvers.sweep import Forget, State, Task, start

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
