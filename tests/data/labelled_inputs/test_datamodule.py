import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from sparseid.config.compose import compose
from sparseid.config.validate import missing_files, problems
from sparseid.data.labelled_inputs.datamodule import LabelledInputsData
from sparseid.data.labelled_inputs.items import items_of_arrays
from sparseid.data.labelled_inputs.reader import read_items
from sparseid.errors import InputError
from sparseid.training.run import execute
from sparseid.training.trained import load_run

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, (40, 8, 8), np.uint8)
LABELS = np.array(["a b", "b", "a", "c a b"] * 10)
SMOKE = ["experiment=sparling/arrays", "scale=smoke", "trainer=cpu"]


@pytest.fixture
def data():
    boxes = {"box_items": np.arange(20), "box_tokens": np.full(20, "b"), "boxes": np.tile([1, 3, 2, 4], (20, 1))}
    items = items_of_arrays({"images": IMAGES, "labels": LABELS, **boxes})
    return LabelledInputsData(items, 0.1, 0.2, seed=0, batch_size=8, batches_per_check=2, check_items=64)


def test_training_batches_run_through_permutations_of_the_training_items(data):
    training = data.parts["training"]
    assert len(training) == 28
    batches = [data.training_batch(number) for number in range(7)]  # two permutations
    inputs = torch.cat([batch.inputs for batch in batches])
    expected = torch.from_numpy(IMAGES[training][:, None] / np.float32(255))
    for half in (inputs[:28], inputs[28:]):
        assert sorted(map(str, half.flatten(1).tolist())) == sorted(map(str, expected.flatten(1).tolist()))
    assert not torch.equal(inputs[:28], inputs[28:])
    torch.testing.assert_close(data.training_batch(5).inputs, batches[5].inputs, rtol=0, atol=0)
    batch = batches[3]
    item = int(np.flatnonzero((IMAGES / np.float32(255) == batch.inputs[0, 0].numpy()).all(axis=(1, 2)))[0])
    tokens = [data.token_names[token] for token in batch.labels[0] if token >= 0]
    assert " ".join(tokens) == LABELS[item]
    known = [(IMAGES[:20] / np.float32(255) == image).all(axis=(1, 2)).any() for image in batch.inputs[:, 0].numpy()]
    assert len(batch.sites) == sum(known)
    assert batch.sites[:, 1:].unique(dim=0).tolist() == [[1, 1, 3, 2, 4]]


def test_validation_and_test_items_are_those_of_their_parts_at_most(data):
    data.test_items = 1000
    seen = {}
    for name, batches in {"validation": data.val_dataloader(), "test": data.test_dataloader()}.items():
        seen[name] = torch.cat([batch.inputs for batch in batches])
        np.testing.assert_allclose(seen[name][:, 0], IMAGES[data.parts[name]] / 255, rtol=1e-6)
    assert (len(seen["validation"]), len(seen["test"])) == (4, 8)
    assert len(next(iter(data.fixed_set("binning", 3))).labels) == 3
    labels = LABELS[data.parts["training"]].tolist()
    most = max(labels, key=labels.count)
    assert [data.token_names[token] for token in data.most_frequent] == most.split()


def test_sounds_become_standardised_spectrograms(sounds):
    data = LabelledInputsData(read_items(str(sounds)), 0.1, 0.2, 0, 4, 2, 8)
    batch = data.training_batch(0)
    assert batch.inputs.shape == (4, data.in_channels, *data.spatial) == (4, 64, 26, 1)
    assert batch.inputs[:, :, :20].std() > 0.5


def test_settings_are_checked_with_the_files_before_anything_starts(images):
    run = compose([*SMOKE, f"data.path={images}"])
    assert run.data.row_keys()["source"] == "shapes"

    def said(component, **changes):
        part = replace(getattr(run, component), **changes)
        return [problem.text for problem in problems(replace(run, **{component: part}))]

    assert said("data") == []
    [unnamed] = missing_files(replace(run, data=replace(run.data, path="")))
    assert unnamed.keys == ("data.path",)
    [text] = said("method", evaluation=replace(run.method.evaluation, decode_steps=2))
    assert re.search(r"the label of '1\.png' has 2 tokens.*: set it to 3 or more", text)
    assert "labelled_inputs has no single motifs" in said("method", training="direct")[0]
    assert "the motif map is 8 positions wide" in said("method", decoder=replace(run.method.decoder, pool=16))[0]
    assert "of 30 items there would be 30 for training, 0 for" in said("data", validation=0.01, test=0.01)[0]
    assert "no item is left for training" in said("data", validation=0.5, test=0.5)[0]
    (images / "labels.csv").write_text("file,labels\n0.png,\n")
    with pytest.raises(InputError, match=r"line 2, column 'labels'.*is empty(.|\n)*data\.path"):
        compose([*SMOKE, f"data.path={images}"])


def test_the_minimum_density_follows_from_the_labels(images):
    run = compose(["experiment=sparling/arrays", "scale=small", f"data.path={images}", "method.decoder.pool=2"])
    schedule = run.method.on(run.data).schedule
    assert schedule.min_density == pytest.approx(1.5 / (8 * 8 * 2))
    assert run.method.row_keys(run.data)["method"] == "sparling_mt"
    many = replace(run.method, schedule=replace(run.method.schedule, min_per_token=20))
    [problem] = problems(replace(run, method=many))
    assert "start_density must be at least min_density, here 0.234" in problem.text
    assert run.method.on(replace(run.data, path="")) is run.method  # nothing is known of the data


@pytest.mark.parametrize("known", [True, False])
def test_a_run_measures_what_is_known_beside_the_most_frequent_label(known, images, tmp_path, torch_settings):
    if not known:
        (images / "boxes.csv").unlink()
    folder = execute(compose([*SMOKE, f"data.path={images}", f"outputs={tmp_path / 'out'}", "trainer.max_samples=128"]))

    run = load_run(folder)
    final = [row for row in run.rows if row.keys.get("steps_above") == 0]
    metrics = {row.metric for row in final}
    assert {"fpe", "fne", "ce"} <= metrics if known else not {"fpe", "fne", "ce", "row_share"} & metrics
    by_method = {row.keys["method"]: row.value for row in final if row.metric == "e2ee"}
    assert set(by_method) == {"sparling_mt", "most_frequent"}
    assert by_method["most_frequent"] < 100
    assert run.arrays["token_names"].tolist() == ["bar", "cross"]
    assert run.arrays["channel_kinds"].shape == (2,)
    assert ("confusion" in run.arrays) == known
    remarks = (folder / "remarks.json").read_text()
    assert ("no motifs are known" in remarks) != known
    read = [str(images), *(str(images / name) for name in ("labels.csv", "boxes.csv")[: 1 + known])]
    assert re.findall(r"read (\S+) \(SHA-256", remarks) == read
