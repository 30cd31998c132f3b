# make run   the dashboard on http://localhost:8501
# make test  every test, in a real browser too
# make check style, types, layering
# make bench the measured tables of benchmarks/RESULTS.md
# make pictures  the pictures of the README
# make lock  refresh the pinned requirements

PYTHON ?= python3
PORT ?= 8501
BIN := .venv/bin

.PHONY: run test check bench pictures lock clean

run: .venv/.run
	$(BIN)/streamlit run app.py --server.port $(PORT)

test: .venv/.dev
	$(BIN)/python -m tests.browser
	$(BIN)/python -m pytest

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/.dev
	$(BIN)/python -m benchmarks.run

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
