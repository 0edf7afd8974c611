import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode knows no siblings


@pytest.fixture(autouse=True)
def _torch_settings(torch_settings):
    """Torch's settings are set back after every test here."""


@pytest.fixture(autouse=True)
def _toy(monkeypatch):
    """Give a run a folder and a hash that do not depend on when the toy is interrupted."""
    _patch(monkeypatch)


def _patch(patch):
    import toy

    for module in ("run", "recipe"):
        patch.setattr(f"sparseid.training.{module}.run_directory", toy.directory)
    for module in ("build", "recipe"):
        patch.setattr(f"sparseid.training.{module}.run_hash", toy.identity)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """The folder of a toy run that nothing disturbed."""
    import toy

    from sparseid.training import run

    with pytest.MonkeyPatch.context() as patch:
        _patch(patch)
        return run.execute(toy.toy_config(tmp_path_factory.mktemp("undisturbed")))
