"""The JSON of certificates, and proofs of `halfspace separable`: texts and trees."""

import json
from pathlib import Path

import numpy as np

from fuzz.engine import Target, folder_in_memory
from fuzz.mutations import JUNK, change_bytes, change_tree, doubled_name
from halfspace.certificates import from_json
from halfspace.cli.certify import _claim_of_json
from halfspace.errors import CertificateError, InputError

__all__ = ["Certificates"]

STORED = Path(__file__).parents[1] / "certificates" / "stored"
CLAIM_JUNK = [
    *JUNK,
    {"kernel": "RBF", "gamma": 1e308},
    {"kernel": "Polynomial", "degree": 999, "gamma": 1.0, "coef0": 1.0},
    {"theorem": "Novikoff", "slowest": 1.0, "fastest": 1.0, "margin": 0.0, "start": 0.0},
    {"kind": "OneLabel", "label": "a"},
    [[1.0, 2.0], [3.0, 4.0]],
    [1.0, 2.0, 3.0],
    [0, 1],
]


class Certificates(Target):
    """Mutants of a certificate of every kind: refused as damaged, or judged against its data."""

    name, suffix = "certificates", ".json"

    def corpus(self):
        self._stored = []
        for path in sorted(STORED.glob("*.json")):
            body = json.loads(path.read_text(encoding="utf-8"))
            X, y = np.array(body["X"]), None if body["y"] is None else np.array(body["y"])
            self._stored.append((json.dumps(body["certificate"]), X, y))
        proof = json.loads(self._stored[0][0])
        about = {"halfspace": "separability", "format": 1, "scale": "none", "target": "y", "n_rows": 9, "rows": [0, 1, 2]}
        self._stored.append((json.dumps({**about, "certificate": proof}), *self._stored[0][1:]))
        self._path = folder_in_memory() / "proof.json"
        return len(self._stored)

    def original(self, number):
        return number, self._stored[number][0]

    def change(self, subject, chance):
        number, text = subject
        kind = chance.randrange(20)
        try:
            tree = json.loads(text) if kind > 1 else None
        except (ValueError, RecursionError):
            tree = None
        if not isinstance(tree, dict | list):
            changed = doubled_name(text, chance) if kind == 0 else change_bytes(text.encode(), chance).decode(errors="replace")
            return number, changed
        strange = json.loads(self._stored[chance.randrange(len(self._stored))][0]) if kind == 2 else None
        change_tree(tree, chance, CLAIM_JUNK, strange)
        return number, json.dumps(tree)

    def content(self, subject):
        return subject[1].encode(errors="surrogatepass")

    def revived(self, content, number):
        return number, content.decode(errors="surrogatepass")

    def tried(self, subject):
        number, text = subject
        _, X, y = self._stored[number]
        try:
            certificate = from_json(text) if number < len(self._stored) - 1 else self._proof(text)
        except CertificateError:
            return False
        str(certificate), repr(certificate)
        try:
            verdict = certificate.verify(X, y)
        except InputError:
            return False
        assert isinstance(verdict.holds, bool)
        assert isinstance(str(verdict), str)
        from_json(certificate.to_json())
        return True

    def _proof(self, text):
        """Read a proof as `halfspace certify` does."""
        self._path.write_bytes(text.encode(errors="replace"))
        return _claim_of_json(self._path).certificate
