# Everything a newcomer needs; on Debian 12 nothing has to be there but make. All targets are quick the second time.
#
#   make build   packages, Python environment, configure, compile: programs in build/bin
#   make demo    finds a face in a photograph on the simulated array, then runs ResNet-50
#   make test    all tests and lint
#   make install the Python package into .venv (pip install .)
#   make format  clang-format and ruff over all files
#   make tidy    clang-tidy over every file (make test: over the files that do not include MLIR)
#
# Elsewhere than on Debian 12: make build MLIR_DIR=<prefix>/lib/cmake/mlir

BUILD := build
VENV := .venv
PYTHON := $(VENV)/bin/python
BASE_PYTHON := $(firstword $(wildcard /usr/bin/python3.11) python3)
VENV_STAMP := $(VENV)/.requirements-$(firstword $(shell sha256sum setup/requirements.txt | cut -c1-16))

export PYTHONPATH := $(CURDIR)/$(BUILD)/python:$(CURDIR)

.PHONY: build demo test tidy format install packages
.DEFAULT_GOAL := build

build: packages $(VENV_STAMP) $(BUILD)/build.ninja
	ninja -C $(BUILD)

demo: build
	$(PYTHON) -m benchmarks.demo

test: build
	$(PYTHON) test/run_all.py --build $(BUILD)

format: $(VENV_STAMP)
	git ls-files '*.cpp' '*.h' | xargs clang-format-22 -i
	$(PYTHON) -m ruff format --quiet .

tidy: build
	$(PYTHON) test/lint.py --build $(BUILD) --tidy-all

install: build
	$(PYTHON) -m pip install --no-build-isolation --no-deps --config-settings=build-dir=$(BUILD) .

packages:
	@setup/install-packages.sh

$(VENV_STAMP): | packages
	[ -x $(PYTHON) ] || $(BASE_PYTHON) -m venv $(VENV)
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r setup/requirements.txt
	@touch $@

$(BUILD)/build.ninja: | packages $(VENV_STAMP)
	cmake -S . -B $(BUILD) -G Ninja $(if $(MLIR_DIR),-DMLIR_DIR=$(MLIR_DIR))
