"""Files of format 1, which our own code wrote before `safetensors` did and before classes declared what they learn.

The layout is that of safetensors too, but the metadata has several entries and the checksum is over the bytes of the file.
What models kept then is brought into today's shape before it is checked like everything else. Quantisers, prototype classifiers
and kernel MinOver kept states that have no counterpart today: such a file is refused, with the advice to fit again.
"""

from typing import Any

import numpy as np

from halfspace.certificates.fields import Record
from halfspace.errors import ModelFileError
from halfspace.modelfiles.codec import Decoder

__all__ = ["Format1Decoder"]

RECORDS = {"Page": "_Page"}
"""Names of records that were not, but for the module before the point, those of their classes."""
PARAMETERS: dict[str, dict[str, str]] = {
    "KernelAdaTron": {"cells": "n_cells", "approximation": "", "n_components": ""},
    "KernelPerceptron": {"budget_rule": ""},
    "KMeans": {"n_prototypes": "n_clusters", "n_starts": "n_init"},
    "BayesianRegression": {"alpha": "prior_precision", "beta": "noise_precision"},
}
"""Names of parameters today, empty for those that are gone."""
LEARNT = {"BayesianRegression": {"alpha_": "prior_precision_", "beta_": "noise_precision_"}}
LOST = ("VectorQuantizer", "NeuralGas", "LVQ", "GLVQ", "GRLVQ", "GMLVQ", "KernelMinOver")


class Format1Decoder(Decoder):
    """Reads the tree of a file of format 1."""

    def _csr(self, node: dict[str, Any], depth: int) -> Any:
        buffers = {name: {"@array": node[name]} for name in ("data", "indices", "indptr")}
        return super()._csr({**node, **buffers}, depth)

    def _record(self, node: dict[str, Any], depth: int) -> Record:
        key, fields = str(node["@record"]), self._named(node["fields"], depth)
        if key in ("sweep.State", "kernel_perceptron.State"):
            fields.update({"W": fields.pop("outputs")} if "outputs" in fields else {})
            fields.update(earlier=fields["updates"].copy(), active=np.ones_like(fields["updates"]))
            fields["clock"] = np.r_[fields["clock"], np.zeros(3, dtype=np.int64)]
        if key == "averaged.Mean":
            fields["total"] = fields["U"].copy()
        if key == "KernelAnswer":
            fields = {name: value for name, value in fields.items() if name not in ("reason", "rounds", "course")}
        name = key.rpartition(".")[2]
        return Record(RECORDS.get(name, name), fields)

    def _renewed(self, key: str, params: dict[str, Any], fitted: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        if key in LOST and fitted:
            msg = f"a fitted {key} of format 1 cannot be read any more: fit it again with this version"
            raise ModelFileError(msg)
        names = PARAMETERS.get(key, {})
        params = {names.get(name, name): value for name, value in params.items() if names.get(name, name)}
        fitted = {LEARNT.get(key, {}).get(name, name): value for name, value in fitted.items() if name != "_loose"}
        memory = fitted.get("_memory")
        if isinstance(memory, Record) and memory.key == "Mean":
            state, T = fitted["_state"].fields, max(int(fitted["_state"].fields["clock"][0]), 1)
            fitted["_W"] = state["W"] - memory.fields["U"] / T
            fitted["_alpha"] = state["alpha"] - memory.fields.pop("settled") / T
        if isinstance(memory, Record) and memory.key == "Pocket":
            fitted.update(_W=memory.fields["W"].copy(), _alpha=memory.fields["alpha"].copy())
        learner = fitted.get("_learner")
        if isinstance(learner, Record) and isinstance(learner.fields.get("memory"), Record):
            learner.fields["memory"].fields.pop("settled", None)
        return params, fitted
