"""Open functions: the same in Python and compiled, and found in the cache by a new process."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import pytest
from numba import njit
from numba.core import caching
from numba.core.compiler import Flags

from halfspace import _dispatch, _linking
from halfspace._dispatch import open_function
from halfspace._flags import QuickFlags
from halfspace.rows.views import Clamped, dot

SCRIPT = """
import numpy as np
from numba.core.event import install_recorder
from scipy import sparse
import halfspace as hs
from halfspace.solvers.rules import sweep
from halfspace.rows.operations import outputs

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 5))
y = np.where(X[:, 0] > 0, 1, 0)
with install_recorder("numba:compile") as recorder:
    for model, A in ((hs.AveragedPerceptron(), X), (hs.PassiveAggressive(), sparse.csr_matrix(X))):
        model.fit(A, y).predict(A)
functions = [sweep.present, outputs.__globals__["_outputs"], outputs.__globals__["_squared_norms"]]
hits = sum(sum(f.stats.cache_hits.values()) for f in functions)
misses = sum(sum(f.stats.cache_misses.values()) for f in functions)
print(hits, misses, len(recorder.buffer))
"""


@pytest.mark.compiled
def test_a_second_process_compiles_nothing(tmp_path):
    """What one process compiled, nested views and rules included, the next one finds in the on-disk cache."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}

    def run():
        done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True, env=environment)
        return tuple(int(number) for number in done.stdout.split())

    hits, misses, compiled = run()
    assert hits == 0
    assert 0 < misses < compiled  # with what only compiled code calls, which is kept as a part of it
    files = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")}
    assert run() == (misses, 0, 0)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nb*")} == files


def test_python_and_compiled_code_agree():
    """The same call gives the same result in plain Python and in compiled code."""
    from halfspace._dispatch import compiled

    view, w = Clamped(np.arange(6.0).reshape(2, 3), 2.0), np.array([1.0, -1.0, 0.5, 3.0])
    assert compiled(lambda X, w: dot(X, 1, w))(view, w) == dot(view, 1, w) == 3.0 - 4.0 + 2.5 + 6.0


@pytest.mark.compiled
def test_an_inlined_implementation_is_not_compiled_by_itself():
    """Numba compiles the caller alone; should its private attributes change, this fails and the compile times rise."""
    from numba import njit
    from numba.core.event import install_recorder

    with install_recorder("numba:compile") as recorder:  # without a cache, which would leave nothing to compile
        assert njit(lambda X, w: dot(X, 0, w))(Clamped(np.ones((1, 2)), 1.0), np.ones(3)) == 3.0
    names = {event.data["dispatcher"].__name__ for _, event in recorder.buffer}
    assert names == {"<lambda>"}


@pytest.mark.compiled
def test_what_only_compiled_code_calls_runs_in_python_too():
    """A helper without an entry from Python runs as it is written when Python calls it, compiled for others or not."""
    helper = _dispatch.compiled_inside(doubled)
    assert helper(21) == 42
    assert _dispatch.compiled(lambda x: helper(x) + 1)(20) == 41
    assert helper(21) == 42
    assert helper("ab") == "abab"


@pytest.mark.compiled
@pytest.mark.parametrize("options", [_dispatch.LINKED, {}])
def test_what_only_compiled_code_calls_is_a_part_of_its_callers(monkeypatch, options):
    """It is not made machine code by itself; should Numba's classes change, this fails, and it goes the ordinary way."""
    assert _dispatch.LINKED
    monkeypatch.setattr(_dispatch, "LINKED", options)
    helper = _dispatch.compiled_inside(lambda x: np.sqrt(x) + 1.0)
    assert _dispatch.compiled(lambda x: 2.0 * helper(x))(9.0) == 8.0
    (found,) = helper.overloads.values()
    assert (options != {}) == (type(found.library).__name__ == "Linked")


@pytest.mark.compiled
def test_what_both_call_is_compiled_for_who_calls_it():
    """A compiled caller takes a twin in, and nothing is compiled for Python before Python calls; both give the same."""
    function = _dispatch.compiled_and_inside(lambda x: np.sqrt(x) + 1.0)
    assert _dispatch.compiled(lambda x: 2.0 * function(x))(9.0) == 8.0
    assert not function.overloads
    assert function(9.0) == 4.0
    assert len(function.overloads) == 1


