import os
import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sparseid.data.arrays.reader import embedding_size, largest_label, read_series, series_of
from sparseid.errors import InputError
from sparseid.settings import EarlyStopSettings, settings_errors


def batches_of(size, **early_stop):
    """The part of a run that the rules look at."""
    return SimpleNamespace(trainer=SimpleNamespace(batch_size=size, early_stop=EarlyStopSettings(**early_stop)))


RNG = np.random.default_rng(0)
WHOLE = {
    "observations": RNG.normal(size=(60, 8)),
    "labels": RNG.normal(size=(60, 2)),
    "ground_truth": np.arange(8) >= np.array([[0], [0], [4], [4]]),
    "latents": RNG.normal(size=(60, 4)),
}


@pytest.fixture
def file_of(tmp_path):
    """Write a file with the arrays of WHOLE, some of them changed or, for None, left out."""

    def write(**changes):
        path = tmp_path / "series.npz"
        np.savez(path, **{name: values for name, values in (WHOLE | changes).items() if values is not None})
        return str(path)

    return write


def refused(path):
    with pytest.raises(InputError) as caught:
        read_series(path)
    assert caught.value.keys == ("data.path",)
    return str(caught.value)


def test_a_whole_file(file_of):
    series = read_series(file_of())
    for values, name in zip(series[:4], ("observations", "labels", "ground_truth", "latents"), strict=True):
        np.testing.assert_array_equal(values, WHOLE[name].astype(values.dtype))
    assert (series.feature_names, series.label_names) == (None, None)
    assert [values.dtype for values in series[:4]] == [np.float32, np.float32, bool, np.float32]


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.float64])
def test_a_map_of_zeros_and_ones_is_one_of_bool(file_of, kind):
    np.testing.assert_array_equal(
        read_series(file_of(ground_truth=WHOLE["ground_truth"].astype(kind))).truth, WHOLE["ground_truth"]
    )


SECONDS = 1.7e9 + np.arange(60.0)  # since 1970
NOISE = np.random.default_rng(1).normal(size=60)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (SECONDS, "subtract an offset, or number them from 0 (the 60 values of column '1' become 1)"),
        (SECONDS.astype(np.int64), "(the 60 values of column '1' become 1)"),
        ((1e9 * SECONDS).astype(np.int64), "(the 60 values of column '1' become 1)"),
        (SECONDS + 0.25, "subtract an offset, or rescale them (the 60 values of column '1' become 1)"),
        (1.7e9 + 120.0 * np.arange(60), "the 60 values of column '1' become 56"),
        (np.c_[NOISE, SECONDS], "of column '2' become 1"),
        (np.resize([2**24, 2**24 + 1], 60), "number them from 0 (the 2 values of column '1' become 1)"),
        (np.resize([1e9, 1e9 + 1, 2e9], 60), "number them from 0 (the 3 values of column '1' become 2)"),
        (np.resize(np.array([0, 2**63, 2**63 + 1], np.uint64), 60), "(the 3 values of column '1' become 2)"),
        (1e-50 * NOISE, "rescale them (the 60 values of column '1' become 1)"),
    ],
)
def test_labels_that_single_precision_makes_equal_are_refused(file_of, labels, said):
    message = refused(file_of(labels=labels))
    assert "cannot be used: labels differ by less than single precision can represent: subtract an offset" in message
    assert said in message


@pytest.mark.parametrize("name", ["observations", "latents"])
def test_observations_that_single_precision_makes_equal_are_refused(file_of, name):
    values = WHOLE[name].copy()
    for offset in (1e9, 2e4):
        values[:, 3] = offset + NOISE * 0.2
        message = refused(file_of(**{name: values}))
        assert f"{name} differ by less than single precision can represent: subtract an offset" in message
        assert "of column '4' become" in message
    assert f"{name} is" not in message


