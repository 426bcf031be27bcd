"""The centre of a version space: planes that agree with all labels, and the direction of their mean.

The version space of two classes are all planes that agree with the labels, w with y_i w·x_i > 0 for all i. What can be proved
is that planes are in it, one by one, and that the plane which predicts is the direction of their mean; it is in it too, because
the space is convex. That the planes were drawn uniformly, so that this mean is near the centre of mass, no data can prove. If
no plane is in it, Gordan's multipliers say so (`Separability`). In a kernel's space these are known only where one example has
both labels, as no function can be right on it twice.
"""

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from halfspace._typing import FloatArray, Label, Labels, Matrix
from halfspace.certificates.arithmetic import signs
from halfspace.certificates.base import Certificate, Verdict, from_plain
from halfspace.certificates.expansion import proved_scales
from halfspace.certificates.fields import revived
from halfspace.certificates.margins.bracket import KernelBracket, MarginBracket
from halfspace.certificates.margins.separability import Separability
from halfspace.certificates.rational import dense_rows
from halfspace.certificates.version_space import outside, unsure

__all__ = ["NONE", "VersionSpaceCentre"]

NONE = np.empty((0, 0))
"""No members."""
NEAR = 1e-9
"""The mean of unit vectors, and its direction, may be off by this."""


@dataclass(frozen=True, eq=False)
class VersionSpaceCentre(Certificate):
    """Planes that agree with all labels, with their mean as the plane that predicts; or the proof that there is none.

    Parameters
    ----------
    bracket : MarginBracket or KernelBracket
        The plane that predicts and its margin.
    members : ndarray, shape (S, D)
        Planes in the version space, the clamped weight last; of a kernel coefficients of all examples. (0, 0): none known.
    empty : Separability or None
        The proof that there is none.

    Examples
    --------
    >>> import halfspace as hs
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 0])
    >>> model = hs.BayesPoint(intercept="none", n_members=100, random_state=0).fit(X, y)
    >>> print(str(model.certificate_)[:49])
    the mean of 100 planes that agree with all labels
    >>> bool(model.certificate_.verify(X, y)), bool(model.certificate_.verify(X, 1 - y))
    (True, False)
    """

    bracket: MarginBracket | KernelBracket
    members: Annotated[FloatArray, "finite(S,D)"]
    empty: Separability | None = None

    @property
    def positive(self) -> Label:
        """The label that counts as +1."""
        return self.bracket.positive

    @property
    def separable(self) -> bool | None:
        """True with members, False with the proof that there are none, None with neither."""
        return True if len(self.members) else None if self.empty is None else False

    def __str__(self) -> str:
        if self.empty is not None:
            return f"no plane agrees with all labels: {self.empty}"
        known = (
            f"the mean of {len(self.members):,} planes that agree with all labels" if len(self.members) else "no plane known"
        )
        return f"{known}; {self.bracket}"

    @classmethod
    def from_fields(cls, body: dict[str, Any]) -> Self:
        """Rebuild from the plain form, in which no members have no width."""
        found = revived(cls, body, from_plain)
        members = found["members"]
        if isinstance(members, np.ndarray) and members.size == 0:
            found["members"] = NONE
        return cls(**found)

    def consistent(self) -> list[tuple[bool, str]]:
        """Check that members and the proof that there are none exclude each other, and are about the same problem."""
        found = [*self.bracket.consistent(), (not self.bracket.free, "the bias of a version space is clamped or none")]
        if self.empty is not None:
            proof, bracket = self.empty, self.bracket
            found += [
                *proof.consistent(),
                (not len(self.members), "there are members, and a proof that there are none"),
                (proof.verdict == "inseparable", "the proof that there are none is about planes that exist"),
                (proof.intercept == bool(bracket.clamp), "the proof is for another intercept"),
                (
                    type(proof.positive) is type(bracket.positive) and proof.positive == bracket.positive,
                    "another positive label",
                ),
                (proof.answer is None and not proof.one_class, "the proof is about something else"),
            ]
        return found

    def predictor(self, y: Labels) -> dict[str, Any]:
        """Return the plane, and the members, whose disagreement with it is told."""
        return {**self.bracket.predictor(y), "members": [self.members]}

    def confirm(self, X: Matrix, y: Labels) -> Verdict:
        """Check the plane, every member without rounding, and that the plane is the direction of their mean."""
        verdict = Verdict.all_of([("bracket", self.bracket.confirm(X, y))])
        if not verdict:
            return verdict
        if self.empty is not None:
            verdict = Verdict.all_of([("empty", self.empty.confirm(X, y))])
            return verdict and Verdict.of((self._contradiction(X), "the proof does not hold in the kernel's space"))
        return self._confirmed(X, y) if len(self.members) else verdict

    def _contradiction(self, X: Matrix) -> bool:
        """Tell whether multipliers mean something where the plane is: in a kernel's space, of one example with both labels."""
        if isinstance(self.bracket, MarginBracket):
            return True
        rows = np.array(list(self.empty.multipliers) if self.empty is not None else [], dtype=np.int64)
        same = rows.size == 2 and not self.bracket.kernel.is_precomputed
        return same and np.array_equal(*dense_rows(X, rows, 0.0))

    def _confirmed(self, X: Matrix, y: Labels) -> Verdict:
        bracket, sign = self.bracket, signs(y, self.bracket.positive)
        if isinstance(bracket, MarginBracket):
            centre = bracket.weights
            width = centre.size
        else:
            width = X.shape[0]
            centre = np.zeros(width)
            centre[bracket.support] = bracket.coefficients
        if self.members.shape[1] != width:
            return Verdict.of((False, f"members of {self.members.shape[1]} numbers, not {width}"))
        planes = np.vstack([self.members, centre])
        if isinstance(bracket, MarginBracket):
            out = outside(sign[:, None] * dense_rows(X, np.arange(X.shape[0]), bracket.clamp), planes)
        else:
            out = unsure(bracket.kernel, X, sign, planes, bracket.clamp, proved_scales(bracket.kernel, X, bracket.clamp))
        mean = self.members.mean(axis=0)
        off = centre / np.linalg.norm(centre) - mean / np.linalg.norm(mean)
        return Verdict.of(
            (not out[:-1].any(), f"{int(out[:-1].sum())} of the members do not agree with all labels"),
            (not out[-1], "the plane that predicts does not agree with all labels"),
            (bool(np.linalg.norm(off) <= NEAR), "the plane that predicts is not the mean of the members"),
        )
