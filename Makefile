# Two commands on a fresh machine: `make demo` and `make test`. Each sets up .venv by itself.
SCALE ?= small
LAUNCHER ?= local
VENV := .venv
BIN := $(VENV)/bin
# the newest Python that the pinned packages were tested with, else whatever python3 is
PYTHON ?= $(shell command -v python3.11 || command -v python3)

.DEFAULT_GOAL := help
.PHONY: help setup demo test plan reproduce-all report study data record presets readmes costs gpu-check lock bench tutorials torture clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 16

setup: $(VENV)/ready  ## create .venv with the pinned packages and sparseid itself

$(VENV)/ready: requirements.lock pyproject.toml
	@case "$$($(PYTHON) -c 'import sys; print(sys.version_info >= (3, 11))' 2>/dev/null)" in \
	  True) exit 0;; \
	  False) echo "sparseid needs Python 3.11 or newer; $(PYTHON) is older.";; \
	  *) echo "sparseid needs Python 3.11 or newer; '$(PYTHON)' is no Python that runs.";; \
	esac; echo "Use: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)"; exit 2
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing packages into $(VENV) (a few minutes, about 6 GB with torch's CUDA build)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup  ## train Sparling on DigitCircle and print the paper's numbers beside ours (SCALE=smoke|small|paper)
	@$(BIN)/python run.py experiment=digitcircle scale=$(SCALE)

test: setup  ## lint, types and all tests (two files at a time, one thread each)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/mypy
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder

plan: setup  ## list every run of every artefact: done or to do, by which commit, hours left (SCALE, ONLY=tbr, EXPERIMENT, ARGS=--runs)
	@$(BIN)/python scripts/plan.py --scale $(SCALE) $(ONLY:%=--only %) $(if $(EXPERIMENT),experiment=$(EXPERIMENT)) $(ARGS)

reproduce-all: setup  ## make what is missing of every artefact, then the report (SCALE, ONLY, LAUNCHER=local|slurm, ARGS, FORCE=1)
	@$(BIN)/python scripts/reproduce.py --scale $(SCALE) --launcher $(LAUNCHER) $(ONLY:%=--only %) $(if $(FORCE),--again-recorded) $(ARGS)

report: setup  ## tables, figures and verdicts from all finished runs, as outputs/report/index.html (ARGS=--png)
	@$(BIN)/python scripts/report.py $(ARGS)

study: setup  ## write the study of RegCL's headline (scripts/study/STUDY.md) from its finished runs
	@$(BIN)/python scripts/study/study.py

data: setup  ## download data, check what you have placed, or say what to place where (DATASETS="gtex zeisel"; DATASETS=--help lists them)
	@$(BIN)/python scripts/data.py $(or $(DATASETS),gtex)

record: setup  ## add the results of finished, clean runs at SCALE to outputs/recorded, to be committed
	@$(BIN)/python scripts/record.py $(SCALE)

presets: setup  ## after a change of presets: write which runs they ask for to outputs/recorded/presets.csv, to be committed
	@$(BIN)/python scripts/presets.py

readmes: setup  ## write generated parts of READMEs and recipes: tables and figures from recorded results, presets, example files
	@$(BIN)/python scripts/readmes.py

costs: setup  ## measure what a run costs on this machine, for the hours of make plan (SCALE, EXPERIMENT)
	@$(BIN)/python scripts/costs.py --scale $(SCALE) $(if $(EXPERIMENT),--experiment $(EXPERIMENT)) $(ARGS)

gpu-check: setup  ## ten minutes on a new machine: step times for make plan, stacks, several GPUs, numbers against the CPU's (ARGS)
	@$(BIN)/python scripts/gpu_check.py $(ARGS)

lock: setup  ## after a change of versions in requirements.lock: write the hashes of all packages' files into it
	@$(BIN)/python scripts/lock.py

bench: setup  ## speed: generator, threshold update, where a training step's time goes (outputs/bench)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[peers]'
	@$(BIN)/python scripts/bench/all.py

tutorials: setup  ## execute docs/tutorials/*.py and write them as notebooks with their output, to be committed (ARGS=tbr)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[tutorials]'
	@$(BIN)/python scripts/tutorials.py $(ARGS)

torture: setup  ## kill, stop, starve and damage tiny runs, and compare with undisturbed ones: 20 minutes (ARGS="--kills 20")
	@$(BIN)/python scripts/torture.py $(ARGS)

clean:  ## remove caches, not runs
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build
	@find src tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
