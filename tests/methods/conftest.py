"""What the tests of all methods share."""

import pytest


@pytest.fixture(autouse=True)
def _torch_settings(torch_settings):
    """Torch's settings are set back after every test here."""
