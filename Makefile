# One-command tasks. `make` lists them.
#
#   VENV    folder of the Python environment with the PySpark client
#   PYTHON  interpreter it is made from
#   VENV_DBT  folder of the Python environment with dbt
#   VENV_STORES  folder of the Python environment with a server of objects
#   VENV_LIBRARIES  folder of the Python environment with libraries on PySpark
#   CLIENTS         versions of the client that `make test-clients` runs

PYTHON ?= python3
VENV ?= .venv
CARGO_TARGET_DIR ?= target
export CARGO_TARGET_DIR
BIN := $(CARGO_TARGET_DIR)/release/firesteel

VENV_DBT ?= .venv-dbt
VENV_STORES ?= .venv-stores
VENV_LIBRARIES ?= .venv-libraries
CLIENTS ?= 3.5.6 4.0.4 4.1.3 4.2.1 4.3.0

.PHONY: help build run serve test test-rust test-python test-dbt test-stores test-libraries test-clients lint format conformance bench clean

help:
	@echo "make run          build, start the server, run a tour on real data through PySpark"
	@echo "make serve        build, start the server on 127.0.0.1:15002"
	@echo "make test         all tests: Rust, then PySpark against a real server"
	@echo "make test-dbt     dbt builds a project over Spark Connect"
	@echo "make test-stores  data in object stores, against a store in a process"
	@echo "make test-libraries  libraries on PySpark: pandera, ibis, great_expectations, ..."
	@echo "make test-clients    other clients: PySpark 3.5 to 4.3, Scala"
	@echo "make lint         rustfmt and clippy, as CI runs them"
	@echo "make conformance  Spark's own doctests, golden SQL files, usage examples and the grid of functions, against the ratchet lists"
	@echo "make bench        latency and TPC-H beside the peers (see bench/README.md)"

build:
	cargo build --release --bin firesteel

$(VENV)/.ready: tests/python/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/python/requirements.txt
	touch $@

run: build $(VENV)/.ready
	$(VENV)/bin/python examples/tour.py --server $(BIN)

serve: build
	$(BIN) server

test: test-rust test-python

# The client's tests run against the server's binary, or against FIRESTEEL_TEST_URL.
test-rust: build
	FIRESTEEL_BIN=$(abspath $(BIN)) cargo test --release --workspace --lib --bins --tests
	FIRESTEEL_BIN=$(abspath $(BIN)) cargo test --release --doc -p firesteel-error -p firesteel-types -p firesteel-config \
		-p firesteel-catalog -p firesteel-client

test-python: build $(VENV)/.ready
	FIRESTEEL_BIN=$(BIN) $(VENV)/bin/python -m pytest -q tests/python

$(VENV_DBT)/.ready: tests/dbt/requirements.txt
	$(PYTHON) -m venv $(VENV_DBT)
	$(VENV_DBT)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/dbt/requirements.txt
	touch $@

test-dbt: build $(VENV)/.ready $(VENV_DBT)/.ready
	FIRESTEEL_BIN=$(BIN) FIRESTEEL_DBT=$(abspath $(VENV_DBT))/bin/dbt $(VENV)/bin/python -m pytest -q tests/python/test_dbt.py

$(VENV_STORES)/.ready: tests/stores/requirements.txt
	$(PYTHON) -m venv $(VENV_STORES)
	$(VENV_STORES)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/stores/requirements.txt
	touch $@

test-stores: build $(VENV)/.ready $(VENV_STORES)/.ready
	FIRESTEEL_BIN=$(BIN) FIRESTEEL_MOTO=$(abspath $(VENV_STORES))/bin/moto_server \
		$(VENV)/bin/python -m pytest -q tests/python/test_object_stores.py

# The environment with the client, and on top of it the libraries.
$(VENV_LIBRARIES)/.ready: $(VENV)/.ready tests/libraries/requirements.txt
	$(PYTHON) -m venv $(VENV_LIBRARIES)
	$(VENV)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
		> "$$($(VENV_LIBRARIES)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/client.pth"
	$(VENV_LIBRARIES)/bin/python -m pip install --quiet --disable-pip-version-check \
		-r tests/python/requirements.txt -r tests/libraries/requirements.txt
	touch $@

test-libraries: build $(VENV_LIBRARIES)/.ready
	FIRESTEEL_BIN=$(abspath $(BIN)) PYSPARK_PYTHON=$(abspath $(VENV_LIBRARIES))/bin/python \
		$(VENV_LIBRARIES)/bin/python -m pytest -q -W ignore tests/libraries

test-clients: build $(VENV)/.ready
	FIRESTEEL_BIN=$(abspath $(BIN)) FIRESTEEL_CLIENT_VERSIONS="$(CLIENTS)" \
		$(VENV)/bin/python -m pytest -q -rs tests/python/test_versions.py tests/clients

lint:
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings

format:
	cargo fmt --all

conformance: build
	conformance/run.sh

bench: build
	bench/run.sh

clean:
	cargo clean
	rm -rf $(VENV) $(VENV_DBT) $(VENV_STORES) $(VENV_LIBRARIES)