@pytest.mark.parametrize(
    "labels",
    [
        SECONDS - SECONDS[0],
        SECONDS.astype(np.float32) + 256 * np.arange(60, dtype=np.float32),
        np.resize([5, 5 + 2**32], 60),
        np.resize([-(2**24), 2**24], 60),
        np.where(np.arange(60) % 20 < 10, 0.5, 0.7) + 1e-12 * NOISE,  # rounding of a computation
        NOISE,
        np.arange(60) % 2 == 0,
    ],
)
def test_labels_that_single_precision_holds_are_read(file_of, labels):
    np.testing.assert_allclose(read_series(file_of(labels=labels)).labels[:, 0], labels.astype(float), rtol=6e-8)


def test_a_series_is_scaled_before_it_is_rounded(file_of, arrays_config, tmp_path):
    """Times since 1970 are observations and labels like others if they are standardised."""
    observations = WHOLE["observations"].copy()
    observations[:, 3] = 1.7e9 + np.random.default_rng(0).integers(120, 240, 60).cumsum()
    path = file_of(observations=observations, labels=SECONDS)
    table = tmp_path / "series.csv"
    lines = [
        ",".join(map(repr, [*row, label])) for row, label in zip(observations.tolist(), SECONDS.tolist(), strict=True)
    ]
    table.write_text("\n".join([",".join([*"abcdefgh", "label"]), *lines]))
    for config in (arrays_config(path=path), arrays_config(path=str(table), labels=["label"])):
        with pytest.raises(InputError, match="differ by less than single precision can represent"):
            series_of(config)
        config.standardise = True
        series = series_of(config)
        for found, values in ((series.observations[:, 3], observations[:, 3]), (series.labels[:, 0], SECONDS)):
            np.testing.assert_allclose(found, (values - values[:54].mean()) / values[:54].std(), rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(series.scale.mean, observations[:54].mean(axis=0))


def test_many_random_values_of_which_some_become_equal_by_chance_are_read(file_of):
    values = np.random.default_rng(0).normal(size=(200_000, 1))
    read = read_series(file_of(observations=values, labels=values, ground_truth=None, latents=None))
    assert 0 < len(values) - len(np.unique(read.labels)) < 2000


def test_the_least_a_file_holds(file_of):
    series = read_series(file_of(labels=np.arange(60), ground_truth=None, latents=None, other=np.zeros(3)))
    assert series.labels.shape == (60, 1)
    assert series.truth is series.latents is None


def test_a_changed_file_is_read_again(file_of):
    before = read_series(file_of())
    assert read_series(file_of()) is not before
    path = file_of(labels=np.arange(60.0))
    assert read_series(path).labels.shape == (60, 1)
    assert read_series(path) is read_series(path)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"observations": None}, "it lacks the array observations (found: labels, ground_truth, latents)"),
        ({"labels": None, "observations": None}, "it lacks the arrays observations and labels"),
        (
            {"observations": np.where(np.arange(60) % 20 == 0, np.nan, 0.0)[:, None]},
            "observations is NaN or infinite in 3 of 60 rows",
        ),
        ({"observations": np.full((60, 2), 1e39)}, "row 1, column '1': 1e+39 is beyond single precision (3.4e+38)"),
        ({"labels": np.full((60, 1), np.inf)}, "labels is NaN or infinite in 60 of 60"),
        ({"latents": np.full((60, 4), np.nan)}, "latents is NaN"),
        ({"labels": np.ones((60, 2))}, "labels is constant in column '1', '2'"),
        ({"labels": np.stack([np.arange(60), np.zeros(60)], axis=1)}, "labels is constant in column '2'"),
        ({"labels": np.arange(59)}, "labels has 59 rows and observations has 60"),
        ({"latents": np.zeros((61, 4))}, "latents has 61 rows"),
        ({"observations": np.zeros(60)}, "observations is float64 (60,), not a table"),
        ({"observations": np.zeros((0, 5))}, "not a table"),
        ({"observations": np.full((60, 2), "a")}, "not a table of numbers"),
        ({"labels": np.zeros((60, 2), dtype=complex)}, "labels is complex128"),
        ({"labels": np.array([None] * 60)}, "pickled objects, which are refused"),
        ({"ground_truth": np.full((4, 8), 0.5)}, "ground_truth is float64 (4, 8), not a table of 0 and 1"),
        ({"ground_truth": np.ones((8, 4), dtype=bool)}, "not a table of 0 and 1 (or bool) with 8 columns"),
        ({"ground_truth": np.ones((1, 8), dtype=bool)}, "ground_truth has 1 rows, fewer than the 2 of the labels"),
        ({"ground_truth": np.ones((4, 8), dtype=bool)}, "ground_truth is True in all of the 2 scored rows"),
        ({"ground_truth": np.arange(4)[:, None] < np.full(8, 2)}, "ground_truth is False in all of the 2 scored rows"),
        ({"observations": np.ones((60, 8))}, "observations are the same in every row"),
    ],
)
def test_unusable_arrays_are_named(file_of, changes, text):
    said = refused(file_of(**changes))
    assert text in said
    assert "observations  (N, D) numbers" in said


