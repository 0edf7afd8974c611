from pathlib import Path

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from omegaconf import OmegaConf

from sparseid.config.components import settings_class
from sparseid.config.identity import recipe_settings, row_keys
from sparseid.config.schema import RunConfig
from sparseid.config.validate import missing_files, problems
from sparseid.data.audio_mnist_sequence import sources
from sparseid.data.audio_mnist_sequence.datamodule import AudioMNISTSequenceData
from sparseid.measurements import Evaluation
from sparseid.methods.sparling.networks import Domain
from sparseid.project import CONFIGS
from sparseid.settings import TrainerSettings
from sparseid.training.build import build_data, build_module

TINY = {
    "encoder": {"width": 8, "blocks": 2, "stem_kernel": 3, "stride": 2},
    "sparse": {"batch_norm": "plain", "accumulate_motifs": 10},
    "decoder": {"width": 16, "pool": 4, "positions": "frames", "encoder_layers": 1, "decoder_layers": 1, "heads": 2}
    | {"feedforward": 32},
    "schedule": {"start_density": 0.5, "min_density": 0.01, "target_fall_per_sample": 0.01, "check_every": 16}
    | {"check_items": 8},
    "optimizer": {"lr": 0.001},
    "evaluation": {"items": 10, "curve_items": 10, "decode_steps": 6, "channel_map": "many_to_one"},
}


def settings(group, name, changes):
    stored = OmegaConf.load(CONFIGS / group / f"{name}.yaml")
    del stored["defaults"]
    return OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(settings_class(group, name)), stored, changes))


def run(method=None, seed=0, batch_size=8, **data):
    """A run on clips of two seconds with one or two digits, by default of the project's recordings."""
    data = settings("data", "audio_mnist_sequence", {"seconds": 2, "min_digits": 1, "max_digits": 2} | data)
    method = settings("method", "sparling", OmegaConf.merge(TINY, method or {}))
    trainer = TrainerSettings(max_samples=32, batch_size=batch_size)
    parts = {"experiment": "x", "scale": "smoke", "paper": "sparling", "trainer": trainer, "seed": seed}
    return RunConfig(method=method, data=data, **parts)


def same(first, second):
    return all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_the_paper_of_the_yaml_is_the_authors_code():
    data = settings("data", "audio_mnist_sequence", {})
    assert (data.seconds, data.min_digits, data.max_digits, data.noise_std) == (15, 5, 10, 2**-10)
    assert data.spatial == (642, 1)


def test_batches_have_the_documented_shapes():
    data = build_data(run())
    batch = data.training_batch(0)
    assert batch.inputs.shape == (8, 64, 86, 1)
    assert batch.inputs.dtype == torch.float32
    assert batch.labels.shape == (8, 2)
    assert batch.sites.shape == (int((batch.labels >= 0).sum()), 6)
    for item in range(8):
        label = batch.labels[item]
        assert batch.sites[batch.sites[:, 0] == item, 1].tolist() == label[label >= 0].tolist()
    loud = batch.inputs[0, :, :, 0].mean(0)
    start, stop = batch.sites[0, 2:4].tolist()
    assert loud[start:stop].mean() > loud.min() + 5


def test_the_domain_has_ten_kinds_and_the_vocabulary_of_latex():
    domain = Domain.of(build_data(run()))
    assert domain == Domain(10, 28, (86, 1), 64, tuple("0123456789"), (*"0123456789", *"?" * 16))
    assert Domain.of(build_data(run(vocabulary=6, classes=4))).token_names == tuple("0123")


