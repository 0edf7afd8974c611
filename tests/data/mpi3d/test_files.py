"""The files of MPI3D, here of 96 images."""

import zipfile

import numpy as np
import pytest

from sparseid.data.mpi3d import files
from sparseid.data.mpi3d.datamodule import MPI3DData
from sparseid.data.mpi3d.files import LAYOUTS, PUBLISHED, stored_arms
from sparseid.data.mpi3d.obtain import mpi3d
from sparseid.data.mpi3d.settings import MPI3DSettings
from sparseid.errors import InputError
from sparseid.settings import RunNumbers

IMAGES = np.random.default_rng(0).integers(256, size=(96, 64, 64, 3), dtype=np.uint8)


@pytest.fixture
def config(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(files, "LAYOUTS", {48: (1, 2, 2, 1, 1, 4, 3), 96: (2, 2, 2, 1, 1, 4, 3)})
    np.savez_compressed(tmp_path / "mine.npz", images=IMAGES)
    return MPI3DSettings(source="files", path=str(tmp_path / "mine.npz"))


def test_the_published_layouts():
    assert {images: int(np.prod(sizes)) for images, sizes in LAYOUTS.items()} == {
        460_800: 460_800,
        1_036_800: 1_036_800,
    }
    bases = np.cumprod((1, *LAYOUTS[460_800][:0:-1]))[::-1]
    assert bases.tolist() == [115_200, 28_800, 14_400, 4_800, 1_600, 40, 1]
    assert LAYOUTS[1_036_800] == (6, 6, 2, 3, 3, 40, 40)
    assert [file.name for file in PUBLISHED.values()] == ["mpi3d_toy.npz", "mpi3d_realistic.npz", "mpi3d_real.npz"]


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_images_are_those_of_the_file_in_its_order(config, save):
    save(config.path, images=IMAGES)
    assert list(config.missing_files()) == []
    images = stored_arms(config)
    assert isinstance(images.images, np.memmap)
    assert np.array_equal(images.images, IMAGES)
    assert np.array_equal(images.observations([[1, 0, 1, 0, 0, 3, 2]])[0], IMAGES[48 + 12 + 11])


def test_the_factors_follow_from_the_number_of_images(config):
    assert stored_arms(config).grid.sizes == (2, 2, 2, 1, 1, 4, 3)
    np.savez(config.path, images=IMAGES[:48])
    assert stored_arms(config).grid.sizes == (1, 2, 2, 1, 1, 4, 3)


def test_a_run_reads_the_file(config):
    data = MPI3DData.from_settings(config, RunNumbers(0, [0], 4, 10))
    assert data.note == ""
    assert data.training_batch(0).inputs.shape == (4, 3, 64, 64)


def refused(config):
    (error,) = config.missing_files()
    assert error.keys == ("data.path",)
    assert config.path in error.text
    return error.text


WRONG = {
    "it has 95 images; MPI3D has 48 or 96": {"images": IMAGES[:95]},
    "96 x 32 x 32 x 3 of type uint8; images of n x 64 x 64 x 3 bytes": {"images": IMAGES[:, :32, :32]},
    "of type int64": {"images": IMAGES[:, :1, :1].astype(int)},
    "stored by column": {"images": np.asfortranarray(IMAGES)},
    "has no array images, but pictures.npy": {"pictures": IMAGES[:2]},
    "is a single value of type int64": {"images": np.array(3)},
}


@pytest.mark.parametrize("message", WRONG)
def test_other_arrays_are_refused(config, message):
    np.savez(config.path, **WRONG[message])
    assert message in refused(config)


class Bomb:
    def __reduce__(self):
        return pytest.fail, ("executed",)


def test_objects_are_refused_without_being_loaded(config):
    values = np.empty(96, object)
    values[:] = [Bomb() for _ in range(96)]
    np.savez(config.path, images=values, allow_pickle=True)
    assert "96 of type object" in refused(config)


def test_a_truncated_or_another_file_is_refused(config, tmp_path):
    path = tmp_path / "mine.npz"
    whole = path.read_bytes()
    for content in (whole[: len(whole) // 2], b"images", whole[:1000] + bytes(50) + whole[1050:]):
        path.write_bytes(content)
        assert "cannot be read as an npz file" in refused(config)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("images.npy", "no header")
    assert "cannot be read as an npz file" in refused(config)
    header = tmp_path / "images.npy"
    np.save(header, IMAGES)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("images.npy", header.read_bytes()[:-1])
    assert "images end after 0 of 96" in refused(config)
    assert not list((tmp_path / "data").rglob("*.npy"))


def test_make_data_checks_a_file_that_is_there(config, tmp_path, monkeypatch):
    place = tmp_path / "data" / "mpi3d" / "mpi3d_real.npz"
    place.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "mine.npz").rename(place)
    monkeypatch.setenv("MPI3D", "real")
    lines = list(mpi3d())
    assert lines[-2].startswith("96 images of 64 pixels: object_colour 2")
    assert lines[-1] == "use: data=mpi3d data.source=files data.variant=real"
    monkeypatch.setenv("MPI3D", "reel")
    with pytest.raises(InputError, match="write toy or realistic or real"):
        list(mpi3d())