def test_unusable_files(tmp_path, file_of):
    assert "set data.path to your npz file" in refused("")
    assert "No such file" in refused(str(tmp_path / "absent.npz"))
    assert "Is a directory" in refused(str(tmp_path))
    path = tmp_path / "broken.npz"
    path.write_bytes(b"")
    assert "not a complete npz file" in refused(str(path))
    path.write_bytes(Path(file_of()).read_bytes()[:-200])
    assert "not a complete npz file" in refused(str(path))
    path.write_bytes(pickle.dumps({"observations": 1}))
    assert "pickled objects, which are refused" in refused(str(path))
    np.save(tmp_path / "single.npy", np.zeros((60, 8)))
    assert "numpy.savez" in refused(str(tmp_path / "single.npy"))


def test_nothing_is_unpickled(tmp_path):
    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "sprung"),)

    np.savez(tmp_path / "trap.npz", observations=np.array([Trap()], dtype=object), labels=np.zeros(1))
    refused(str(tmp_path / "trap.npz"))
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    ("asked", "changes", "latents"),
    [
        (0, {}, 4),
        (4, {}, 4),
        (0, {"latents": None}, 4),
        (0, {"ground_truth": None}, 4),
        (0, {"ground_truth": WHOLE["ground_truth"][2:]}, 4),  # rows of the labels alone
        (6, {"ground_truth": WHOLE["ground_truth"][2:], "latents": None}, 6),
        (3, {"ground_truth": None, "latents": None}, 3),
    ],
)
def test_number_of_latents(arrays_config, file_of, asked, changes, latents):
    path = file_of(**changes)
    config = arrays_config(path=path, latents=asked)
    assert embedding_size(config, read_series(path)) == latents
    assert list(settings_errors(config, "data.", batches_of(54))) == []


@pytest.mark.parametrize(
    ("asked", "changes", "text"),
    [
        (0, {"ground_truth": None, "latents": None}, "number of latents is unknown"),
        (5, {}, "do not agree: 5 in data.latents, 4 in latents, 4 in ground_truth"),
        (0, {"latents": np.zeros((60, 3))}, "do not agree: 3 in latents, 4 in ground_truth"),
        (9, {"ground_truth": None, "latents": None}, "at most 8, one per observed feature"),
        (1, {"ground_truth": None, "latents": None}, "include the 2 of the label"),
    ],
)
def test_impossible_numbers_of_latents(arrays_config, file_of, asked, changes, text):
    [(keys, said)] = settings_errors(arrays_config(path=file_of(**changes), latents=asked), "data.", batches_of(10))
    assert text in said
    assert "data.latents" in keys


