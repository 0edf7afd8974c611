"""Sources of test arrays, programs that tests need, and rows in the form of a Sparling run."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import hypothesis
import numpy as np
import pytest

from sparseid.papers.presets import preset_recipes
from sparseid.training.rows import Row

# no test is timed: on a busy machine an example may take any time
hypothesis.settings.register_profile("untimed", hypothesis.settings(), deadline=None)
hypothesis.settings.load_profile("untimed")

PROJECT = Path(__file__).resolve().parents[1]
Arrays = dict[str, np.ndarray]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files that have slow tests, so that no worker is left alone with one at the end."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def _load(path: Path) -> Arrays:
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)


@pytest.fixture
def fixture_arrays() -> Callable[[str], Arrays]:
    """Load ``tests/fixtures/<name>.npz``: arrays of other implementations that may be redistributed."""
    return lambda name: _load(PROJECT / "tests" / "fixtures" / f"{name}.npz")


@pytest.fixture
def shared_arrays() -> Callable[[str], Arrays]:
    """Load arrays that may not be copied into this repository; skips the test where they are absent.

    They are looked for in ``$SPARSEID_SHARED/fixtures``, by default in a folder ``shared`` beside or inside the
    project.
    """
    named = os.environ.get("SPARSEID_SHARED")
    places = [Path(named)] if named else [PROJECT.parent / "shared", PROJECT / "shared"]

    def load(name: str) -> Arrays:
        for place in places:
            path = place / "fixtures" / f"{name}.npz"
            if path.is_file():
                return _load(path)
        pytest.skip(f"{name}.npz is not in {' or '.join(map(str, places))}")

    return load


@pytest.fixture(scope="session")
def require_program() -> Callable[[str], str]:
    """Return the path of an installed program; without it skip the test, or fail it where it must be there.

    ``$SPARSEID_REQUIRE`` lists programs that must be there, separated by commas or spaces: ``.ci/run`` sets it to what
    it installs, so that no test is skipped there unnoticed.
    """

    def find(name: str) -> str:
        path = shutil.which(name)
        if path is not None:
            return path
        if name in os.environ.get("SPARSEID_REQUIRE", "").replace(",", " ").split():
            pytest.fail(f"{name} is not installed, but SPARSEID_REQUIRE says that it must be")
        pytest.skip(f"{name} is not installed")

    return find


@pytest.fixture
def sparling_rows() -> Callable[..., list[Row]]:
    """Make rows of a Sparling run whose errors move with the density as in the paper, a little higher by seed."""

    def make(seed: int = 0, densities: int = 12, keys: dict | None = None, **fields) -> list[Row]:
        errors = {
            "fpe": lambda k: 2 + 6 * k + 0.1 * seed,
            "fne": lambda k: 2 / (1 + k) + 0.1 * seed,
            "ce": lambda k: 3 + 5 * k + 0.1 * seed,
            "e2ee": lambda k: 4 + 4 / (1 + k) + 0.01 * seed * k,
            "density": lambda k: 0.12 * 0.75**-k,
            "sparsity": lambda k: 100 - 0.12 * 0.75**-k,
            "exact_accuracy": lambda k: 85.0,
        }
        base = {"run": f"digitcircle-seed{seed}", "paper": "sparling", "scale": "small", "unit": "percent", "n": 1000}
        scale = fields.get("scale", base["scale"])
        base["recipe"] = next(iter(preset_recipes("digitcircle", scale)))
        base |= {"commit": "a" * 40, "dirty": False, "device": "cpu", "written": "2026-05-01T10:00:00+00:00", **fields}
        cell = {"domain": "digitcircle", "method": "sparling_mt", **(keys or {})}
        return [
            Row(keys={**cell, "steps_above": k}, seed=seed, metric=metric, value=float(value(k)), **base)
            for k in range(densities)
            for metric, value in errors.items()
        ]

    return make


@pytest.fixture(autouse=True)
def _no_recorded_rows(monkeypatch):
    """Leave out the recorded rows, so that reports hold what a test made and nothing else, in all its processes."""
    monkeypatch.setenv("SPARSEID_RECORDED", str(Path("no", "recorded", "rows")))


@pytest.fixture
def torch_settings():
    """A run sets threads and deterministic kernels for its process; set them back."""
    import torch  # not every test needs it

    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic)
