"""Small TBR runs: a tree of 30 environments, narrow encoders."""

import pytest

from sparseid.config.compose import compose

SMALL = ("scale=smoke", "hydra.mode=RUN", "trainer=cpu", "trainer.threads=1", "data.S=1")


@pytest.fixture
def config(tmp_path, monkeypatch):
    """Compose a smoke run, of figure 4 unless another experiment is named, below the test's folder of runs."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))

    def composed(*overrides):
        named = any(override.startswith("experiment=") for override in overrides)
        experiment = [] if named else ["experiment=tbr/fig4"]
        return compose([*experiment, *SMALL, f"outputs={tmp_path}", *overrides])

    return composed