@pytest.mark.parametrize("size", [3, 32, 50])
def test_the_training_stream_does_not_depend_on_the_batch_size(size):
    def items(batch_size):
        data = build_data(run(seed=3, batch_size=batch_size))
        batches = [data.training_batch(number) for number in range(-(-70 // batch_size))]
        return torch.cat([batch.inputs for batch in batches])[:70], torch.cat([b.labels for b in batches])[:70]

    for ours, expected in zip(items(size), items(8), strict=True):
        assert torch.allclose(ours.float(), expected.float())


def test_seeds_differ_in_training_and_share_the_fixed_sets():
    first, second = (build_data(run(seed=seed)) for seed in (0, 1))
    assert not same(first.training_batch(0), second.training_batch(0))
    assert same(next(iter(first.val_dataloader())), next(iter(second.val_dataloader())))
    first.test_items = second.test_items = 40
    ours, theirs = list(first.test_dataloader()), list(second.test_dataloader())
    assert [len(batch.labels) for batch in ours] == [32, 8]
    assert all(map(same, ours, theirs))


def test_tests_are_spoken_by_speakers_that_training_does_not_hear(monkeypatch):
    data = build_data(run(test_speakers=1))
    assert data.speakers["train_speakers"].tolist() == [0, 1, 2, 3, 4]
    assert data.speakers["test_speakers"].tolist() == [5]
    heard = []
    draw = type(data.distribution).draw_clips
    speaker = data.distribution.recordings.speaker

    def listen(law, items, speakers, rng):
        clips = draw(law, items, speakers, rng)
        heard.append(set(speaker[clips.recordings[clips.recordings >= 0]].tolist()))
        return clips

    monkeypatch.setattr(type(data.distribution), "draw_clips", listen)
    data.training_batch(0)
    next(iter(data.val_dataloader()))
    data.test_items = 64
    list(data.test_dataloader())
    assert heard == [{0, 1, 2, 3, 4}] * 2 + [{5}] * 2


def test_single_digits_are_three_seconds_by_the_speakers_of_a_split():
    data = build_data(run())
    for split in ("train_speakers", "test_speakers"):
        first, second = data.single_motif_set(split, 40)
        assert first.inputs.shape == (32, 64, 129, 1)
        assert len(second.labels) == 8
        assert first.labels.shape == (32, 1)
        assert first.sites[:, 1].tolist() == first.labels[:, 0].tolist()
        middle = (first.sites[:, 2] + first.sites[:, 3]) / 2
        assert (middle - 64).abs().max() <= 1.5


def trained(cfg, evaluation=None):
    """Train for four steps and test; return the module."""
    assert problems(cfg) == []
    assert missing_files(cfg) == []
    torch.manual_seed(0)
    data = build_data(cfg)
    module = build_module(cfg, data)
    quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
    trainer = pl.Trainer(max_steps=4, num_sanity_val_steps=0, accelerator="cpu", enable_model_summary=False, **quiet)
    trainer.fit(module, datamodule=data)
    data.test_items, module.evaluation = 10, evaluation
    trainer.test(module, datamodule=data, verbose=False)
    return module


def test_sparling_learns_and_is_tested_on_sounds():
    further = {"single_items": 9, "binned_items": 4, "perturbed_items": 3}
    module = trained(run({"evaluation": further}), Evaluation({"steps_above": 0}, Path(), 10))
    values = {measurement.metric: measurement.value for measurement in module.measurements}
    assert {"e2ee", "fpe", "fne", "ce", "density", "binning_delta", "perturbation_accuracy"} <= set(values)
    assert module.arrays["example_images"].shape == (10, 64, 86)
    assert module.arrays["example_maps"].shape == (10, 10, 43, 1)
    named = [measurement for measurement in module.measurements if measurement.metric == "direct_error"]
    assert [measurement.keys["split"] for measurement in named] == ["train_speakers", "test_speakers"]


def test_a_classifier_learns_single_digits_of_the_training_speakers():
    module = trained(run({"training": "direct"}))
    assert {measurement.keys["split"] for measurement in module.measurements} == {"train_speakers", "test_speakers"}
    assert {measurement.metric for measurement in module.measurements} == {"direct_error"}


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"source": "radio"}, "data.source"),
        ({"seconds": 0.04}, "data.seconds"),
        ({"seconds": float("nan")}, "data.seconds"),
        ({"min_digits": 3}, "data.min_digits"),
        ({"classes": 11}, "data.classes"),
        ({"vocabulary": 11}, "data.vocabulary"),
        ({"test_speakers": -1}, "data.test_speakers"),
        ({"noise_std": -1}, "data.noise_std"),
        ({"voices": 0}, "data.voices"),
        ({"voices": 100_000}, "data.voices"),
        ({"level": 0.5}, "data.level"),
        ({"level": float("nan")}, "data.level"),
    ],
)
def test_impossible_settings_are_refused(changes, key):
    assert key in [problem.keys[0] for problem in problems(run(**changes))]


