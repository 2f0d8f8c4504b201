# Every target sets up what it needs in .venv, on a machine that has only Python 3.11+, pip, make
# and a C++ compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python
STAMP := $(VENV)/installed
SOURCES := pyproject.toml CMakeLists.txt $(shell find cpp -name '*.cpp' -o -name '*.hpp')

.PHONY: help demo test test-fast lint format bench sanitize wheel docs hooks pictures clean

help:            ## Show this list
	@grep -E '^[a-z-]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /: /'

demo: $(STAMP)   ## Parse, draw and correct sentences, and train a parser, in a minute
	@$(RUN) examples/demo.py

test: $(STAMP)   ## Run all tests
	$(RUN) -m pytest -n auto --dist worksteal

test-fast: $(STAMP)  ## Run all tests except the slow ones
	$(RUN) -m pytest -n auto --dist worksteal -m "not slow"

lint: $(STAMP)   ## Check style, types and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $$(find cpp -name '*.cpp' -o -name '*.hpp')

format: $(STAMP) ## Format all code
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(find cpp -name '*.cpp' -o -name '*.hpp')

bench: $(STAMP)  ## Compare the speed with other libraries
	@$(RUN) benchmarks/bench_inference.py
	@$(RUN) benchmarks/bench_data.py

sanitize: $(STAMP)  ## Run the core's tests with address and undefined-behaviour sanitizers
	$(BIN)/cmake -S . -B build/sanitize -G Ninja -DCMAKE_MAKE_PROGRAM=$(CURDIR)/$(BIN)/ninja \
	  -DCMAKE_BUILD_TYPE=Debug -DARBORA_BUILD_BINDINGS=OFF -DARBORA_BUILD_TESTS=ON -DARBORA_SANITIZE=ON
	$(BIN)/cmake --build build/sanitize --target core_tests
	build/sanitize/core_tests

wheel: $(STAMP)  ## Build a wheel in dist/
	$(RUN) -m build --wheel --no-isolation --outdir dist

docs: $(STAMP)   ## Build the documentation site in build/site; warnings are errors
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --quiet
	@echo "open build/site/index.html, or serve it: $(RUN) -m http.server -d build/site"

hooks: $(STAMP)  ## Install the pre-commit hooks
	$(RUN) -m pre_commit install

pictures: $(STAMP)  ## Redraw the figures of README and docs
	$(RUN) docs/draw_pictures.py
	$(RUN) docs/draw_circuits.py
	ARBORA_PICTURES=docs/images $(RUN) -m pytest -q tests/server/test_page.py -k pictures

clean:           ## Remove everything that was built
	rm -rf $(VENV) build dist

# The core is compiled with warnings as errors for those who check it, not for those who use it.
test test-fast lint: export ARBORA_WERROR = ON

$(STAMP): $(SOURCES)
	@$(PYTHON) tools/set_up.py $(VENV)
	@touch $@
