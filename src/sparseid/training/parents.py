"""Initialisation of a run from the weights of its parent run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparseid.config.identity import run_directory, run_hash, run_name
from sparseid.config.parents import parent_run
from sparseid.config.schema import RunConfig
from sparseid.training.errors import RunError
from sparseid.training.run_folder import RunFolder


def require(cfg: RunConfig) -> None:
    """Check that the parent run, if any, is done.

    Raises
    ------
    RunError
        If it is not done; the message has the command for it.
    """
    source = parent_run(cfg)
    if source is None:
        return
    folder = RunFolder(run_directory(source))
    if (state := folder.state) != "done":
        how = " ".join(f"{key}={value}" for key, value in cfg.method.parent_run(cfg).items())
        found = "it does not exist yet" if state == "planned" else f"it is {state}"
        raise RunError(
            f"{run_name(cfg)} starts from the weights of the run {folder.path}: {found}. "
            f"Run it first, by the same command with {how}"
        )


def start(cfg: RunConfig, module: Any, say: Callable[[str], None]) -> None:
    """Initialise a module from the weights of its parent run, if it has one.

    Raises
    ------
    RunError
        If the parent run has no matching weights, or they cannot be read or are of another run.
    """
    source = parent_run(cfg)
    if source is None:
        return
    from sparseid.training.checkpoints import weights  # torch

    folder = run_directory(source)
    checkpoint = module.starting_weights(folder)
    if checkpoint is None:
        raise RunError(f"{folder} has reached none of the densities that this run can start from: train it for longer")
    state = weights(checkpoint, run_hash(source))
    try:
        module.start_from(state)
    except Exception as error:  # torch raises several types for weights of other shapes
        raise RunError(f"{checkpoint} cannot be used ({error}). Repeat that run with force=true.") from error
    say(f"starting from {checkpoint}")
