"""Shared behaviour of data modules: files that were read are recorded, and stacks lie on the run's device."""

import hashlib
from types import SimpleNamespace

import torch

from sparseid.data.module import DataModule, StackedData


def test_files_are_recorded_with_their_content_and_logged(tmp_path):
    data, other = DataModule(), DataModule()
    assert (data.test_items, data.note, data.files, data.remarks) == (0, "", {}, [])
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
        data.record_files([tmp_path / name])
    digests = {str(tmp_path / name): hashlib.sha256(name.encode()).hexdigest() for name in ("a", "b")}
    assert data.files == digests
    assert data.remarks == [f"read {path} (SHA-256 {content[:16]})" for path, content in digests.items()]
    assert (other.files, other.remarks) == ({}, [])


def test_a_stack_lies_on_the_device_of_the_run():
    data = StackedData((0, 1), batch_size=4, test_items=9)
    assert (data.seeds, data.batch_size, data.test_items) == ([0, 1], 4, 9)
    assert data.device == torch.device("cpu")
    data.trainer = SimpleNamespace(strategy=SimpleNamespace(root_device=torch.device("meta")))
    assert data.device == torch.device("meta")
    batch = torch.zeros(2)
    assert data.transfer_batch_to_device(batch, torch.device("meta"), 0) is batch
