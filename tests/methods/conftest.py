"""What the tests of all methods share."""

import pytest
import torch


@pytest.fixture(autouse=True)
def _torch_settings():
    """A run sets threads and deterministic kernels for its process; set them back."""
    threads, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    yield
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(deterministic)
