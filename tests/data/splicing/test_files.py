import re

import h5py
import numpy as np
import pytest
import torch

from sparseid.data.splicing.chunks import ChunkFile
from sparseid.data.splicing.core_models import CoreModels, read_core_models
from sparseid.data.splicing.files import existing_files, motif_files, remarks
from sparseid.data.splicing.obtain import splicing
from sparseid.data.splicing.psams import ProteinMotifs, read_psams
from sparseid.errors import InputError

from .conftest import CONTEXT, LENGTH, core_arrays, psam_text, write_h5, write_psams


def read(path, number=0):
    return ChunkFile(path, LENGTH, CONTEXT).chunk(number)


def test_a_chunk_is_read(files):
    file = ChunkFile(files / "dataset_train_all.h5", LENGTH, CONTEXT)
    assert file.sizes.tolist() == [30, 20, 10]
    chunk = file.chunk(1)
    assert chunk.bases.shape == (20, LENGTH + 2 * CONTEXT, 4)
    assert chunk.bases[:, :3].sum() == 0
    assert (chunk.labels[:, 10] == 1).all()
    assert (chunk.labels[:, 40] == 2).all()
    assert chunk.labels.sum() == 60


LENGTHS = ("data.path", "data.length", "data.context")
SHAPES = {
    "channels before positions": lambda number, x, y: (x.transpose(0, 2, 1), y),
    "instead of": lambda number, x, y: (x[:, 1:], y),
    "have shapes": lambda number, x, y: (x, y[0]),
    "X0 and Y0 have 60 and 10": lambda number, x, y: (x[:, 2:-2], y),
    "and (1, n, 60, 3): make the file anew": lambda number, x, y: (x, y[:, 1:]),
    "chunk 1 is empty": lambda number, x, y: (x[: 30 * (number == 0)], y[:, : 30 * (number == 0)]),
    "X0 has values of type object instead of the numbers": lambda number, x, y: (np.full(x.shape, b"A", object), y),
}


@pytest.mark.parametrize("message", SHAPES)
def test_arrays_of_another_shape_are_refused_before_a_run(message, config, files):
    write_h5(files / "dataset_train_all.h5", change=SHAPES[message])
    (error,) = config().missing_files()
    assert message in str(error)
    assert error.keys == (
        LENGTHS if message in ("instead of", "have shapes", "X0 and Y0 have 60 and 10") else ("data.path",)
    )


def swapped(number, x, y):
    return x[:, :, [0, 2, 1, 3]], y


def quarter(number, x, y):
    x = x.astype(np.float32)
    x[0, 5] = 0.25
    return x, y


def twice(number, x, y):
    y[0, 3, 10, 2] = 1
    return x, y


VALUES = [
    (swapped, "order A, C, G, T"),
    (
        quarter,
        r"X0 is not one-hot: N must be four zeros.*; sequence 0, position 5 \(from 0\) has 0\.25 0\.25 0\.25 0\.25",
    ),
    (twice, r"Y0 is not one-hot: a position has one class.*; sequence 3, position 10 \(from 0\) has 0 1 1"),
    (lambda number, x, y: (x, 0 * y), "Y0 has zeros only"),
]


@pytest.mark.parametrize(("change", "message"), VALUES)
def test_values_that_do_not_fit_are_refused(tmp_path, change, message):
    write_h5(tmp_path / "a.h5", change=change)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.h5")


@pytest.mark.parametrize(("change", "message"), VALUES)
@pytest.mark.parametrize("name", ["dataset_train_all.h5", "dataset_test_0.h5"])
def test_values_of_every_chunk_are_checked_before_a_run(name, change, message, config, files):
    """Here only the last chunk of each file is wrong."""
    write_h5(files / name, (30, 30), change=lambda number, x, y: change(number, x, y) if number else (x, y))
    (error,) = config().missing_files()
    assert re.search(f"{name}, chunk 1: .*{message.replace('X0', 'X1').replace('Y0', 'Y1')}", str(error))


