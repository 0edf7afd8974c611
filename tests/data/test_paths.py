"""Folders of data, and why a file in them cannot be read."""

from sparseid.data.paths import data_folder, samples_folder, unusable
from sparseid.project import CHECKOUT


def test_the_data_folder_can_be_moved(monkeypatch, tmp_path):
    monkeypatch.delenv("SPARSEID_DATA", raising=False)
    assert data_folder() == CHECKOUT / "data"
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    assert samples_folder() == CHECKOUT / "data" / "samples"


def test_why_a_file_cannot_be_used(tmp_path):
    (tmp_path / "file").touch()
    assert unusable(tmp_path / "file") == "is empty"
    (tmp_path / "file").write_bytes(b"x")
    assert unusable(tmp_path / "file") == ""
    assert unusable(tmp_path / "none") == "does not exist"
    assert unusable(tmp_path) == "is a folder, not a file"
