"""The files of Fashion-MNIST, here of few images."""

import gzip
import hashlib
import os
import struct
from pathlib import Path

import numpy as np
import pytest

from sparseid.data.fashion_mnist import files
from sparseid.data.fashion_mnist.datamodule import FashionMNISTData
from sparseid.data.fashion_mnist.files import IMAGES, LABELS, PUBLISHED, read_idx, read_split
from sparseid.data.fashion_mnist.obtain import fashion_mnist
from sparseid.data.fashion_mnist.settings import FashionMNISTSettings
from sparseid.errors import InputError
from sparseid.settings import RunNumbers

RUN = RunNumbers(3, [3], batch_size=4, steps=10)
DIGITS = [Path(os.environ.get("SPARSEID_SHARED", place)) / "data/mnist-t10k" for place in ("../shared", "shared")]


def idx(array):
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


@pytest.fixture
def config(monkeypatch, tmp_path):
    """A folder with compressed training files and plain test files."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    folder = tmp_path / "mine"
    folder.mkdir()
    for name, pack, end in (("train", gzip.compress, ".gz"), ("t10k", bytes, "")):
        count = {"train": 12, "t10k": 5}[name]
        images = np.random.default_rng(count).integers(256, size=(count, 28, 28), dtype=np.uint8)
        (folder / f"{name}-{IMAGES}{end}").write_bytes(pack(idx(images)))
        (folder / f"{name}-{LABELS}{end}").write_bytes(pack(idx(np.arange(count, dtype=np.uint8) % 10)))
    return FashionMNISTSettings(source="files", path=str(folder))


def refused(config):
    (error,) = config.missing_files()
    assert error.keys == ("data.path",)
    return error.text


def test_files_are_read_compressed_or_not(config):
    assert list(config.missing_files()) == []
    train, test = read_split(config, "train"), read_split(config, "t10k")
    wanted = np.random.default_rng(12).integers(256, size=(12, 28, 28), dtype=np.uint8)
    assert np.array_equal(train.images, wanted)
    assert train.labels.tolist() == [*range(10), 0, 1]
    assert test.images.shape == (5, 28, 28)
    assert {path.name for path in config.user_files().values()} == {
        f"train-{IMAGES}.gz",
        f"train-{LABELS}.gz",
        f"t10k-{IMAGES}",
        f"t10k-{LABELS}",
    }


def test_a_run_reads_them_and_says_that_they_are_not_the_published_ones(config):
    data = FashionMNISTData.from_settings(config, RUN)
    batch = data.training_batch(0)
    assert batch.inputs.shape == (4, 1, 28, 28)
    assert (batch.inputs.min() >= 0, batch.inputs.max() <= 1) == (True, True)
    assert data.note == f"not the published files of Fashion-MNIST: train-{IMAGES}.gz, train-{LABELS}.gz"
    assert len(data.files) == 4
    assert data.test_items == 5


def test_batches_are_permutations_and_functions_of_their_number():
    data = FashionMNISTData.from_settings(FashionMNISTSettings(images=14), RUN)
    assert data.note.startswith("silhouettes")
    epoch = np.concatenate([data.training_batch(number).inputs.flatten(1) for number in range(3)])
    originals = data.train.images.reshape(14, -1) / np.float32(255)
    found = [int(np.abs(originals - row).sum(axis=1).argmin()) for row in epoch]
    assert len(set(found)) == 12
    assert not np.array_equal(data.training_batch(3).inputs, data.training_batch(0).inputs)
    other = FashionMNISTData.from_settings(FashionMNISTSettings(images=14), RUN)
    assert np.array_equal(other.training_batch(7).inputs, data.training_batch(7).inputs)
    assert np.array_equal(other.train.images, data.train.images)
    assert [len(batch.inputs) for batch in data.test_dataloader()] == [2]


def damage(config, name, change):
    path = Path(config.path) / name
    path.write_bytes(change(path.read_bytes()))


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        (f"train-{IMAGES}.gz", lambda content: content[:-30], "is truncated or damaged"),
        (f"train-{IMAGES}.gz", lambda content: b"\x1f\x8b" + bytes(20), "is truncated or damaged"),
        (f"t10k-{IMAGES}", lambda content: content[:-1], "should have 3920 values behind its header and has 3919"),
        (f"t10k-{IMAGES}", lambda content: content + b"x", "has 3921 bytes there"),
        (f"t10k-{IMAGES}", lambda content: content[:9], "should have its sizes"),
        (f"t10k-{IMAGES}", lambda content: idx(np.zeros(5, np.uint8)), "starts with 2049, where .* 3 axes has 2051"),
        (f"t10k-{IMAGES}", lambda content: b"\x80\x04code", "where an IDX file of 3 axes has 2051"),
        (f"t10k-{IMAGES}", lambda content: idx(np.zeros((5, 32, 32), np.uint8)), "5 x 32 x 32 is not n x 28 x 28"),
        (f"t10k-{IMAGES}", lambda content: idx(np.zeros((4, 28, 28), np.uint8)), "has 4 images, and .* 5 classes"),
        (f"t10k-{IMAGES}", lambda content: b"", "has no readable t10k-images"),
        (f"t10k-{LABELS}", lambda content: idx(np.full(5, 10, np.uint8)), "class 10, where the last is 9"),
    ],
)
def test_other_files_are_refused(config, name, change, says):
    damage(config, name, change)
    with pytest.raises(InputError, match=says):
        read_split(config, "t10k" if name.startswith("t10k") else "train")
    assert refused(config)


def test_missing_files_are_named_with_the_remedy(config):
    config.path = ""
    text = refused(config)
    assert "make data DATASETS=fashion_mnist" in text
    assert f"train-{IMAGES}" in text


def test_make_data_checks_what_it_downloads(config, monkeypatch):
    """Files with other checksums are refused; those that are there are read."""
    place = PUBLISHED[f"train-{IMAGES}"].place()
    place.parent.mkdir(parents=True)
    for path in Path(config.path).iterdir():
        content = path.read_bytes()
        (place.parent / f"{path.name.removesuffix('.gz')}.gz").write_bytes(
            content if path.suffix == ".gz" else gzip.compress(content)
        )
    lines = list(fashion_mnist())
    assert lines[-3:] == ["train: 12 images", "t10k: 5 images", "use: data=fashion_mnist data.source=files"]
    assert [file.md5[:4] for file in PUBLISHED.values()] == ["8d4f", "25c8", "bef4", "bb30"]
    assert all(file.url.startswith(files.ADDRESS) and file.url.endswith(".gz") for file in PUBLISHED.values())


@pytest.mark.shared
def test_the_test_digits_of_mnist_are_read():
    folder = next((place for place in DIGITS if place.is_dir()), None)
    if folder is None:
        pytest.skip("the digits are not there")
    content = (folder / f"t10k-{IMAGES}.gz").read_bytes()
    assert hashlib.md5(content).hexdigest() == "9fb629c4189551a2d022fa330f9573f3"
    split = read_split(FashionMNISTSettings(source="files", path=str(folder)), "t10k")
    assert split.images.shape == (10_000, 28, 28)
    assert split.labels[:5].tolist() == [7, 2, 1, 0, 4]
    assert read_idx(folder / f"train-{LABELS}.gz", 1).shape == (60_000,)


def test_settings_of_the_other_source_are_refused():
    def keys(**settings):
        return [error.keys for error in FashionMNISTSettings(**settings).errors(None)]

    assert keys() == []
    assert keys(path="somewhere") == [("data.path", "data.source")]
    assert keys(source="files", images=5) == [("data.images", "data.source")]
    assert FashionMNISTSettings(images=5).row_keys() == {
        "dataset": "fashion_mnist",
        "source": "silhouettes",
        "images": 5,
    }
    assert FashionMNISTSettings(source="files").row_keys() == {"dataset": "fashion_mnist"}
