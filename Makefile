# make demo: set up and see it work    make test: set up and run the tests    make check: style, types, architecture
# make bench: race the peers           make docs: build the documentation
# make fuzz: mutants of everything that is read, for an hour (SECONDS=600 for ten minutes), and 20,000 drawn problems against an
# oracle in rational arithmetic (SEED=7 for others)
# make mutants: put small faults into the checkers and count those that no test notices
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off --constraint constraints.txt

.PHONY: demo test check fuzz mutants bench docs clean
.DELETE_ON_ERROR:

$(BIN)/python:
	@echo "== making a virtual environment in .venv"
	$(PYTHON) -c "import sys; sys.exit('halfspace needs Python 3.11 or newer, this is ' + sys.version.split()[0] if sys.version_info < (3, 11) else 0)"
	$(PYTHON) -m venv .venv

.venv/%.stamp: pyproject.toml constraints.txt | $(BIN)/python
	@echo "== installing halfspace and what 'make $*' needs (pinned in constraints.txt)"
	$(PIP) --editable ".[$(EXTRAS_$*)]"
	@touch $@

EXTRAS_demo := cli
# What these test imports no Numba, or stands above all that does: the lane with the JIT off would only repeat itself.
# (mail hashes by overflow of 64-bit numbers, which plain NumPy warns of.)
NOT_COMPILED := certificates cli data exports files fuzz ladder mail modelfiles oracle questions report tables theory \
	kernels/test_features.py kernels/test_mercer.py laws/test_regression.py models/test_linear_regression.py \
	models/test_bayesian_regression.py models/test_calibrated.py models/test_k_means.py models/test_elbow.py \
	test_contributing.py test_memory.py test_pages.py test_plots.py test_plots_helpers.py test_plots_prototypes.py \
	test_plots_validation.py test_public_names.py test_readme.py test_structure.py test_text_and_notes.py
EXTRAS_test := test
EXTRAS_check := check
EXTRAS_bench := bench
EXTRAS_docs := docs

demo: .venv/demo.stamp
	@echo "== from scikit-learn's breast-cancer table to the simplest model that is good enough (the first run compiles)"
	$(BIN)/halfspace fit
	@echo "== checking its proof, in a process that imports no solver"
	$(BIN)/halfspace certify model.halfspace

# Bytecode is kept, whatever the environment says: the tests start many processes, and the second lane reads it again.
test: export PYTHONDONTWRITEBYTECODE :=
test: .venv/test.stamp
	@echo "== tests, compiled"
	$(BIN)/python -m pytest -n 2 --dist loadfile -q
	@echo "== tests, with the JIT switched off"
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n 2 --dist loadfile -q -m "not compiled" tests $(patsubst %,--ignore=tests/%,$(NOT_COMPILED))

check: .venv/check.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

SEED ?= 1
SECONDS ?= 3600
fuzz: .venv/test.stamp
	@echo "== mutants of model files, certificates and data files"
	PYTHONPATH=tests $(BIN)/python -m fuzz --seconds $(SECONDS) --first $$(( ($(SEED) - 1) * 1000000000 ))
	@echo "== four writers of a mail filter's state, killed by signal 9"
	rm -rf .fuzz/kills && $(BIN)/python tests/mail/kills.py .fuzz/kills --kills 75 --seed $(SEED)
	@echo "== 50,000 mutants of a message"
	HALFSPACE_MAIL_MUTANTS=50000 $(BIN)/python -m pytest -q tests/mail/test_hostile.py -k mutants
	@echo "== verified claims against the truth in rational arithmetic"
	$(BIN)/python -m pytest -n 2 -q tests/oracle --cases 20000 --seed $(SEED)
	@echo "== every estimator on shapes up to 3,000 x 30,000, with a watchdog (about half an hour)"
	$(BIN)/python tests/contract/watchdog.py

mutants: .venv/test.stamp
	@echo "== small faults in checkers and claims: which do the tests miss?"
	$(BIN)/python -m benchmarks.mutants

bench: .venv/bench.stamp
	@$(PIP) --quiet --editable ".[peers]" || echo "== LIBLINEAR needs a compiler and is left out of the races"
	$(BIN)/python -m benchmarks

docs: .venv/docs.stamp
	$(BIN)/python -m sphinx -W -b html docs docs/_build/html

clean:
	rm -rf .venv .numba_cache .pytest_cache .mypy_cache .ruff_cache docs/_build docs/gallery docs/api