@pytest.mark.compiled
def test_options_of_a_compilation_are_compared_quickly():
    """They equal Numba's own, by value and by hash; should Numba ask no more which to use, this fails, and compiling slows."""
    quick, other = QuickFlags(), QuickFlags()
    other.nrt = not other.nrt
    assert quick == QuickFlags() == Flags() == quick
    assert quick != other != Flags()
    assert hash(quick) == hash(other) == hash(Flags())
    used = _dispatch.compiled(lambda x: x)._compiler._customize_flags(Flags())
    assert type(used.copy()) is QuickFlags


def test_another_numba_goes_the_ordinary_way(monkeypatch):
    """Where Numba lacks something that is needed, there are no options."""
    monkeypatch.setattr(_linking, "NEEDED", ("something that another Numba lacks",))
    assert _linking.linked() == {}


def test_an_unknown_type_is_refused_by_name():
    """A type nobody registered is refused with the list of those that are."""

    class Stranger(NamedTuple):
        a: int

    @open_function
    def greet(thing): ...

    greet.register(np.ndarray)(lambda thing: thing.size)
    assert greet(np.ones(3)) == 3
    with pytest.raises(TypeError, match=r"greet has no implementation for Stranger; there are: ndarray"):
        greet(Stranger(1))


@pytest.mark.compiled
def test_what_could_not_be_compiled_in_time_is_not_begun(monkeypatch):
    """Past the deadline a function that is not compiled yet is refused; one that is works, and later all do."""
    monkeypatch.setattr(_dispatch, "COMPILING", 60.0)
    ready, fresh = njit(lambda x: x + 1), njit(lambda x: x + 2)
    assert ready(1) == 2
    with _dispatch.compiling_until(time.perf_counter() + 30.0):
        assert ready(1) == 2
        with pytest.raises(_dispatch.LateCompilationError, match="would have to be compiled"):
            fresh(1)
    with _dispatch.compiling_until(None):
        assert fresh(1) == 3


@pytest.fixture
def heeding_ctrl_c():
    """Let Ctrl-C be heard: a shell has it ignored by what it runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.compiled
@pytest.mark.usefixtures("heeding_ctrl_c")
def test_ctrl_c_waits_until_a_function_is_compiled():
    """Ctrl-C in the middle of a compilation comes after it: the function is there, and other threads may compile."""
    function = njit(lambda x: x + 3)
    with pytest.raises(KeyboardInterrupt), _dispatch.hearing_compilations(lambda: signal.raise_signal(signal.SIGINT)):
        function(1)
    assert len(function.signatures) == 1
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with ThreadPoolExecutor(1) as other:
        assert other.submit(njit(lambda x: x + 4), 1).result(60) == 5
    assert function(1) == 4


def doubled(x):
    return x + x


@pytest.mark.compiled
def test_without_a_place_for_the_cache_code_is_compiled_all_the_same(monkeypatch):
    """In a read-only package without a home directory the fit runs, and one warning says that nothing is kept."""
    monkeypatch.setattr(caching.CompileResultCacheImpl, "_locator_classes", [])
    monkeypatch.setenv("NUMBA_CACHE_LOCATOR_CLASSES", "")
    _dispatch._say_that_nothing_is_kept.cache_clear()
    with pytest.warns(RuntimeWarning, match="Set the environment variable NUMBA_CACHE_DIR") as said:
        functions = [_dispatch.compiled(doubled), _dispatch.compiled_as_written(doubled)]
    assert [function(21.0) for function in functions] == [42.0, 42.0]
    assert len(said) == 1


@pytest.mark.compiled
def test_a_disk_that_is_full_does_not_stop_the_fit(monkeypatch):
    """Where compiled code cannot be saved the result is there all the same, and a warning says so."""

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "save", full)
    _dispatch._say_that_nothing_is_kept.cache_clear()
    with pytest.warns(RuntimeWarning, match="cannot keep its compiled code"):
        assert _dispatch.compiled(doubled)(np.float32(21.0)) == 42.0
