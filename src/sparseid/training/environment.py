"""Provenance of a run: package versions, commit, local changes, device."""

from __future__ import annotations

import json
import platform
import socket
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

PACKAGES = ("sparseid", "torch", "pytorch-lightning", "numpy", "scipy", "hydra-core", "omegaconf")


def describe(seed: int | list[int], device: str, earlier: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the content of a run's ``environment.json``.

    Parameters
    ----------
    seed
        Seed of the run, or seeds of its stack.
    device
        Name of the device.
    earlier
        Content from the first start of a resumed run; the commits of all starts are listed.
    """
    source = Path(__file__).parent
    commit = _git(source, "rev-parse", "HEAD") or "unknown"
    changes = _git(source, "status", "--porcelain")
    commits = list((earlier or {}).get("commits", []))
    if commit not in commits:
        commits.append(commit)
    return {
        "commit": commit,
        "commits": commits,
        "dirty": bool(changes) or commit == "unknown" or len(commits) > 1,
        "changes": changes,
        "diff": _git(source, "diff", "HEAD"),
        "seed": seed,
        "device": device,
        "host": socket.gethostname(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
    }


def read(path: Path) -> dict[str, Any] | None:
    """Return the content of an ``environment.json``, or None if it cannot be read."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def device_name(device: torch.device) -> str:
    """Return the name of a device for rows and files: the GPU's product name, or ``cpu``."""
    import torch

    return torch.cuda.get_device_name(device) if device.type == "cuda" else device.type


def _git(folder: Path, *arguments: str) -> str:
    """Return the output of git, or an empty string outside a git checkout."""
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.decode(errors="replace").strip()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
