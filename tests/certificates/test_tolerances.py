"""The tolerances and limits of the checkers: whoever changes one changes it here too, and says why claims may be wider now."""

import json
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from halfspace.certificates import arithmetic, expansion, from_json
from halfspace.certificates.calibration import Calibration
from halfspace.certificates.log_odds import LogOdds
from halfspace.certificates.margins.ballot import Ballot
from halfspace.certificates.operating import Share
from halfspace.certificates.pipeline import _alike
from halfspace.kernels import Linear

FILES = sorted((Path(__file__).parent / "stored").glob("*.json"))
KNOWN = {
    "arithmetic": {
        "EPS": 2.0**-52,
        "SMALLEST_ENTRY": 1e-146,
        "LARGEST_ENTRY": 1e150,
        "SUBNORMAL": 2.0**-1074,
        "NORMAL": 2.0**-1020,
        "EXACT_ENTRIES": 200_000,
    },
    "calibration": {"ENOUGH": 50_000, "SMALLEST": 1e-280},
    "components": {"DIGITS": 1e-9, "LARGEST": 1e-6, "SMALL": 500},
    "expansion": {"LARGEST": 4000, "FLOOR": 1e-290, "VANISHING": 1e-280, "ASYMMETRY": 1e-6},
    "groups": {"ROUNDING": 1e-12},
    "log_odds": {"KNOTS": 8, "LARGEST": 1e300, "DIGITS": 1e-9, "NEAR": 1e-3, "STEEPEST": 12.0},
    "margins.ballot": {"JUDGED": 1000},
    "margins.bracket": {"SLACK": 4.0, "LOOSE": 1e-7},
    "margins.gap": {"TINY": 1e-300, "MOST": 1e300},
    "margins.centre": {"NEAR": 1e-9},
    "margins.label_count": {"PRIME": 8388593, "SPARE": 32, "LARGEST": 4e9, "EXACT": 2e6},
    "margins.leave_one_out": {"TINY": 1e-290},
    "margins.separability": {"DIGITS": 131072, "BITS": 1048576},
    "margins.vote": {"TIE_BREAK": 0.25},
    "novelty": {"LOOSE": 1e-7},
    "operating": {"LEVEL": 0.95},
    "pipeline": {"DIGITS": 1e-9, "NEAR": 0.05},
    "prototypes.errors": {"WIDE": 1024, "TINY": 2.0**-1022, "COST_ROUNDING": 1e-9},
    "prototypes.quantisation": {"TINY": 2.0**-1022, "LARGEST": 2000, "WORK": 2e10},
    "regression.filtering": {"VANISHING": 1e-290, "SPARE": 1e-9},
    "regression.kernel_ridge": {"CLOSE": 1e-9, "CLOSE_LEFT_OUT": 1e-6},
    "regression.posterior": {"WIDE": 1024, "FINEST": 1e-9, "COARSEST": 0.1},
    "regression.ridge": {"SMALLEST": 1e-280, "TINY": 1e-307, "CLOSE": 1e-9},
    "stream": {"ROUNDING": 1e-9},
}


def stored(module):
    """Return the stored certificates of a module, with their data."""
    for path in FILES:
        kept = json.loads(path.read_text(encoding="utf-8"))
        if (proof := from_json(json.dumps(kept["certificate"]))).__class__.__module__.endswith(module):
            yield proof, np.array(kept["X"]), kept["y"] and np.array(kept["y"])


OUTPUTS, TARGET = np.array([-1.0, 0.5, 1.0, -0.5]), np.array([0, 1, 1, 0])
AT_WORK = {
    "arithmetic": lambda: arithmetic.radius(OUTPUTS[:, None], 1.0) > 1.0,
    "calibration": lambda: Calibration.of(OUTPUTS[:0], TARGET[:0]).probabilities(OUTPUTS).shape == (4, 2),
    "expansion": lambda: expansion.scales(Linear(), OUTPUTS[:, None], 0.0).radius > 0.0,
    "log_odds": lambda: LogOdds.of(OUTPUTS[:0], TARGET[:0]).sound(2),
    "margins.ballot": lambda: Ballot(0, TARGET, OUTPUTS, TARGET, 4).errors == 0,
    "operating": lambda: Share.of_counts("recall", 0, 0).of == 0,
    "pipeline": lambda: _alike(1.0, 1.0),
}
"""What has code of a module at work that no certificate is kept of."""


@pytest.mark.parametrize("module", KNOWN)
def test_tolerances_and_limits_are_those_known(module):
    """Each is the number that its module explains, and with it checkers confirm what they confirmed."""
    if module in AT_WORK:
        assert AT_WORK[module]()
    else:
        proof, X, y = next(stored(module))
        assert proof.verify(X, y)
    found = import_module(f"halfspace.certificates.{module}")
    assert {name: getattr(found, name) for name in KNOWN[module]} == {
        name: pytest.approx(value, rel=1e-12, abs=0.0) for name, value in KNOWN[module].items()
    }
