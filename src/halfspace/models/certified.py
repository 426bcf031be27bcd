"""What every model with a certificate can do: check the certificate, and that it is about what predicts."""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from halfspace._learnt import Learnt
from halfspace._typing import Matrix
from halfspace.certificates import Certificate, Verdict
from halfspace.certificates.predictor import tied

__all__ = ["Certified"]


class Certified(Learnt):
    """A model whose fit leaves a `certificate_`."""

    def verify(self, X: Matrix, y: Any = None) -> Verdict:
        """Check the certificate against the examples it is about, and that the model predicts with the numbers it is about.

        `certificate_.verify(X, y)` knows the proof alone; this also refutes a model whose weights, prototypes, labels or
        support vectors are not those of its proof any more.

        Parameters
        ----------
        X : array or CSR matrix, shape (n, d)
            The examples given to `fit`.
        y : array, shape (n,), optional
            Their labels or targets; models without labels do not need them.

        Returns
        -------
        Verdict
            True only if every claim was confirmed from the data, and is about the very numbers that predict.
        """
        check_is_fitted(self)
        proof: Certificate | None = getattr(self, "certificate_", None)
        if proof is None:
            return Verdict.of((False, f"this {type(self).__name__} has no certificate: `outcome_` says how it was fitted"))
        return proof.verify(X, y) and tied(vars(self), proof, X, y)