@pytest.mark.parametrize(
    ("method", "key"),
    [
        ({"decoder": {"positions": "rows_lstm"}}, "method.decoder.positions"),
        ({"decoder": {"pool": 44}}, "method.decoder.pool"),
        ({"evaluation": {"decode_steps": 2}}, "method.evaluation.decode_steps"),
        ({"sparse": {"accumulate_motifs": 0}, "schedule": {"min_density": 0.001}}, "method.schedule.min_density"),
    ],
)
def test_impossible_methods_on_sounds_are_refused(method, key):
    [problem] = problems(run(method))
    assert problem.keys[0] == key


@pytest.mark.parametrize(
    ("changes", "key", "text"),
    [
        ({"test_speakers": 6}, "data.test_speakers", "6 speakers in total: with 6 for tests, none remain for training"),
        ({"test_speakers": 6}, "data.test_speakers", "Set data.test_speakers=1, at most 5"),
        ({"max_digits": 8}, "data.seconds", "8 digits last 3.85 s on average for the speakers of training"),
        (
            {"max_digits": 8},
            "data.seconds",
            "(george, jackson, lucas, nicolas): set data.seconds=3.9 or more, or lower",
        ),
        ({"source": "audiomnist"}, "data.path", "there is no AudioMNIST in"),
    ],
)
def test_recordings_that_do_not_suit_are_refused_before_work_begins(changes, key, text):
    [problem] = missing_files(run(**changes))
    assert key in problem.keys
    assert text in problem.text


def _long_speaker(folder, speaker, write_wav):
    for path in (folder / "recordings").glob(f"*_{speaker}_*.wav"):
        write_wav(path, samples=9000)


@pytest.mark.parametrize(
    ("speaker", "group"), [("cy", "for the speakers of tests (cy)"), ("ann", "for the speakers of training (ann, ben)")]
)
def test_recordings_of_one_group_that_fit_no_clip_are_refused_since_clips_were_drawn_for_ever(
    fsdd_folder, write_wav, speaker, group
):
    _long_speaker(fsdd_folder, speaker, write_wav)
    chosen = {"path": str(fsdd_folder), "test_speakers": 1}
    [problem] = missing_files(run(**chosen, seconds=1.1))
    assert group in problem.text
    enough = float(problem.text.split("data.seconds=")[1].split()[0])
    cfg = run(**chosen, seconds=enough)
    assert missing_files(cfg) == []
    data = build_data(cfg)
    for draw in (data.draw, data.draw_test):
        assert len(draw(16, np.random.default_rng(0)).labels) == 16


def test_motifs_are_exchanged_in_clips_of_the_training_speakers(monkeypatch):
    """As in the authors' code; rows say so."""
    data = build_data(run())
    heard = []
    draw_clips = type(data.distribution).draw_clips

    def noting(self, items, speakers, rng):
        heard.append(speakers.tolist())
        return draw_clips(self, items, speakers, rng)

    monkeypatch.setattr(type(data.distribution), "draw_clips", noting)
    for name, split in (("exchanges", "train_speakers"), ("validation", "train_speakers"), ("test", "test_speakers")):
        next(iter(data.fixed_set(name, 8)))
        assert heard.pop() == data.speakers[split].tolist()
    assert data.exchange_keys == {"split": "train_speakers"}


