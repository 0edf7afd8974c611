"""Starting from the weights of another run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sparseid.config.identity import run_directory, run_name
from sparseid.config.needs import needed_run, needed_settings
from sparseid.config.schema import RunConfig
from sparseid.training.errors import RunError
from sparseid.training.run_folder import RunFolder


def require(cfg: RunConfig) -> None:
    """Refuse to begin a run before the one that it starts from is done.

    Raises
    ------
    RunError
        If that is not done; says how to make it.
    """
    source = needed_run(cfg)
    if source is None:
        return
    folder = RunFolder(run_directory(source))
    if (state := folder.state) != "done":
        how = " ".join(f"{key}={value}" for key, value in needed_settings(cfg).items())
        found = "there is none yet" if state == "planned" else f"it is {state}"
        raise RunError(
            f"{run_name(cfg)} starts from the weights of the run {folder.path}: {found}. "
            f"Make that first, by the same command with {how}"
        )


def start(cfg: RunConfig, module: Any, say: Callable[[str], None]) -> None:
    """Let a fresh module start from the weights of the run that it needs, if it needs one.

    Raises
    ------
    RunError
        If that run has left no weights that fit, or they cannot be read.
    """
    source = needed_run(cfg)
    if source is None:
        return
    from sparseid.training.checkpoints import load  # torch

    folder = run_directory(source)
    weights = module.starting_weights(folder)
    if weights is None:
        raise RunError(f"{folder} has passed none of the densities that this run can start from: train it for longer")
    try:
        module.start_from(load(weights)["state_dict"])
    except Exception as error:  # whatever a damaged file makes torch raise
        raise RunError(f"{weights} cannot be used ({error}). Make that run again with force=true.") from error
    say(f"starting from {weights}")
