"""Fixtures for the tests of all methods."""

import pytest


@pytest.fixture(autouse=True)
def _torch_settings(torch_settings):
    """Torch's settings are set back after every test here."""
