"""The file of Shapes3D, here of 48 images."""

import re

import h5py
import numpy as np
import pytest

from sparseid.data.factors import FactorGrid
from sparseid.data.shapes3d import files
from sparseid.data.shapes3d.datamodule import Shapes3DData
from sparseid.data.shapes3d.files import GRID, stored_shapes
from sparseid.data.shapes3d.obtain import shapes3d
from sparseid.data.shapes3d.settings import Shapes3DSettings
from sparseid.errors import InputError
from sparseid.settings import RunNumbers

SMALL = FactorGrid(GRID.names, (2, 1, 2, 2, 2, 3))
IMAGES = np.random.default_rng(0).integers(256, size=(48, 64, 64, 3), dtype=np.uint8)
LABELS = SMALL.at(np.arange(48)) * [0.1, 0.1, 0.1, 0.5, 1, 30] + [0, 0, 0, 0.75, 0, -30]


def write(path, images=IMAGES, labels=LABELS, **options):
    with h5py.File(path, "w") as file:
        file.create_dataset("images", data=images, chunks=(5, 64, 64, 3), compression="gzip")
        file["labels"] = labels


@pytest.fixture
def config(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(files, "GRID", SMALL)
    monkeypatch.setattr(files, "PART", 7)
    write(tmp_path / "mine.h5")
    return Shapes3DSettings(source="files", path=str(tmp_path / "mine.h5"))


def test_the_published_layout():
    assert len(GRID) == 480_000
    factors = np.array([3, 9, 1, 7, 2, 14])
    assert GRID.index(factors) == factors @ [48_000, 4_800, 480, 60, 15, 1]


def test_images_are_those_of_the_file_in_its_order(config):
    assert list(config.missing_files()) == []
    images = stored_shapes(config)
    assert isinstance(images.images, np.memmap)
    assert np.array_equal(images.images, IMAGES)
    assert np.array_equal(images.observations([[1, 0, 1, 0, 1, 2]])[0], IMAGES[24 + 12 + 3 + 2])


def test_a_run_reads_the_file(config):
    data = Shapes3DData.from_settings(config, RunNumbers(0, [0], 4, 10))
    assert data.note == ""
    assert list(data.files) == [config.path]
    assert data.training_batch(0).inputs.shape == (4, 3, 64, 64)


def test_the_file_is_read_once(config, monkeypatch):
    stored_shapes(config)
    monkeypatch.setattr(files, "read_images", pytest.fail)
    assert stored_shapes(config).side == 64


def refused(config):
    (error,) = config.missing_files()
    assert error.keys == ("data.path",)
    assert config.path in error.text
    return error.text


WRONG = {
    "48 x 32 x 32 x 3 of type uint8; images of 48 x 64 x 64 x 3 bytes": {"images": IMAGES[:, :32, :32]},
    "47 x 64 x 64 x 3 of type uint8": {"images": IMAGES[:47]},
    "of type float32; images of": {"images": IMAGES.astype(np.float32)},
    "labels are 47 x 6 instead of 48 x 6": {"labels": LABELS[:47]},
    "labels of floor_hue are not in the published order": {"labels": LABELS[::-1]},
    "labels of orientation are not in the published order": {"labels": np.c_[LABELS[:, :5], LABELS[::-1, 5]]},
}


@pytest.mark.parametrize("message", WRONG)
def test_other_images_and_labels_are_refused(config, message):
    arrays = {"images": IMAGES, "labels": LABELS} | WRONG[message]
    with h5py.File(config.path, "w") as file:
        for name, values in arrays.items():
            file[name] = values
    assert message in refused(config)


def test_a_truncated_or_another_file_is_refused(config, tmp_path):
    whole = (tmp_path / "mine.h5").read_bytes()
    (tmp_path / "mine.h5").write_bytes(whole[: len(whole) // 2])
    assert re.search("cannot be read as an h5 file.*truncated", refused(config))
    (tmp_path / "mine.h5").write_text("images")
    assert "cannot be read as an h5 file" in refused(config)
    with h5py.File(config.path, "w") as file:
        file["images"] = IMAGES
    assert "has no array labels" in refused(config)
    (tmp_path / "mine.h5").write_bytes(b"")
    assert "is empty" in refused(config)
    assert not list((tmp_path / "data").rglob("*.npy"))


def test_a_chunk_that_is_damaged_is_refused_and_nothing_is_kept(config, tmp_path):
    with h5py.File(config.path) as file:
        place = file["images"].id.get_chunk_info(7).byte_offset
    content = bytearray((tmp_path / "mine.h5").read_bytes())
    content[place : place + 50] = bytes(50)
    (tmp_path / "mine.h5").write_bytes(content)
    assert "cannot be read as an h5 file" in refused(config)
    assert not list((tmp_path / "data").rglob("*.npy"))


def test_make_data_checks_a_file_that_is_there(config, tmp_path):
    place = tmp_path / "data" / "shapes3d" / "3dshapes.h5"
    place.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "mine.h5").rename(place)
    lines = list(shapes3d())
    assert lines[-2].startswith("48 images of 64 pixels: floor_hue 2")
    assert lines[-1] == "use: data=shapes3d data.source=files"
    place.write_text("no")
    with pytest.raises(InputError, match="cannot be read"):
        list(shapes3d())
