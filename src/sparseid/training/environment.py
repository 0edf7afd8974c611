"""Provenance of a run: package versions, commit, local changes, device."""

from __future__ import annotations

import platform
import re
import socket
import subprocess
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparseid.text import parsed_json

if TYPE_CHECKING:
    import torch

MISSING = "not installed"


def describe(seed: int | list[int], device: str, earlier: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the content of a run's ``environment.json``.

    Parameters
    ----------
    seed
        Seed of the run, or seeds of its stack.
    device
        Name of the device (:func:`device_name`).
    earlier
        Content from the last start of a resumed run; the commits and devices of all starts are listed, the latter also
        as the ``device`` of the run's rows.
    """
    source = Path(__file__).parent
    commit = _git(source, "rev-parse", "HEAD") or "unknown"
    changes = _git(source, "status", "--porcelain")
    commits = list((earlier or {}).get("commits", []))
    if commit not in commits:
        commits.append(commit)
    devices = [*(earlier or {}).get("devices", filter(None, [(earlier or {}).get("device")]))]
    if device not in devices[-1:]:
        devices.append(device)
    return {
        "commit": commit,
        "commits": commits,
        "dirty": bool(changes) or commit == "unknown" or len(commits) > 1,
        "changes": changes,
        "diff": _git(source, "diff", "HEAD"),
        "seed": seed,
        "device": " then ".join(devices),
        "devices": devices,
        "host": socket.gethostname(),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in packages()},
    }


def read(path: Path) -> dict[str, Any] | None:
    """Return the content of an ``environment.json``, or None if it cannot be read."""
    try:
        content = parsed_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None


def device_name(device: torch.device, processes: int = 1) -> str:
    """Return the name of a device for rows and files: the GPU's product name, or ``cpu``.

    With several processes of a run, one per device, their number is part of it: ``2 x cpu``.
    """
    import torch

    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
    return name if processes == 1 else f"{processes} x {name}"


def numbers_of(devices: str) -> set[int]:
    """Return the numbers of devices in the ``device`` of a run, which names those of all its starts.

    Examples
    --------
    >>> sorted(numbers_of("2 x cpu then cpu")), sorted(numbers_of("NVIDIA H200"))
    ([1, 2], [1])
    """
    found = [re.match(r"(\d+) x ", name) for name in devices.split(" then ")]
    return {int(number[1]) if number else 1 for number in found}


def packages() -> list[str]:
    """Return this package and those that it asks for: whatever computes or draws a number is one of them or below.

    Those of its extras are among them if they are installed, but for the tools of its developers.
    """
    try:
        asked = [re.split(r"[^\w.-]", line)[:1] + line.split("extra ==")[1:] for line in requires("sparseid") or []]
    except PackageNotFoundError:  # run from a folder without installing it
        asked = []
    needed = [name for name, *extra in asked if not extra]
    added = [name for name, *extra in asked if extra and "dev" not in extra[0] and _version(name) != MISSING]
    return list(dict.fromkeys(["sparseid", *needed, *added]))


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
        return MISSING
