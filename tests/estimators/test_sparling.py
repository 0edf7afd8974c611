"""Sparling as an estimator: the command's run, images in, motifs and sequences out, save and load."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

import sparseid
from sparseid.config.compose import compose
from sparseid.data.labelled_inputs.items import parts
from sparseid.errors import InputError
from sparseid.training.checkpoints import load as load_checkpoint
from sparseid.training.run import execute

pytestmark = pytest.mark.usefixtures("torch_settings")

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (40, 16, 16), np.uint8)
LABELS = ["cat dog", "dog", "cat", "dog dog"] * 10
SHORT = {"preset": "smoke", "max_samples": 192, "device": "cpu"}


@pytest.fixture(scope="module")
def fitted():
    with pytest.warns(UserWarning, match="not better than a baseline|minimum density"):
        return sparseid.Sparling(**SHORT).fit(IMAGES, LABELS)


def test_a_fit_on_paths_has_the_weights_of_the_commands_run_on_their_folder(fitted, tmp_path, monkeypatch):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    folder = tmp_path / "images"
    folder.mkdir()
    paths = [folder / f"{number}.png" for number in range(40)]
    for path, image in zip(paths, IMAGES, strict=True):
        Image.fromarray(image).save(path)
    pd.DataFrame({"file": [path.name for path in paths], "labels": LABELS}).to_csv(folder / "labels.csv", index=False)
    words = ["experiment=sparling/arrays", "scale=smoke", "trainer=cpu", "trainer.max_samples=192"]
    run = execute(compose([*words, f"data.path={folder}", f"outputs={tmp_path / 'out'}"]))
    milestones = sorted((run / "checkpoints" / "milestones").glob("*.ckpt"))
    saved = load_checkpoint(milestones[-1])["state_dict"]
    ours = fitted.model_.module.state_dict()
    assert milestones
    assert all(torch.equal(value, saved[key]) for key, value in ours.items() if isinstance(value, torch.Tensor))
    np.testing.assert_array_equal(fitted.transform(paths), fitted.transform(IMAGES))
    values = {row.value for row in sparseid.load_run(run).rows}
    assert set(fitted.rows_["value"]) == values


def test_maps_motifs_and_sequences_go_together(fitted):
    maps = fitted.transform(IMAGES)
    assert maps.shape == (40, 2, 8, 8)
    found = fitted.motifs(IMAGES)
    assert found.columns.tolist() == ["item", "token", "x", "y", "strength", "channel"]
    for row in found.itertuples():
        cell = maps[row.item, row.channel, round((row.y - 0.5) / 2), round((row.x - 0.5) / 2)]
        assert cell == row.strength == maps[row.item].max(axis=0)[round((row.y - 0.5) / 2), round((row.x - 0.5) / 2)]
        assert row.token == fitted.channel_tokens_[row.channel]
    assert set(found["item"]) == set(np.flatnonzero(maps.max(axis=(1, 2, 3)) > 0))
    assert fitted.tokens_ == ["cat", "dog"]
    predicted = fitted.predict(IMAGES)
    assert fitted.score(IMAGES, predicted) == 1
    with pytest.raises(InputError, match=r"^label 1: no label of fit has the token 'bird'; tokens: cat, dog"):
        fitted.score(IMAGES[:3], ["cat", "dog bird", "cat"])
    tested = parts(40, 0.1, 0.2)["test"]
    [error] = fitted.rows_.query("metric == 'e2ee' and method == 'sparling_mt' and steps_above == 0")["value"]
    given = [LABELS[item] for item in tested]
    assert 100 * (1 - fitted.score(IMAGES[tested], given)) == pytest.approx(error)
    assert fitted.baselines_.index.tolist() == ["most_frequent"]


def test_a_saved_and_a_pickled_estimator_have_the_same_values(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    loaded = sparseid.Sparling.load(tmp_path / "model")
    for again in (loaded, pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.transform(IMAGES), fitted.transform(IMAGES))
        assert again.predict(IMAGES) == fitted.predict(IMAGES)
        assert again.channel_tokens_ == fitted.channel_tokens_
    assert loaded.get_params() == fitted.get_params()
    files = [file for file in (tmp_path / "model").rglob("*") if file.is_file()]
    assert {file.suffix for file in files} <= {".json", ".yaml", ".npz", ".ckpt"}
    with (tmp_path / "model" / "estimator.json").open() as file:
        assert json.load(file)["estimator"] == "Sparling"


def test_input_that_does_not_fit_is_refused(fitted):
    model = sparseid.Sparling(**SHORT)
    with pytest.raises(InputError, match="there are 39 labels for 40 items"):
        model.fit(IMAGES, LABELS[1:])
    with pytest.raises(ValueError, match=r"item 3 \('3'\) has an empty label"):
        model.fit(IMAGES, [*LABELS[:3], [], *LABELS[4:]])
    with pytest.raises(InputError, match="label 0: 'a b' is no token"):
        model.fit(IMAGES, [["a b"], *LABELS[1:]])
    with pytest.raises(InputError, match="label 2 is None: a label is a text, or a list of tokens"):
        model.fit(IMAGES, [*LABELS[:2], None, *LABELS[3:]])
    with pytest.raises(InputError, match=r"label 1: 'a\\x00' is no token, a text without spaces or NUL characters"):
        model.fit(IMAGES, [LABELS[0], ["a\0"], *LABELS[2:]])
    masked = np.ma.array(IMAGES, mask=np.arange(IMAGES.size).reshape(IMAGES.shape) == 16)
    for images in (masked, [*masked]):
        with pytest.raises(InputError, match=r"the value at \[0, 1, 0\] is masked, and so missing: fill it"):
            model.fit(images, LABELS)
    with pytest.raises(InputError, match=r"images differ by less than single precision can represent"):
        model.fit(0.5 + 1e-9 * RNG.random(IMAGES.shape), LABELS)
    with pytest.raises(InputError, match=r"item 0: .* must be in \[0, 1\]"):
        model.fit(IMAGES.astype(float), LABELS)
    for call in (lambda: model.fit(["none.png"], ["a b"]), lambda: fitted.predict(["none.png"])):
        with pytest.raises(InputError, match=r"^none\.png does not exist$"):
            call()
    with pytest.raises(InputError, match=r"of 16 x 16 pixels .* and 1 channel, these are images of 16 x 8 pixels"):
        fitted.transform(IMAGES[:, :8])
    with pytest.raises(InputError, match="early stop"):
        sparseid.Sparling(settings={"trainer.early_stop.patience": 3}, **SHORT).fit(IMAGES, LABELS)


@pytest.mark.parametrize(
    ("images", "labels", "said"),
    [
        (None, LABELS, "images is a NoneType: pass an array of images, or a list of paths"),
        (3, LABELS, "images is a int: pass an array"),
        ([np.zeros((4, 4)), np.zeros((5, 4))], ["a", "b"], r"item 1 is of shape \(5, 4\), item 0 of .*: crop"),
        ([[[0, 1], [1]]], ["a"], "item 0 has rows of several lengths: crop"),
        (IMAGES, None, "labels is a NoneType: pass a list of labels, one per item"),
        (IMAGES, "a b" * 20, "labels is a str: pass a list of labels, one per item"),
        ([], [], r"images is of shape \(0,\), not"),
        (["a\0b.png"], ["a"], r"'a\\x00b.png' has a NUL character"),
    ],
)
def test_what_is_no_array_or_list_is_refused(images, labels, said):
    with pytest.raises(InputError, match=said) as caught:
        sparseid.Sparling(**SHORT).fit(images, labels)
    assert isinstance(caught.value, ValueError)


def test_sounds_have_motifs_in_time(tmp_path):
    sounds = (8000 * np.sin(np.arange(4000) * RNG.uniform(0.2, 0.8, (40, 1)))).astype(np.int16)
    with pytest.warns(UserWarning, match="not better than a baseline|minimum density"):
        model = sparseid.Sparling(**SHORT).fit(sounds, LABELS)
    found = model.motifs(sounds[:, :3000])
    assert found.columns.tolist() == ["item", "token", "time", "strength", "channel"]
    assert found["time"].between(0, 0.5).all()
    padded = np.pad(sounds[:, :3000], ((0, 0), (0, 1000)))
    np.testing.assert_array_equal(model.transform(sounds[:, :3000]), model.transform(padded))
