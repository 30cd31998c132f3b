# make run   the dashboard on http://localhost:8501
# make test  every test, in a real browser too, on all processors
# make quick the unit tests that take no time, for the one who edits
# make mutants  changes to the source that no test notices
# make serve the same for the public: limits, and WORKERS=2 processes behind HAProxy
# make check style, types, layering
# make bench the measured tables of benchmarks/RESULTS.md
# make content  the content store of every competition; KBDASH_SOURCE says of which dataset
# make pictures  the pictures of the README
# make lock  refresh the pinned requirements

PYTHON ?= python3
PORT ?= 8501
ADDRESS ?= 127.0.0.1
WORKERS ?= 1
BIN := .venv/bin
# Tests and servers start many processes; each would compile every module again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run serve test quick mutants check bench content pictures lock clean

run: .venv/.run
	$(BIN)/streamlit run app.py --server.port $(PORT)

serve: .venv/.run
	$(BIN)/python -m kbdash.web.server --address $(ADDRESS) --port $(PORT) --workers $(WORKERS)

test: .venv/.dev
	$(BIN)/python -m tests.browser
	$(BIN)/python -m tests.inspector
	$(BIN)/python -m pytest -n auto --dist loadscope

quick: .venv/.dev
	$(BIN)/python -m pytest -n auto --dist loadscope -m "not slow" tests/unit

mutants: .venv/.dev
	$(BIN)/python -m tests.mutants --write

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/oxlint --deny-warnings kbdash

bench: .venv/.dev
	$(BIN)/python -m benchmarks.run

content: .venv/.run
	$(BIN)/python -m kbdash.content build

pictures: .venv/.dev
	$(BIN)/python -m docs.pictures

lock: .venv/.dev
	$(BIN)/uv pip compile -q requirements.in --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -o requirements.txt
	$(BIN)/uv pip compile -q requirements-dev.in --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url -o requirements-dev.txt

# Debian ships python3 without the part of venv that installs pip; root can add it.
.venv/bin/python:
	$(PYTHON) -m venv .venv || { rm -rf .venv; apt-get update && apt-get install -y python3-venv && $(PYTHON) -m venv .venv; }

.venv/.run: .venv/bin/python requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/.dev: .venv/.run requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt -r requirements-dev.txt
	touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