def test_files_that_have_passed_are_not_read_again(config, monkeypatch):
    assert not list(config().missing_files())
    monkeypatch.setattr(ChunkFile, "_check_values", pytest.fail)
    assert not list(config().missing_files())


def test_a_file_without_sites_of_a_class_is_refused(config, files):
    def without_donors(number, x, y):
        return x, y * np.array([1, 1, 0], np.int8)

    write_h5(files / "dataset_test_0.h5", change=without_donors)
    (error,) = config().missing_files()
    assert re.search(r"dataset_test_0\.h5: no position is labelled as donor \(column 2 of Y\)", str(error))


def test_the_order_of_channels_is_checked_over_small_chunks_together(config, files):
    write_h5(files / "dataset_test_0.h5", (10, 10, 10), change=swapped)
    (error,) = config().missing_files()
    assert "0 % of the acceptors follow AG" in str(error)


def test_other_arrays_of_an_h5_file_are_ignored(files):
    with h5py.File(files / "dataset_test_0.h5", "a") as file:
        file["Xextra"] = np.zeros(3)
    assert ChunkFile(files / "dataset_test_0.h5", LENGTH, CONTEXT).sizes.tolist() == [25, 15]


def test_a_group_in_place_of_an_array_is_refused(config, files):
    with h5py.File(files / "dataset_test_0.h5", "a") as file:
        del file["X1"]
        file.create_group("X1")
    (error,) = config().missing_files()
    assert "dataset_test_0.h5: X1 is a group" in str(error)


def test_held_out_chunks_need_more_than_one(config, files):
    write_h5(files / "dataset_train_all.h5", (30,))
    assert not list(config().missing_files())
    (error,) = config(validation_from="held_out").missing_files()
    assert "dataset_train_all.h5: it has one chunk" in str(error)
    assert "data.validation_from=train" in str(error)


def test_a_truncated_or_foreign_h5_file_is_refused(tmp_path, files):
    whole = (files / "dataset_train_all.h5").read_bytes()
    (tmp_path / "short.h5").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text.h5").write_text("X0 Y0")
    for name in ("short.h5", "text.h5"):
        with pytest.raises(InputError, match=f"{name} cannot be read as an h5 file.*truncated: copy it again"):
            read(tmp_path / name)
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["Z"] = np.zeros(3)
    with pytest.raises(InputError, match="no arrays X0, Y0"):
        read(tmp_path / "other.h5")
    with h5py.File(files / "dataset_train_all.h5", "a") as file:
        del file["Y1"]
    with pytest.raises(InputError, match="no array Y1: it is incomplete"):
        read(files / "dataset_train_all.h5")
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "none.h5")


def test_matrices_of_a_protein_are_read(files):
    first, second = read_psams(files / "motifs" / "A1CF.psam")
    assert (first.a0, second.a0) == (0.5, 0.5)
    np.testing.assert_allclose(first.affinities, [[1, 0.2, 0.1, 0.3]] * 4)
    assert second.affinities.shape == (3, 4)


def test_probabilities_become_affinities(tmp_path):
    write_psams(tmp_path / "P.psam", [[0.5, 0.25, 0.25, 0]])
    np.testing.assert_allclose(read_psams(tmp_path / "P.psam")[0].affinities, [[1, 0.5, 0.5, 0]])


