"""Fixtures for the tests of all methods."""

import pytest

from sparseid.training.run import execute


@pytest.fixture(autouse=True)
def _torch_settings(torch_settings):
    """Torch's settings are set back after every test here."""


class Killed(BaseException):
    """Stands for the end of the process in the middle of a training."""


@pytest.fixture
def resumed(monkeypatch):
    """Execute a run whose module is killed at a step, and the same run again; return its folder."""

    def execute_twice(run, module, step):
        training_step = module.training_step

        def killed(self, batch, batch_idx):
            if self.global_step == step:
                raise Killed
            return training_step(self, batch, batch_idx)

        with monkeypatch.context() as patch:
            patch.setattr(module, "training_step", killed)
            with pytest.raises(Killed):
                execute(run)
        return execute(run)

    return execute_twice
