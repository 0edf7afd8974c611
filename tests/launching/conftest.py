"""Run folders that look as if runs had been made, and measured costs."""

import json

import pytest

from sparseid.config.compose import compose
from sparseid.config.identity import run_directory
from sparseid.training.run_folder import RunFolder


@pytest.fixture
def config(tmp_path):
    """Compose a run below the test's folder of runs."""
    return lambda *overrides: compose([f"outputs={tmp_path}", "trainer=cpu", *overrides])


@pytest.fixture
def pretend(config, sparling_rows):
    """Leave what a run leaves: a state, and where given curves up to `samples`, timing and rows of `commit`."""
    from sparseid.config.identity import recipe_hash
    from sparseid.training.rows import write_rows

    def make(*overrides, state="done", samples=None, timing=None, commit="a" * 40, dirty=False):
        cfg = config(*overrides)
        folder = RunFolder(run_directory(cfg))
        folder.checkpoints.mkdir(parents=True)
        folder.write_status(state, "why" if state == "failed" else "")
        if samples is not None:
            (folder.checkpoints / "last.ckpt").touch()
            folder.metrics.write_text(f"step,samples,name,value\n1,32,loss,1.0\n9,{samples},loss,1.0\n10,{samples}9,lo")
        if timing is not None:
            whole = {"device": "cpu", "threads": 1, "world_size": 1, "steps": 1, **timing}
            (folder.path / "timing.json").write_text(json.dumps(whole))
        if state == "done":
            (folder.path / "environment.json").write_text(json.dumps({"commit": commit, "dirty": dirty}))
            write_rows(folder.result, sparling_rows(cfg.seed, densities=1, recipe=recipe_hash(cfg)))
        return folder

    return make