WRONG = {
    "line 4: the largest of the four numbers is 0.6 and they sum to 0.9": psam_text([[0.6, 0.1, 0.1, 0.1]]),
    "four affinities of at least 0": psam_text([[1, -0.1, 0.1, 0.1]]),
    "four affinities of at": psam_text([[1, "x", 0.1, 0.1]]),
    "bases must be in this order": psam_text([[1, 0.1, 0.1, 0.1]]).replace("A\tC\tG\tU", "A\tG\tC\tU"),
    "A0=<positive number> expected": psam_text([[1, 0.1, 0.1, 0.1]], a0=-1),
    "no rows follow; the file is truncated": psam_text([]),
    "ends within the matrix of line 1": "# PSAM 0\n# A0=1\n",
    "line 2: n=2 rows are announced, but 1 follow": psam_text([[1, 0.1, 0.1, 0.1]]).replace("n=1", "n=2"),
    "line 4: four affinities and the best base expected, not '1 0.1 0.1 0.1'": psam_text([[1, 0.1, 0.1, 0.1]])[:-4],
    "1 matrices instead of 2": "# ModelSetParams with 2 PSAMs\n" + psam_text([[1, 0.1, 0.1, 0.1]]),
    "more than a sequence has nucleotides (84)": psam_text([[1, 0.1, 0.1, 0.1]] * 85),
    "no line '# PSAM 0'": "hello\n",
}


@pytest.mark.parametrize("message", WRONG)
def test_psams_that_do_not_fit_are_refused_with_their_line(message, config, files):
    (files / "motifs" / "BAD.psam").write_text(WRONG[message])
    (error,) = config().missing_files()
    assert "BAD.psam" in str(error)
    assert message in str(error)


def test_the_score_of_a_window_is_the_weighted_sum_of_products(tmp_path):
    """Two matrices, of widths 3 and 1: the narrower is centred; affinities relative to the larger A0."""
    wide = [[1, 0.5, 0.5, 0.5], [0.2, 1, 0.2, 0.2], [0.1, 0.1, 0.1, 1]]
    text = psam_text(wide, a0=2.0) + psam_text([[0.3, 1, 0.3, 0.3]], 1, a0=1.0)
    (tmp_path / "P.psam").write_text(text)
    motifs = ProteinMotifs([read_psams(tmp_path / "P.psam")])
    inputs = torch.eye(4)[torch.tensor([[0, 1, 3, 2]])].transpose(1, 2)  # ACTG
    scores = motifs.scores(inputs)
    assert scores.shape == (1, 4, 1)
    expected = [0, 1 * 1 * 1 + 0.5 * 1, 0.5 * 0.2 * 0.1 + 0.5 * 0.3, 0]
    np.testing.assert_allclose(scores[0, :, 0], expected, rtol=1e-5)
    inputs[0, :, 1] = 0  # N: no site at it, and it changes no product
    np.testing.assert_allclose(motifs.scores(inputs)[0, :, 0], [0, 0, 0.2 * 0.1 + 0.5 * 0.3, 0], rtol=1e-5)


def test_core_models_are_convolutions_with_relu_and_a_softmax():
    arrays = core_arrays(np.random.default_rng(0))
    layers = [
        [(torch.from_numpy(arrays[f"{name}_{k}_weight"]), torch.from_numpy(arrays[f"{name}_{k}_bias"])) for k in (0, 1)]
        for name in ("acceptor", "donor")
    ]
    inputs = torch.eye(4)[torch.randint(4, (2, 20), generator=torch.Generator().manual_seed(0))].transpose(1, 2)
    scores = CoreModels(layers).scores(inputs)
    assert scores.shape == (2, 20, 2)
    weight, bias = layers[1][0]
    hidden = torch.einsum("ock,ck->o", weight, inputs[0, :, 6:15]) + bias
    logits = layers[1][1][0][:, :, 0] @ hidden.relu() + layers[1][1][1]
    assert scores[0, 10, 1] == pytest.approx(float(logits.log_softmax(0)[2]) + 10, rel=1e-4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"donor_0_weight": None}, r"core\.npz has no array donor_0_weight \(out, 4, width\)"),
        ({"donor_1_bias": None}, r"core\.npz has no array donor_1_bias \(3,\)"),
        ({"donor_3_bias": np.zeros(3)}, r"core\.npz has no array donor_2_weight \(out, 3, width\)"),
        ({"donor_1_wieght": np.zeros(3)}, "donor_1_wieght would not be used"),
        ({"donor_1_bias": np.array(["a", "b", "c"])}, "donor_1_bias has values of type <U1 instead of numbers"),
        ({"acceptor_0_weight": np.zeros((5, 4, 8))}, "acceptor_0_weight has the even width 8"),
        ({"donor_1_weight": np.zeros((3, 6, 1))}, "donor_1_weight"),
        ({"acceptor_1_weight": np.zeros((2, 5, 1)), "acceptor_1_bias": np.zeros(2)}, "2 outputs instead of"),
        ({"acceptor_0_bias": np.full(5, np.nan)}, "NaN"),
    ],
)
def test_core_models_that_do_not_fit_are_refused(files, change, message):
    arrays = core_arrays(np.random.default_rng(0)) | change
    np.savez(files / "core.npz", **{name: values for name, values in arrays.items() if values is not None})
    with pytest.raises(InputError, match=message):
        read_core_models(files / "core.npz")


