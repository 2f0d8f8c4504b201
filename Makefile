# Every target sets up what it needs in .venv, on a machine that has only Python 3.11+, pip, make
# and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python
STAMP := $(VENV)/installed
SOURCES := pyproject.toml CMakeLists.txt $(shell find cpp -name '*.cpp' -o -name '*.hpp')

.PHONY: help demo test test-fast lint format bench sanitize wheel docs hooks pictures clean

help:            ## This list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /: /'

demo: $(STAMP)   ## A parser trained and questioned, in a minute
	@$(RUN) examples/demo.py

test: $(STAMP)   ## All tests
	$(RUN) -m pytest -n auto

test-fast: $(STAMP)  ## All tests but the slow ones
	$(RUN) -m pytest -n auto -m "not slow"

lint: $(STAMP)   ## Style, types and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $$(find cpp -name '*.cpp' -o -name '*.hpp')

format: $(STAMP) ## Format all code
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(find cpp -name '*.cpp' -o -name '*.hpp')

bench: $(STAMP)  ## Speed against other libraries, as ratios
	@$(RUN) benchmarks/bench_inference.py
	@$(RUN) benchmarks/bench_data.py

sanitize: $(STAMP)  ## The core's tests under address and undefined-behaviour sanitizers
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DCMAKE_BUILD_TYPE=Debug -DARBORA_BUILD_BINDINGS=OFF -DARBORA_BUILD_TESTS=ON -DARBORA_SANITIZE=ON
	$(BIN)/cmake --build build/sanitize
	build/sanitize/core_tests

wheel: $(STAMP)  ## A wheel in dist/
	$(RUN) -m build --wheel --no-isolation --outdir dist

docs: $(STAMP)   ## The documentation site in build/site; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --quiet
	@echo "open build/site/index.html, or serve it: $(RUN) -m http.server -d build/site"

hooks: $(STAMP)  ## Check what is committed (pre-commit)
	$(RUN) -m pre_commit install

pictures: $(STAMP)  ## Draw the pictures of README and docs again
	$(RUN) docs/draw_pictures.py
	$(RUN) docs/draw_circuits.py

clean:           ## Forget everything that was built
	rm -rf $(VENV) build dist

$(STAMP): $(SOURCES)
	@$(PYTHON) tools/set_up.py $(VENV)
	@touch $@