def test_faults_of_series_and_settings(arrays_config, file_of):
    path = file_of()
    [(keys, said)] = settings_errors(arrays_config(path=path), "data.", batches_of(55))
    assert "54 training samples, less than one batch" in said
    assert {"data.path", "trainer.batch_size"} <= set(keys)
    [(keys, said)] = settings_errors(arrays_config(path=path, held_out=1.0), "data.", batches_of(5))
    assert keys == ("data.held_out",)
    path = file_of(labels=np.maximum(np.arange(60), 54))  # changes in the end only
    [(keys, said)] = settings_errors(arrays_config(path=path), "data.", batches_of(5))
    assert "labels is constant in column '1' of the 54 training samples" in said
    stopping = batches_of(49, patience=3)
    [(keys, said)] = settings_errors(arrays_config(path=file_of()), "data.", stopping)
    assert "48 training samples, less than one batch" in said
    path = file_of(labels=np.maximum(np.arange(60), 48))  # changes in the validation samples, too
    assert list(settings_errors(arrays_config(path=path), "data.", batches_of(5))) == []
    [(keys, said)] = settings_errors(arrays_config(path=path), "data.", batches_of(5, patience=3))
    assert "labels is constant in column '1' of the 48 training samples" in said
    assert list(settings_errors(arrays_config(), "data.", batches_of(5))) == []  # presets are planned without a file
    [(keys, said)] = arrays_config().missing_files()
    assert keys == ("data.path",)
    assert "set data.path to your npz file" in said
    assert "observations  (N, D) numbers" in said


def test_largest_label(arrays_config, file_of, tmp_path):
    assert largest_label(arrays_config(path=file_of(labels=np.linspace(-7, 2, 60)))) == 7
    assert largest_label(arrays_config(path=str(tmp_path / "absent.npz"))) == 0
    assert largest_label(arrays_config(path=file_of(labels=np.linspace(-7, 2, 60)), standardise="true")) < 2.1


TABLE = "t,neuron1,neuron2,neuron3,x,y\n" + "".join(
    f"{n},{RNG.normal():.3f},{RNG.normal():.3f},{2 * n + 1},{n % 7},{n / 3:.2f}\n" for n in range(60)
)


def test_a_table_has_labels_among_its_columns_and_keeps_all_names(tmp_path):
    path = tmp_path / "series.csv"
    path.write_text(TABLE)
    series = read_series(str(path), ["x", "y"], ["t"])
    assert (series.observations.shape, series.labels.shape) == ((60, 3), (60, 2))
    assert series.feature_names.tolist() == ["neuron1", "neuron2", "neuron3"]
    assert series.label_names.tolist() == ["x", "y"]
    assert series.observations[:, 2].tolist() == [2 * n + 1 for n in range(60)]
    scaled = read_series(str(path), ["x", "y"], ["t"], held_out=0.1)
    np.testing.assert_allclose(scaled.observations[:54].mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(scaled.labels[:54].std(axis=0), 1, rtol=1e-5)


def test_a_table_that_cannot_be_used_is_refused(tmp_path, file_of):
    path = tmp_path / "series.csv"
    path.write_text(TABLE)

    def said(*arguments):
        with pytest.raises(InputError) as caught:
            read_series(*arguments)
        return str(caught.value)

    assert "set data.labels to the columns of the labels" in said(str(path))
    assert "it has no column 'z'" in said(str(path), ["z"])
    assert "data.labels and data.ignore are for tables" in said(file_of(), ["x"])
    path.write_text(TABLE.replace("\n3,", "\n3,oops", 1))
    assert "line 5, column 'neuron1'" in said(str(path), ["x"])
    path.write_text(TABLE)
    assert "constant.csv: labels is constant in column 'x'" in said(str(constant(tmp_path)), ["x"])


def constant(folder):
    path = folder / "constant.csv"
    path.write_text("a,x\n" + "".join(f"{n},1\n" for n in range(9)))
    return path