def test_a_file_that_is_no_npz_is_refused_before_a_run(config, files):
    (files / "core.npz").write_bytes(b"PK nonsense")
    (error,) = config().missing_files()
    assert "core.npz cannot be read" in str(error)


@pytest.mark.parametrize("name", ["dataset_train_all.h5", "dataset_test_0.h5", "core.npz"])
def test_a_missing_file_is_named_with_what_to_do(name, config, files):
    (files / name).unlink()
    (error,) = config().missing_files()
    assert f"{name} does not exist" in str(error)
    assert "data.source=synthetic" in str(error)
    assert name not in existing_files(config())


def test_no_psams_are_no_motifs(config, files):
    for path in (files / "motifs").iterdir():
        path.unlink()
    (error,) = config().missing_files()
    assert "has no files of PSAMs" in str(error)


def test_two_files_of_a_protein_are_refused(config, files):
    (files / "motifs" / "QKI.bak").write_text((files / "motifs" / "QKI.psam").read_text())
    (error,) = config().missing_files()
    assert "QKI.bak and QKI.psam are both files of the protein QKI" in str(error)


def test_a_link_that_leads_nowhere_is_no_missing_protein(config, files):
    (files / "motifs" / "RBFOX2.psam").symlink_to(files / "gone")
    (error,) = config().missing_files()
    assert "RBFOX2.psam cannot be read: No such file" in str(error)


def test_a_readme_is_no_protein_and_what_is_unusual_is_said(config, files):
    (files / "motifs" / "README.md").write_text("Motifs")
    assert list(motif_files(config())) == ["A1CF", "QKI"]
    assert not list(config().missing_files())
    assert remarks(config()) == ["2 proteins, where Figure 12 has 79: motif errors are not comparable with the paper's"]
    (files / "motifs" / "A1CF.psam").rename(files / "motifs" / "A1CF.bak")
    assert "files of several suffixes (.bak, .psam)" in remarks(config())[1]


def test_make_data_checks_values_and_takes_the_lengths_of_the_files(files, monkeypatch):
    monkeypatch.setenv("SPLICING", str(files))
    lines = list(splicing())
    assert "dataset_test_0.h5: 40 sequences in 2 chunks" in lines
    assert any("79: motif errors are not comparable" in line for line in lines)
    assert "NOT the paper's lengths: 60 labelled nucleotides and 12 on either side instead of 5,000 and 5,000" in lines
    assert lines[-1] == f"use: data.source=spliceai data.length=60 data.context=12 data.path={files}"
    write_h5(files / "dataset_test_0.h5", change=quarter)
    with pytest.raises(InputError, match="X0 is not one-hot"):
        list(splicing())
    write_h5(files / "dataset_test_0.h5", change=SHAPES["instead of"])
    with pytest.raises(InputError, match=r"instead of \(n, 84, 4\).*60 labelled nucleotides and 12 on either side$"):
        list(splicing())


def test_a_complete_folder_is_accepted_and_hashed(config):
    assert not list(config().missing_files())
    names = set(config().user_files())
    assert names == {"dataset_train_all.h5", "dataset_test_0.h5", "core.npz", "motifs/A1CF", "motifs/QKI"}
