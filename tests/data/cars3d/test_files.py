"""The files of Cars3D, here of three models."""

import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from sparseid.data.cars3d import files
from sparseid.data.cars3d.datamodule import Cars3DData
from sparseid.data.cars3d.files import stored_cars
from sparseid.data.cars3d.obtain import cars3d
from sparseid.data.cars3d.resizing import resized
from sparseid.data.cars3d.settings import MODELS, Cars3DSettings
from sparseid.errors import InputError
from sparseid.settings import RunNumbers

NAMES = ("car_001_mesh", "car_002_mesh", "car_010_mesh")


def picture(model):
    """Images (128, 128, 3, azimuth, elevation) of one colour each: red for the azimuth, green for the elevation."""
    image = np.empty((128, 128, 3, 24, 4), np.uint8)
    image[:, :, 0] = 10 * np.arange(24)[:, None]
    image[:, :, 1] = 60 * np.arange(4)
    image[:, :, 2] = 80 * model
    return image


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    """A folder as the archive has it."""
    folder = tmp_path_factory.mktemp("archive") / "data"
    (folder / "cars").mkdir(parents=True)
    for model, name in enumerate(NAMES):
        savemat(folder / "cars" / f"{name}.mat", {"im": picture(model), "mask": np.zeros(3)}, do_compression=True)
    (folder / "cars" / "list.txt").write_text("".join(f"{NAMES[place]}\n" for place in (2, 0, 1)))
    (folder / "sprites").mkdir()
    (folder / "sprites" / "car_9.mat").write_text("of another data set")
    return folder


