"""Settings of the images of discrete factors."""

import pytest

from sparseid.config.components import settings_class
from sparseid.settings import settings_errors

NAMES = ("shapes3d", "cars3d", "mpi3d")


def settings(name, **changes):
    return settings_class("data", name)(**changes)


def errors(made):
    return settings_errors(made, "data.", None)


@pytest.mark.parametrize("name", NAMES)
def test_the_defaults_need_no_files(name):
    made = settings(name)
    assert errors(made) == []
    assert list(made.missing_files()) == []
    assert made.user_files() == {}
    assert made.mini_levels == tuple(made.factors.values())
    assert made.row_keys() == {"dataset": name, "image_size": 64, "source": "mini"}


@pytest.mark.parametrize(
    ("name", "changes", "key", "text"),
    [
        ("shapes3d", {"size": 48}, "data.size", "for data.source=mini, data.size must be 32 or 64"),
        ("mpi3d", {"size": 32, "source": "files"}, "data.size", "for data.source=files, data.size must be 64"),
        ("shapes3d", {"path": "a.h5"}, "data.path", "set data.source=files"),
        ("cars3d", {"levels": [2, 2, 2], "source": "files"}, "data.levels", "set data.source=mini"),
        ("cars3d", {"levels": [2, 2]}, "data.levels", "elevation 2 to 4, azimuth 2 to 24, object_type 2 to 16"),
        ("cars3d", {"levels": [2, 2, 17]}, "data.levels", "object_type 2 to 16"),
        ("cars3d", {"levels": [1, 2, 2]}, "data.levels", "elevation 2 to 4"),
        ("cars3d", {"upsampled_from": 64}, "data.upsampled_from", "not upsampled to 64"),
        ("cars3d", {"upsampled_from": 48}, "data.upsampled_from", "0 or 32 or 64"),
        ("cars3d", {"order": "sorted"}, "data.order", "set data.source=files"),
        ("mpi3d", {"variant": "real"}, "data.variant", "set data.source=files"),
        ("mpi3d", {"variant": "toys"}, "data.variant", "did you mean: toy"),
        ("cars3d", {"source": "file"}, "data.source", "did you mean: files"),
    ],
)
def test_settings_that_do_not_fit_are_refused(name, changes, key, text):
    (error,) = errors(settings(name, **changes))
    assert error.keys[0] == key
    assert text in error.text


@pytest.mark.parametrize(
    ("name", "changes", "keys"),
    [
        ("shapes3d", {"source": "files"}, {"dataset": "shapes3d", "image_size": 64}),
        (
            "cars3d",
            {"size": 128, "upsampled_from": 64, "source": "files"},
            {"dataset": "cars3d", "image_size": 128},
        ),
        (
            "mpi3d",
            {"size": 32, "levels": [4, 4, 2, 3, 3, 8, 8]},
            {"dataset": "mpi3d", "image_size": 32, "source": "mini", "levels": "4x4x2x3x3x8x8"},
        ),
        (
            "mpi3d",
            {"source": "files", "variant": "real"},
            {"dataset": "mpi3d", "image_size": 64, "variant": "real"},
        ),
    ],
)
def test_rows_have_the_columns_of_the_tables(name, changes, keys):
    made = settings(name, **changes)
    assert errors(made) == []
    assert made.row_keys() == keys


@pytest.mark.parametrize("name", NAMES)
def test_absent_files_are_named_with_the_remedy(name, monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    for path in ("", str(tmp_path / "elsewhere")):
        made = settings(name, source="files", path=path)
        (error,) = made.missing_files()
        assert error.keys == ("data.path",)
        for words in (
            path or str(tmp_path / name),
            f"make data DATASETS={name}",
            "By hand: get http",
            "data.source=mini",
        ):
            assert words in error.text
        assert made.user_files() == {}
