# ruff: noqa: D205, D400, S101  (a gallery example begins with a title and asserts what it shows)
"""
The two curves of the convergence proof
=======================================

Every mistake of a perceptron raises the overlap w·w* with a separating plane by at least the margin κ, and the squared
length ‖w‖² by at most R². A line overtakes a square root, and an overlap cannot exceed a length, so the mistakes must end:
at most (R/κ)² of them, whatever the order of the examples and the number of features (Novikoff 1962).
"""

import matplotlib.pyplot as plt
import numpy as np

import halfspace as hs
from halfspace.certificates import MarginBracket, MistakeBound, Novikoff
from halfspace.plots import MistakeBoundDisplay

# %%
# One run
# -------
# A teacher labels 500 points on the unit sphere and keeps a gap of 0.05 free on both sides of its plane. The solid curves
# are measured after each epoch, the dashed ones are the theorem's, with the plane the run ended with in the place of w*.

toy = hs.data.teacher_student(500, 10, margin=0.05, random_state=0)
model = hs.Perceptron(intercept="none", random_state=0).fit(toy.X, toy.y)
print(model.outcome_)
print(model.certificate_)

display = MistakeBoundDisplay.from_estimator(model)
display.ax_.figure.set_layout_engine("constrained")

assert (display.overlap >= display.kappa * display.mistakes - 1e-9).all()
assert (display.length <= display.radius * np.sqrt(display.mistakes) + 1e-9).all()
assert model.certificate_.verify(toy.X, toy.y)

# %%
# Several margins
# ---------------
# The bound in `certificate_` uses the margin of the plane the run ended with: that is what the fit can prove by itself. The
# teacher is a better witness. `MarginBracket.measure` certifies its margin on the same examples, and with it the theorem
# allows fewer mistakes. The mistakes actually made are fewer still: a bound for every order is not reached by most.

margins = [0.02, 0.05, 0.1, 0.2, 0.4]
mistakes, own, teachers = [], [], []
for margin in margins:
    toy = hs.data.teacher_student(500, 10, margin=margin, random_state=0)
    model = hs.Perceptron(intercept="none", random_state=0).fit(toy.X, toy.y)
    witness = MarginBracket.measure(toy.X, toy.y, weights=toy.teacher, strengths=model.alpha_, positive=1)
    better = MistakeBound.of(model.mistakes_, witness, Novikoff())
    assert model.outcome_.converged
    assert better.verify(toy.X, toy.y)
    assert model.mistakes_ <= better.bound <= 1.0 / margin**2 + 1e-6
    mistakes.append(model.mistakes_)
    own.append(model.certificate_.bound)
    teachers.append(better.bound)
    print(f"margin {margin:4.2f}: {better}")

figure, ax = plt.subplots(layout="constrained")
ax.loglog(margins, own, "o--", color="#b2182b", label="bound with the margin of the plane found")
ax.loglog(margins, teachers, "s--", color="#2166ac", label="bound with the margin of the teacher, 1/κ²")
ax.loglog(margins, mistakes, "k.-", label="mistakes made")
ax.set_xlabel("margin κ of the teacher")
ax.set_ylabel("mistakes")
ax.legend()
plt.show()