@pytest.fixture
def config(monkeypatch, tmp_path, unpacked):
    """Settings with a copy of the folder, whose files are links."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(files, "MODELS", 3)
    (tmp_path / "cars").mkdir()
    for path in (unpacked / "cars").iterdir():
        (tmp_path / "cars" / path.name).symlink_to(path)
    return lambda **changes: Cars3DSettings(**{"source": "files", "path": str(tmp_path), "size": 32} | changes)


@pytest.fixture
def archive(unpacked, tmp_path):
    path = tmp_path / "nips2015-analogy-data.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as file:
        file.add(unpacked, "data")
    return path


def colours(images, elevation, azimuth):
    return images.observations([(elevation, azimuth, model) for model in range(3)])[:, 0, 0].tolist()


def test_images_are_in_the_order_of_the_factors_and_of_the_list(config):
    assert MODELS == 183
    assert list(config().missing_files()) == []
    images = stored_cars(config())
    assert images.grid.sizes == (4, 24, 3)
    assert images.images.shape == (288, 32, 32, 3)
    assert colours(images, 3, 7) == [[70, 180, 160], [70, 180, 0], [70, 180, 80]]
    assert colours(stored_cars(config(order="sorted")), 1, 23) == [[230, 60, 0], [230, 60, 80], [230, 60, 160]]


def test_an_archive_gives_the_same_images_and_is_not_unpacked(config, archive, tmp_path):
    packed = config(path=str(archive))
    assert packed.user_files() == {"path": archive}
    assert (stored_cars(packed).images == stored_cars(config()).images).all()
    assert not list((tmp_path / "data").rglob("*.mat"))


def test_the_run_hash_covers_all_files_of_a_folder(config, tmp_path):
    assert set(config().user_files()) == {"list.txt", *(f"{name}.mat" for name in NAMES)}
    assert config(path=str(tmp_path / "cars")).user_files() == config().user_files()


def test_without_a_list_models_are_sorted(config, tmp_path):
    (tmp_path / "cars" / "list.txt").unlink()
    assert colours(stored_cars(config()), 0, 0) == [[0, 0, 0], [0, 0, 80], [0, 0, 160]]


def test_sizes_are_those_of_thumbnails_and_larger_ones_are_upsampled():
    image = np.random.default_rng(0).integers(256, size=(1, 128, 128, 3), dtype=np.uint8)
    thumbnail = Image.fromarray(image[0])
    thumbnail.thumbnail((64, 64), Image.Resampling.LANCZOS)
    assert (resized(image, 64)[0] == np.asarray(thumbnail)).all()
    assert resized(image, 128) is image
    constant = np.full((2, 64, 64, 3), 77, np.uint8)
    assert (resized(constant, 128) == np.full((2, 128, 128, 3), 77)).all()


def test_the_paper_upsamples_and_native_images_can_be_had(config, monkeypatch):
    sizes = []
    monkeypatch.setattr(files, "resized", lambda images, side: sizes.append(side) or images[:, :1, :1])
    monkeypatch.setattr(files, "stored_images", lambda name, settings, grid, side, parts: next(iter(parts())))
    stored_cars(config(size=128, upsampled_from=64))
    assert sizes == [64, 128] * 3
    stored_cars(config(size=128))
    assert sizes[6:] == [128, 128] * 3


def test_a_run_reads_the_files(config):
    data = Cars3DData.from_settings(config(), RunNumbers(0, [0], 4, 10))
    assert data.note == ""
    assert len(data.files) == 4
    assert data.training_batch(0).inputs.shape == (4, 3, 32, 32)


def refused(config):
    (error,) = config.missing_files()
    assert error.keys == ("data.path",)
    return error.text


WRONG = {
    "has no array im": {"mask": np.zeros(3)},
    "im is 64 x 64 x 3 x 24 x 4 of type uint8; images of 128 x 128 x 3 x 24 x 4 bytes": {"im": picture(0)[:64, :64]},
    "im is 128 x 128 x 3 x 24 x 1 of type float64": {"im": np.zeros((128, 128, 3, 24, 1))},
}


@pytest.mark.parametrize("message", WRONG)
def test_other_arrays_are_refused(config, tmp_path, message):
    path = tmp_path / "cars" / f"{NAMES[1]}.mat"
    path.unlink()
    savemat(path, WRONG[message], do_compression=True)
    text = refused(config())
    assert f"{path}" in text
    assert message in text


def test_a_truncated_file_is_refused(config, tmp_path):
    path = tmp_path / "cars" / f"{NAMES[1]}.mat"
    whole = path.read_bytes()
    path.unlink()
    for content in (whole[: len(whole) // 2], b"MATLAB", b"\x89HDF\r\n\x1a\n" + bytes(200)):
        path.write_bytes(content)
        text = refused(config())
        assert f"{path} cannot be read as a MATLAB file" in text
    assert not list((tmp_path / "data").rglob("*.npy"))


def test_a_truncated_archive_is_refused(config, archive):
    whole = archive.read_bytes()
    for content in (whole[: len(whole) // 2], b"no archive"):
        archive.write_bytes(content)
        assert "cannot be read as a tar archive" in refused(config(path=str(archive)))


def test_models_that_are_missing_are_named(config, tmp_path):
    (tmp_path / "cars" / f"{NAMES[1]}.mat").unlink()
    assert "1 of the models in list.txt have no file, car_002_mesh.mat among them" in refused(config())
    assert "2 car models instead of 3" in refused(config(order="sorted"))
    (tmp_path / "cars" / "list.txt").unlink()
    (tmp_path / "cars" / "list.txt").write_text("car_001_mesh\ncar_001_mesh.mat\ncars/car_010_mesh")
    assert "list.txt names a model twice" in refused(config())


def test_a_folder_without_models_is_refused_with_the_remedy(config, tmp_path):
    (tmp_path / "empty").mkdir()
    assert f"{tmp_path}/empty has no car_*.mat\n  make data" in refused(config(path=str(tmp_path / "empty")))


def test_a_link_out_of_the_archive_is_not_followed(config, archive, tmp_path):
    secret = tmp_path / "secret.mat"
    secret.write_text("secret")
    with tarfile.open(archive, "w:gz") as file:
        member = tarfile.TarInfo("data/cars/car_001_mesh.mat")
        member.type, member.linkname = tarfile.SYMTYPE, str(secret)
        file.addfile(member)
    assert "0 car models instead of 3" in refused(config(path=str(archive)))


def test_make_data_checks_an_archive_that_is_there(config, archive, tmp_path, monkeypatch):
    place = tmp_path / "data" / "cars3d" / archive.name
    place.parent.mkdir(parents=True, exist_ok=True)
    archive.rename(place)
    lines = list(cars3d())
    assert lines[-2].startswith("288 images of 64 pixels: elevation 4, azimuth 24, object_type 3")
    assert lines[-1] == "use: data=cars3d data.source=files"
    place.write_text("no")
    with pytest.raises(InputError, match="cannot be read"):
        list(cars3d())
    assert Path(config(path="").user_files()["path"]) == place
