import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode knows no siblings


@pytest.fixture(autouse=True)
def _torch_settings():
    """A run sets threads and deterministic kernels for its process; set them back."""
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic)


@pytest.fixture(autouse=True)
def _toy(monkeypatch):
    """Register the toy method, and give a run a folder that does not depend on when the toy is interrupted."""
    import toy

    monkeypatch.setattr(toy.build, "DATA", dict(toy.build.DATA))
    monkeypatch.setattr(toy.build, "METHODS", dict(toy.build.METHODS))
    monkeypatch.setattr("sparseid.training.run.run_directory", toy.directory)
    monkeypatch.setattr("sparseid.training.recipe.run_directory", toy.directory)
    toy.register()


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The folder of a toy run that nothing disturbed."""
    import toy

    from sparseid.training import run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sparseid.training.run.run_directory", toy.directory)
        patch.setattr("sparseid.training.recipe.run_directory", toy.directory)
        patch.setattr(toy.build, "DATA", dict(toy.build.DATA))
        patch.setattr(toy.build, "METHODS", dict(toy.build.METHODS))
        toy.register()
        return run.execute(toy.toy_config(tmp_path_factory.mktemp("undisturbed")))
