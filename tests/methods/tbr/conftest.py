"""Small TBR runs: a tree of 30 environments, narrow encoders."""

import pytest
import torch

from sparseid.config.compose import compose

SMALL = ("scale=smoke", "hydra.mode=RUN", "trainer=cpu", "trainer.threads=1", "data.S=1")


@pytest.fixture(autouse=True)
def _torch_settings():
    """A run sets threads and deterministic kernels for its process; set them back."""
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic)


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Compose a smoke run, of figure 4 unless another experiment is named, below the test's folder of runs."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))

    def composed(*overrides):
        named = any(override.startswith("experiment=") for override in overrides)
        experiment = [] if named else ["experiment=tbr/fig4"]
        return compose([*experiment, *SMALL, f"outputs={tmp_path}", *overrides])

    return composed
