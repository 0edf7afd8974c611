import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode knows no siblings


@pytest.fixture(autouse=True)
def _torch_settings(torch_settings):
    """Torch's settings are set back after every test here."""


@pytest.fixture(autouse=True)
def _toy(monkeypatch):
    """Give a run a folder that does not depend on when the toy is interrupted."""
    import toy

    monkeypatch.setattr("sparseid.training.run.run_directory", toy.directory)
    monkeypatch.setattr("sparseid.training.recipe.run_directory", toy.directory)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The folder of a toy run that nothing disturbed."""
    import toy

    from sparseid.training import run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sparseid.training.run.run_directory", toy.directory)
        patch.setattr("sparseid.training.recipe.run_directory", toy.directory)
        return run.execute(toy.toy_config(tmp_path_factory.mktemp("undisturbed")))
