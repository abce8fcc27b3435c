# The one menu. `make` lists it. Everything sets itself up: Python >= 3.11 and a C compiler are enough.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SANITIZED := .venv-sanitized
BENCH := .venv-bench
LIVE := .venv-live
SDK := .venv-sdk
PEERS := .venv-peers
SOURCES := $(wildcard ext/core/*.[ch] ext/binding/*.p*) setup.py pyproject.toml
PACKAGE := $(SOURCES) $(shell find src -name '*.py')
FUZZ_SECONDS ?= 60
BENCH_RUN := TRIGATE_BENCH_NODE=$(BENCH)/node $(BENCH)/bin/python -m pytest -c benchmarks/pytest.ini benchmarks \
    --benchmark-quiet --benchmark-json build/bench/pytest-benchmark.json --benchmark-storage build/bench

.PHONY: help demo test check test-c test-cross test-sanitized fuzz bench bench-full bench-counts behaviour live sdk peers wheels ledger-faults bench-ledger bench-execution docs clean

help:
	@echo "make demo            build, and read one good and one cut stream"
	@echo "make test            the Python tests"
	@echo "make check           lint, format, types, stubs, C format"
	@echo "make test-c          the C tests, under AddressSanitizer and UndefinedBehaviorSanitizer"
	@echo "make test-cross      the C tests as on aarch64 and on a big-endian machine (qemu), and with musl"
	@echo "make test-sanitized  the Python tests over a sanitized extension"
	@echo "make fuzz            coverage-guided fuzzing, FUZZ_SECONDS=$(FUZZ_SECONDS) a target (needs clang)"
	@echo "make bench           trigate beside its peers: a quick look, into build/bench"
	@echo "make bench-full      the same with long streams and more rounds, into benchmarks/results and the README"
	@echo "make bench-counts    instructions for each event, and the speed of each kernel, into benchmarks/README.md"
	@echo "make behaviour       what other libraries do with the bytes of the cut matrix"
	@echo "make live            a real server: llama.cpp with a small model (docs/live.md)"
	@echo "make sdk             the official SDKs: what goes back, what a gate refuses, and their streams, patched"
	@echo "make peers           the test suites of the libraries whose faces we have, against our faces (docs/compat)"
	@echo "make wheels          a wheel for every CPython here, each tested without a compiler (docs/packaging.md)"
	@echo "make ledger-faults   ledgers under races and kill -9: 1,000 calls and 300 kills for each"
	@echo "make bench-ledger    claims a second for each ledger, into benchmarks/README.md"
	@echo "make bench-execution what the runner adds to a call, into docs/execution.md"
	@echo "make docs            write the generated pages again"

$(VENV)/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "trigate needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0])'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/installed: $(VENV)/created $(SOURCES)
	$(BIN)/pip install -q --disable-pip-version-check -e '.[all,test]'
	touch $@

$(VENV)/checkers: $(VENV)/installed
	$(BIN)/pip install -q --disable-pip-version-check -e '.[all,test,check]'
	touch $@

demo: $(VENV)/installed
	@echo "== a response that ended well: both calls may run"
	$(BIN)/trigate calls examples/streams/parallel-calls.sse
	@echo
	@echo "== the same kind of stream, cut: nothing may run (exit code 3)"
	$(BIN)/trigate calls examples/streams/cut.sse; test $$? -eq 3

test: $(VENV)/installed
	$(BIN)/python -m pytest -n auto --dist loadfile $(PYTEST_ARGS)

check: $(VENV)/checkers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest trigate._core --allowlist tests/stubtest-allowlist.txt
	@if command -v clang-format >/dev/null; then \
	    clang-format --dry-run --Werror ext/core/*.[ch] tests/c/*.[ch] tests/fuzz/*.c benchmarks/c/*.[ch]; \
	else echo "clang-format is not here: the C files' format was not checked"; fi

test-c:
	$(MAKE) -C tests/c

test-cross:
	$(MAKE) -C tests/c cross

$(SANITIZED)/installed: $(PACKAGE)
	$(PYTHON) -m venv $(SANITIZED)
	TRIGATE_SANITIZE=1 $(SANITIZED)/bin/pip install -q --disable-pip-version-check --force-reinstall '.[all,test]'
	touch $@

# Leaks of the interpreter itself are none of ours; the C tests look for leaks of the core.
test-sanitized: $(SANITIZED)/installed
	LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 PYTHONMALLOC=malloc \
	$(SANITIZED)/bin/python -m pytest -n auto --dist loadfile -p no:cacheprovider $(PYTEST_ARGS)

fuzz:
	$(MAKE) -C tests/fuzz SECONDS=$(FUZZ_SECONDS)

$(BENCH)/installed: $(PACKAGE) benchmarks/requirements.txt benchmarks/node/package.json
	$(PYTHON) -m venv $(BENCH)
	$(BENCH)/bin/pip install -q --disable-pip-version-check -r benchmarks/requirements.txt .
	@mkdir -p $(BENCH)/node && cp benchmarks/node/package.json $(BENCH)/node/
	@npm install --silent --no-audit --no-fund --prefix $(BENCH)/node || \
	    echo "npm is not here, or cannot reach its registry: node's figures are left out"
	touch $@

bench: $(BENCH)/installed
	@mkdir -p build/bench
	$(BENCH_RUN) --plan quick --figures build/bench/figures.json $(PYTEST_ARGS)
	$(BENCH)/bin/python benchmarks/report.py build/bench/figures.json build/bench

bench-full: $(BENCH)/installed
	@mkdir -p build/bench
	$(BENCH_RUN) --plan full --figures benchmarks/results/figures.json $(PYTEST_ARGS)
	$(BENCH)/bin/python benchmarks/report.py benchmarks/results/figures.json benchmarks/results --readme README.md
	$(BENCH)/bin/python benchmarks/hits.py --write --if-there
	$(BENCH)/bin/python benchmarks/patched.py --plan full --write

bench-counts: $(VENV)/installed
	$(BIN)/python benchmarks/counts.py --write
	$(BIN)/python benchmarks/kernels.py --write

behaviour: $(VENV)/installed
	$(BIN)/python benchmarks/behaviour/run.py

$(LIVE)/installed: $(PACKAGE) tests/live/requirements.txt
	$(PYTHON) -m venv $(LIVE)
	$(LIVE)/bin/pip install -q --disable-pip-version-check -r tests/live/requirements.txt
	$(LIVE)/bin/pip install -q --disable-pip-version-check --force-reinstall '.[test]'
	touch $@

live: $(LIVE)/installed
	$(LIVE)/bin/python -m pytest tests/live $(PYTEST_ARGS)

$(SDK)/installed: $(PACKAGE) tests/sdk-requirements.txt
	$(PYTHON) -m venv $(SDK)
	$(SDK)/bin/pip install -q --disable-pip-version-check -r tests/sdk-requirements.txt
	$(SDK)/bin/pip install -q --disable-pip-version-check --force-reinstall '.[test]'
	touch $@

sdk: $(SDK)/installed
	$(SDK)/bin/python -m pytest tests/test_sdk_*.py tests/test_answers.py tests/test_compat_openai.py \
	    tests/test_compat_anthropic.py tests/test_compat_mcp.py tests/test_compat_sdk_agreement.py \
	    tests/test_benchmark_patched.py $(PYTEST_ARGS)
	$(SDK)/bin/python -m pytest tests/test_docs.py -k "test_example and (openai.md or anthropic.md or mcp.md)" $(PYTEST_ARGS)

$(PEERS)/installed: $(PACKAGE) tests/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/pip install -q --disable-pip-version-check -r tests/peers/requirements.txt
	$(PEERS)/bin/pip install -q --disable-pip-version-check --force-reinstall .
	touch $@

peers: $(PEERS)/installed
	$(PEERS)/bin/python tests/peers/run.py

wheels:
	$(PYTHON) tests/wheels/matrix.py $(PYTEST_ARGS)

ledger-faults: $(VENV)/installed
	$(BIN)/python tests/ledger_faults.py --table $(FAULTS_ARGS)

bench-ledger: $(VENV)/installed
	$(BIN)/python benchmarks/ledger.py --write

bench-execution: $(VENV)/installed
	$(BIN)/python benchmarks/execution.py --write

docs: $(VENV)/installed
	$(BIN)/python docs/generate.py
	$(BIN)/python benchmarks/behaviour/run.py --page

clean:
	rm -rf build dist .venv .venv-* src/*.egg-info src/trigate/*.so
