"""Leave-one-out errors: from where on an example is cleared by the bound, and its sign sure, to the last digits."""

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from halfspace import certificates as proofs
from halfspace.certificates.margins import leave_one_out as left_out
from halfspace.certificates.margins.leave_one_out import LeaveOneOut, Refits, _Found, _sure_sign

UNIT = 2.0**-20
"""The precision of a coarse arithmetic, in which all that is allowed for rounding can be seen."""
X = np.array([[-3.0], [-2.0], [-1.25], [1.0], [2.25], [3.0], [-2.5]])
Y = np.array([0, 0, 0, 1, 1, 1, 1])


@pytest.mark.parametrize("C", [0.4, 5.0])
@pytest.mark.parametrize(("alpha", "t"), [(0.0, 1.0), (0.25, 1.0), (0.25, 0.5)])
def test_examples_are_cleared_up_to_the_bound_of_jaakkola_and_haussler(C, alpha, t, monkeypatch):
    """h = g + α (1 - E + error) + α² K/2, with 64 roundings, is below C (1 - C K/2), or below 1/(2K) where C is large."""
    monkeypatch.setattr(left_out, "EPS", UNIT)
    K, E, error = 1.5**2, 0.875, 2.0**-6
    a = t * alpha
    most = (C * (1.0 - C * K / 2.0) if C < 1.0 / K else 1.0 / (2.0 * K)) / (1.0 + 64.0 * UNIT)
    edge = most - a * (1.0 - E + error) - a * a * K / 2.0
    proof = LeaveOneOut.draft(X, Y, proofs.DualityGap.measure(X, Y, weights=np.ones(1), strengths=np.zeros(7), C=C, positive=1))
    caps, lengths = np.array([C, C, 0.0, C]), np.array([1.5, 1.5, 1.5, 0.0])
    monkeypatch.setattr(proofs.DualityGap, "_caps", lambda *_: caps)
    about = SimpleNamespace(base=np.array([alpha, 0.0, 0.0, 0.0]), lengths=lengths)
    for gap, cleared in ((edge * (1 - 1e-9), True), (edge * (1 + 1e-9), False), (np.inf, False), (np.nan, False)):
        found = _Found(gap, t, np.full(4, E), np.full(4, error))
        monkeypatch.setattr(LeaveOneOut, "_found", lambda *_, found=found: iter([found]))
        assert bool(proof._cleared(about, 1.0)[0]) is cleared
        assert proof._cleared(about, 1.0)[2]
    far = _Found(0.9 * C, t, np.full(4, E), np.full(4, error))
    monkeypatch.setattr(LeaveOneOut, "_found", lambda *_: iter([far]))
    assert proof._cleared(about, 1.0)[3]  # of length 0: only h < C counts
    monkeypatch.setattr(LeaveOneOut, "_found", lambda *_: iter([far._replace(gap=1.1 * C)]))
    assert not proof._cleared(about, 1.0)[3]
    monkeypatch.setattr(LeaveOneOut, "_found", lambda *_: iter([far._replace(gap=0.0)]))
    assert proof._cleared(about, 1.0)[1]


def test_a_sign_is_sure_beyond_the_reach_of_the_gap(monkeypatch):
    """Where |E| is above √(2g) times the length, with 64 roundings, and its own rounding; at that, or no number, it is not."""
    monkeypatch.setattr(left_out, "EPS", UNIT)
    about = SimpleNamespace(scales=None, lengths=np.array([3.0, 0.0, 0.0]), sign=np.array([1.0, 1.0, -1.0]))
    reach = np.sqrt(2.0 * 0.125) * 3.0 * (1.0 + 64 * UNIT) + 0.0625
    for off, sure in ((0.0, 0), (1e-12, 1), (-1e-12, 0)):
        for side in (1, -1):
            found = _Found(0.125, 1.0, np.array([side * reach * (1.0 + off)]), np.array([0.0625]))
            assert _sure_sign(found, 0, about) == side * sure
    assert _sure_sign(_Found(-1.0, 1.0, np.array([0.07]), np.array([0.0625])), 0, about) == 1
    assert _sure_sign(_Found(0.1, 1.0, np.array([np.nan]), np.zeros(1)), 0, about) == 0
    nothing = _Found(0.0, 1.0, np.zeros(3), np.zeros(3))
    assert [_sure_sign(nothing, i, about) for i in (1, 2)] == [-1, 1]
    about.scales = "of a kernel"
    assert _sure_sign(nothing, 1, about) == 0


def whole():
    """Return the stored certificate, which is of these examples."""
    kept = json.loads((Path(__file__).parent / "stored" / "LeaveOneOut.json").read_text(encoding="utf-8"))
    return proofs.from_json(json.dumps(kept["certificate"]))


def test_changes_are_kept_in_order():
    """Only strengths that differ are kept, refit by refit; starts, suspects and counts that cannot be are refused."""
    base = np.array([1.0, 0.0, 2.0])
    found = Refits.of(base, [(2, np.array([1.0, 0.5, 0.0])), (0, base), (1, np.array([3.0, 0.0, 2.0]))])
    assert [part.tolist() for part in found] == [[2, 0, 1], [0, 2, 2, 3], [1, 2, 0], [0.5, 0.0, 3.0]]
    proof = whole()
    assert proof.well_formed()
    q, p = proof.suspects.size, proof.changed.size
    for starts in (
        proof.starts[:-1],
        proof.starts + (np.arange(q + 1) == 0),
        proof.starts + (np.arange(q + 1) == q),
        [0, p, 0, *[p] * (q - 2)],
    ):
        assert not replace(proof, starts=np.array(starts)).well_formed()
    for change, sound in (
        ({"starts": np.array([0, *[p] * q])}, True),
        ({"errors": proof.examples - proof.undecided}, True),
        ({"errors": proof.examples + 1 - proof.undecided}, False),
        ({"suspects": np.full(q, proof.suspects[0])}, False),
        ({"gap": replace(proof.gap, bias=0.0, free=True, clamp=0.0, weights=proof.gap.weights[:1])}, False),
    ):
        assert bool(replace(proof, **change).well_formed()) is sound


def test_what_the_data_contradict_is_refused():
    """Other counts, examples that are not there, refits that keep the example or are beyond the cap."""
    proof = whole()
    suspects = proof.suspects.copy()
    suspects[0] = 7
    owner = np.repeat(proof.suspects, np.diff(proof.starts))
    own, beyond = (
        np.where(at, value, proof.strengths) for at, value in ((proof.changed == owner, 0.5), (proof.strengths > 0, 1.5))
    )
    for change in (
        {"errors": proof.errors + 1},
        {"errors": proof.errors - 1, "undecided": 1},
        {"undecided": proof.undecided + 1},
        {"examples": 8},
        {"suspects": suspects},
        {"strengths": own},
        {"strengths": beyond},
    ):
        assert not replace(proof, **change).verify(X, Y), change
    assert proof.verify(X, Y)
