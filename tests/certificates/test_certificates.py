"""Certificates: what they prove, and that they do not depend on who computed them."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import halfspace as hs
from halfspace.certificates import KeslerBracket, LeastSquaresGap, MarginBracket, Novikoff, PassiveAggressiveBound
from halfspace.data import teacher_student

WITHOUT_SOLVERS = """
import json, sys, types
import numpy as np
package = types.ModuleType("halfspace")
package.__path__ = [sys.argv[1]]
sys.modules["halfspace"] = package
for name in ("numba", "halfspace.solvers", "halfspace.models"):
    sys.modules[name] = None  # whoever imports it fails
from halfspace.certificates import check
for path in sys.argv[3:]:
    stored = json.load(open(path, encoding="utf-8"))
    json.dump(stored["certificate"], open(sys.argv[2], "w", encoding="utf-8"))
    y = None if stored["y"] is None else np.array(stored["y"])
    assert check(sys.argv[2], np.array(stored["X"]), y), path
print(len(sys.argv[3:]), [m for m in sys.modules if m.startswith(("halfspace.solvers.", "halfspace.models.", "numba."))])
"""


def test_a_checker_needs_no_solver(tmp_path):
    """In a process where neither solvers, nor models, nor Numba can be imported, every kind of certificate is confirmed."""
    stored = sorted(map(str, (Path(__file__).parent / "stored").glob("*.json")))
    arguments = [hs.__path__[0], str(tmp_path / "certificate.json"), *stored]
    done = subprocess.run([sys.executable, "-c", WITHOUT_SOLVERS, *arguments], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == f"{len(stored)} []", done.stderr


def test_both_sides_meet_at_the_best_plane():
    """With the best weights and their strengths both sides are the margin, known in closed form."""
    X, y = np.array([[3.0, 1.0], [3.0, -1.0], [-1.0, 0.0]]), np.array([1, 1, 0])
    bracket = MarginBracket.measure(X, y, weights=np.array([1.0, 0.0]), strengths=np.array([0.0, 0.0, 1.0]), positive=1)
    assert bracket.lower == pytest.approx(1.0)
    assert bracket.upper == pytest.approx(1.0)
    assert bracket.lower < 1.0 < bracket.upper
    assert bracket.separable is True


def test_without_strengths_the_shortest_example_is_the_witness():
    """kappa* is at most the length of the shortest example."""
    X, y = np.array([[3.0], [-0.5]]), np.array([1, 0])
    assert MarginBracket.measure(X, y, weights=np.array([1.0]), positive=1).upper == pytest.approx(0.5)


def test_a_tiny_sum_is_not_a_proof_of_inseparability():
    """A residual at the level of rounding leaves the question open; an exact zero settles it."""
    X, y = np.array([[1.0, 1.0], [1.0, 1.0 + 2**-52]]), np.array([1, 0])
    ones = np.ones(2)
    close = MarginBracket.measure(X, y, weights=ones, strengths=ones, positive=1)
    assert close.separable is None
    assert 0 < close.upper < 1e-12
    X[1, 1] = 1.0
    exact = MarginBracket.measure(X, y, weights=ones, strengths=ones, positive=1)
    assert exact.upper == 0.0
    assert exact.separable is False


@pytest.mark.parametrize("d", [2, 20, 200])
def test_claims_hold_against_another_order_of_summation(d):
    """A bracket made from a solver's own sums verifies with NumPy's, in any order of rows and columns, and in float32."""
    toy = teacher_student(100, d, margin=0.05, random_state=d)
    model = hs.Perceptron(intercept="none", random_state=0, max_iter=2000).fit(toy.X, toy.y)
    assert model.certificate_.verify(toy.X, toy.y)
    assert model.certificate_.verify(np.asfortranarray(toy.X), toy.y)
    assert model.certificate_.verify(toy.X.tolist(), toy.y.tolist())


def test_the_theorems_in_numbers():
    """The bounds are the textbook's."""
    assert Novikoff().bound(2.0, 0.5) == 16.0
    assert Novikoff(margin=1.0).bound(2.0, 0.5) == 24.0
    assert Novikoff(start=1.0).bound(2.0, 0.5) == 20.0
    assert Novikoff(slowest=0.5, fastest=2.0).bound(1.0, 1.0) == 16.0
    assert Novikoff().bound(1.0, 0.0) == np.inf
    assert PassiveAggressiveBound(cap=0.1).bound(1.0, 1.0) == 10.0
    assert PassiveAggressiveBound(softness=2.0).bound(1.0, 1.0) == 3.0
    assert PassiveAggressiveBound().bound(1.0, -1.0) == np.inf


def test_least_squares_backward_error():
    """The backward error is rounding at the minimum, grows away from it, and a better claim than the truth is refused."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 3)), np.arange(30) % 2
    best = np.linalg.lstsq(X, 2.0 * y - 1, rcond=None)[0]
    good = LeastSquaresGap.measure(X, y, weights=best, positive=1)
    bad = LeastSquaresGap.measure(X, y, weights=best + 0.1, positive=1)
    assert good.backward_error < 1e-12
    assert bad.backward_error > 1e-3
    assert good.loss < bad.loss
    assert good.verify(X, y)
    assert bad.verify(X, y)
    assert not replace(good, backward_error=0.0).verify(X, y)
    assert not replace(good, backward_error=1e-16).verify(X, y)


def test_the_multiclass_margin_of_an_orthogonal_problem():
    """For the corners of a simplex the best multiclass margin is known, and the bracket meets it from both sides."""
    X, y = np.eye(3), np.array(["a", "b", "c"])
    W = np.eye(3) - 1.0 / 3.0
    alpha = np.ones((3, 3)) - np.eye(3)
    bracket = KeslerBracket.measure(X, y, weights=W, strengths=alpha, classes=y)
    assert bracket.lower == pytest.approx(1 / np.sqrt(2))
    assert bracket.upper == pytest.approx(1 / np.sqrt(2))
    assert bracket.verify(X, y)
