"""No fit hangs: a process goes through estimators and shapes, watched from outside."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import halfspace as hs
from halfspace.kernels.gram import LazyGram

pytestmark = pytest.mark.compiled
WATCHDOG = Path(__file__).with_name("watchdog.py")


def test_no_estimator_hangs_or_breaks_on_any_shape():
    """Every estimator learns from small shapes, dense and sparse, or refuses them with an error of its own, and ends."""
    done = subprocess.run([sys.executable, str(WATCHDOG), "--quick"], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("0 failed")


def test_a_kernel_machine_on_wide_sparse_rows_ends():
    """Sparse rows that are stored densely for products, in more pieces than there are threads, do not wait forever."""
    script = (
        "import numpy as np, scipy.sparse as sp, halfspace as hs\n"
        "X = sp.random(600, 8000, 0.005, format='csr', random_state=0)\n"
        "model = hs.KernelAdaTron('rbf', C=10, max_time=10).fit(X, np.arange(600) % 2)\n"
        "print(model.certificate_.verify(X, np.arange(600) % 2))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


def test_a_kernel_has_a_compiled_form_in_both_precisions_or_in_none(monkeypatch):
    """Sparse rows that fit densely in single but not in double precision are computed block by block in both."""
    X = sparse.random(60, 400, 0.05, format="csr", random_state=0)
    monkeypatch.setattr("halfspace.kernels.fast.blocked_products.LARGEST_DENSE", 6 * 60 * 400)
    gram, everyone = LazyGram(hs.kernels.RBF(0.1), X, stored=0.0), np.arange(60)
    single, double = (gram.block(everyone, everyone, dtype) for dtype in (np.float32, np.float64))
    np.testing.assert_allclose(single, double, rtol=1e-5)
    np.testing.assert_allclose(gram.times(everyone, np.ones(60), everyone, np.float64), double.sum(axis=0), rtol=1e-12)
    monkeypatch.setattr("halfspace.kernels.fast.blocked_products.LARGEST_DENSE", 1 << 29)
    np.testing.assert_allclose(LazyGram(hs.kernels.RBF(0.1), X).block(everyone, everyone, np.float64), double, rtol=1e-9)