def test_takes_are_weighed_as_they_are_drawn(fsdd_folder, write_wav):
    """Many short takes of one digit leave the others as long as they are."""
    _long_speaker(fsdd_folder, "cy", write_wav)
    for take in range(2, 400):
        write_wav(fsdd_folder / "recordings" / f"0_cy_{take}.wav", samples=100)
    [problem] = missing_files(run(path=str(fsdd_folder), test_speakers=1))
    assert "2 digits last 2.03 s" in problem.text


@pytest.mark.parametrize(
    ("speakers", "text"),
    [
        (1, "there is one speaker, ann: at least two are needed, one of them only for tests"),
        (2, "there are 2 speakers in total: with 2 for tests, none remain for training. Set data.test_speakers=1"),
    ],
)
def test_too_few_speakers_are_told_what_would_do(fsdd_folder, speakers, text):
    for name in ("ann", "ben", "cy")[speakers:]:
        for path in (fsdd_folder / "recordings").glob(f"*_{name}_*.wav"):
            path.unlink()
    [problem] = missing_files(run(path=str(fsdd_folder)))
    assert problem.text == text


def test_further_voices_are_speakers_of_training_alone():
    data = build_data(run(voices=2, level=0.05))
    assert data.speakers["train_speakers"].tolist() == list(range(8))
    assert data.speakers["test_speakers"].tolist() == [8, 9]
    held = data.distribution.recordings
    assert held.speakers[[6, 7, 8, 9]].tolist() == ["nicolas", "nicolas 2", "theo", "yweweler"]
    assert recipe_settings(run(voices=2)) != recipe_settings(run())


def test_rows_name_the_papers_domain_its_split_and_what_is_not_its_data():
    keys = {"domain": "audiomnist", "method": "sparling_mt", "split": "test_speakers"}
    assert row_keys(run(source="audiomnist")) == keys
    assert row_keys(run()) == keys | {"source": "fsdd"}


def test_recordings_other_than_audiomnists_are_named_and_recorded(audiomnist_folder):
    own = run(source="audiomnist", path=str(audiomnist_folder))
    assert row_keys(own)["source"] == "own"
    data = build_data(own)
    assert data.note == "600 recordings of 60 speakers in place of AudioMNIST's 30,000 of 60"
    assert list(data.files) == [str(sources.gathered_file(own.data))]
    assert build_data(run()).note == "1,200 recordings of 6 speakers in place of AudioMNIST's 30,000 of 60"


def test_recordings_of_audiomnists_size_are_taken_for_the_papers(audiomnist_folder, monkeypatch):
    monkeypatch.setattr(sources, "PUBLISHED", (60, 600))
    papers = run(source="audiomnist", path=str(audiomnist_folder))
    assert "source" not in row_keys(papers)
    assert build_data(papers).note == ""


def test_a_run_counts_the_users_recordings_by_content(fsdd_folder, write_wav):
    def identity(folder):
        sources._gathered.cache_clear()
        return recipe_settings(run(path=str(folder)))["data"]

    first = identity(fsdd_folder)
    assert len(first["path"]) == 64
    moved = fsdd_folder.with_name("moved")
    fsdd_folder.rename(moved)
    assert identity(moved) == first
    write_wav(moved / "recordings" / "0_ann_0.wav", value=9)
    assert identity(moved) != first
    assert "path" not in recipe_settings(run())["data"]


def test_draws_are_uniform_over_the_classes_in_use():
    data = build_data(run(classes=3, vocabulary=5))
    labels = torch.cat([data.training_batch(number).labels for number in range(8)])
    assert set(labels.unique().tolist()) == {-1, 0, 1, 2}
    assert isinstance(data, AudioMNISTSequenceData)
    assert np.isclose(data.distribution.noise_std, 2**-10)
