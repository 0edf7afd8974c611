from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sparseid.config.compose import compose
from sparseid.config.sweep import plan
from sparseid.config.validate import problems
from sparseid.data.batch import MotifBatch
from sparseid.data.splicing.datamodule import SplicingData
from sparseid.errors import ConfigError, InputError
from sparseid.measurements import Evaluation
from sparseid.methods.sparling.position_networks import DilatedDecoder, SequenceEncoder
from sparseid.methods.sparling.positions import PositionScores, PositionSparlingModule, mean_accuracy
from sparseid.training.build import build_data, build_module


def parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


def composed(*overrides, scale="smoke"):
    return compose(["experiment=sparling/fig12", f"scale={scale}", "seed=0", *overrides])


@pytest.fixture
def built():
    cfg = composed()
    data = build_data(cfg)
    torch.manual_seed(0)
    return cfg, data, build_module(cfg, data)


def test_the_published_networks_have_the_published_sizes():
    cfg = composed(scale="paper")
    sizes, decoder = cfg.method.encoder, cfg.method.decoder
    encoder = SequenceEncoder(
        sizes.channels, width=sizes.width, blocks=sizes.blocks, pointwise_blocks=sizes.pointwise_blocks
    )
    assert parameters(encoder) == 267_680
    assert encoder.window == 21
    shape = {"width": decoder.width, "kernels": decoder.kernels, "dilations": decoder.dilations, "units": decoder.units}
    assert parameters(DilatedDecoder(80, 3, **shape, crop=cfg.data.context)) == 699_171
    assert decoder.reach == cfg.data.context == 5000


def test_the_decoder_sees_as_far_as_its_dilated_convolutions_reach():
    torch.manual_seed(0)
    decoder = DilatedDecoder(2, 3, width=32, kernels=[3, 5], dilations=[1, 2], units=2, crop=20).eval()
    motifs = torch.randn(1, 2, 60).requires_grad_()
    logits = decoder(motifs)
    assert logits.shape == (1, 20, 3)
    logits[0, 10].sum().backward()
    (seen,) = motifs.grad[0].abs().sum(0).nonzero(as_tuple=True)
    assert (seen.min(), seen.max()) == (30 - 20, 30 + 20)  # 2 units x (2 x 1 + 4 x 2) positions on either side


def test_the_encoder_sees_its_window_only():
    encoder = SequenceEncoder(3, width=6, blocks=2, pointwise_blocks=2).eval()
    inputs = torch.randn(1, 4, 40).requires_grad_()
    encoder(inputs)[0, :, 20].sum().backward()
    (seen,) = inputs.grad[0].abs().sum(0).nonzero(as_tuple=True)
    assert (seen.min(), seen.max()) == (20 - 4, 20 + 4)
    assert encoder.window == 9


def test_training_lowers_the_loss_on_a_batch(built):
    _, data, module = built
    batch = data.training_batch(0)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-2)
    losses = []
    for _ in range(60):
        loss = module.training_step(batch, 0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 3
    assert module.label_loss(module(batch.inputs), batch.labels).isfinite()


def test_validation_accuracy_is_the_mean_of_the_classes_over_the_whole_set(built):
    _, data, module = built
    module.eval().on_validation_epoch_start()
    batches = list(data.fixed_set("validation", 150))
    assert len(batches) > 1
    with torch.no_grad():
        for number, batch in enumerate(batches):
            module.validation_step(batch, number)
        together = PositionScores(("none", "acceptor", "donor"))
        for batch in batches:
            together.add(module.decoder(module(batch.inputs)), batch.labels)
    accuracies = together.accuracies()
    assert set(accuracies) == {"acceptor", "donor"}
    assert module.validation_accuracy() == mean_accuracy(accuracies) == np.mean(list(accuracies.values()))


def test_validation_items_without_a_class_are_refused(built):
    _, data, module = built
    module.eval().on_validation_epoch_start()
    batch = next(iter(data.fixed_set("validation", 8)))
    with torch.no_grad():
        module.validation_step(batch._replace(labels=batch.labels.clamp(max=1)), 0)
    with pytest.raises(InputError, match=r"8 validation items have no donor: raise method\.schedule\.check_items"):
        module.validation_accuracy()


def test_scores_of_the_truth_are_right_and_random_ones_are_not():
    scores = PositionScores(("none", "acceptor", "donor"))
    rng = np.random.default_rng(0)
    labels = torch.from_numpy(rng.choice(3, (50, 200), p=(0.98, 0.01, 0.01)))
    scores.add(10.0 * torch.nn.functional.one_hot(labels, 3) + 0.01 * torch.randn(50, 200, 3), labels)
    assert scores.items == 50
    assert mean_accuracy(scores.accuracies()) > 0.97
    assert mean_accuracy(scores.random_accuracies(rng)) < 0.1


def measurements(module, maps, sites):
    """The measurements of maps (items, channels, context + positions + context) with these sites."""
    module.evaluation = Evaluation({"steps_above": 0}, None, len(maps))
    module.evaluation_config.repetitions = 5
    context = 2
    module.domain = module.domain._replace(context=context)
    module.forward = lambda inputs: maps
    positions = maps.shape[2] - 2 * context
    module.decoder.forward = lambda maps: torch.zeros(len(maps), positions, 3)
    module.on_test_start()
    labels = torch.zeros(len(maps), positions, dtype=torch.int64)
    labels[0, 0], labels[0, 1] = 1, 2
    module.test_step(MotifBatch(torch.zeros(len(maps), 4, maps.shape[2]), labels, sites), 0)
    module.on_test_epoch_end()
    return module.measurements


def test_motif_errors_are_those_of_the_labelled_part_without_core_sites(built):
    """Kinds 0, 1 are core sites: an activation on one is a false positive, a missed one is no error."""
    _, _, module = built
    maps = torch.zeros(1, 4, 44)
    maps[0, 2, 2 + 5] = 1.0  # hits the site of kind 2
    maps[0, 3, 2 + 15] = 1.0  # hits a core site
    maps[0, 1, 1] = 9.0  # before the labelled part
    sites = torch.tensor([[0, 2, 3, 8], [0, 0, 12, 18], [0, 1, 20, 26], [0, 3, 30, 36]])
    measured = measurements(module, maps, sites)
    own = {entry.metric: entry.value for entry in measured if "method" not in entry.keys and "site" not in entry.keys}
    assert (own["fpe"], own["fne"], own["ce"]) == (50, 50, 0)
    assert own["density"] == pytest.approx(100 * 2 / 160)
    assert own["e2ee"] == 100  # equal scores predict nothing


def test_random_maps_are_measured_by_repetition_and_at_the_lowest_density_only(built):
    _, _, module = built
    rng = np.random.default_rng(0)
    places = rng.integers(2, 62, (30, 4))
    maps = torch.zeros(30, 4, 64)
    rows = []
    for item in range(30):
        for kind in (2, 3):
            place = int(places[item, kind])
            maps[item, kind, place] = 1.0
            rows.append([item, kind, max(place - 2 - 2, 0), place - 2 + 3])
    sites = torch.tensor(rows)
    measured = measurements(module, maps, sites)
    chance = [entry for entry in measured if entry.keys.get("method") == "matched_random"]
    assert {entry.metric for entry in chance} == {"fpe", "fne", "ce"}
    assert [entry.keys["repetition"] for entry in chance if entry.metric == "ce"] == list(range(5))
    fpe = [entry.value for entry in chance if entry.metric == "fpe"]
    own = {entry.metric: entry.value for entry in measured if "method" not in entry.keys}
    assert min(fpe) > 50 > own["fpe"]
    random = [entry.value for entry in measured if entry.keys.get("method") == "random"]
    assert len(random) == 5
    assert min(random) > 50
    module.evaluation = Evaluation({"steps_above": 1}, None, 30)
    assert not module._randomises


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("method.decoder.positions=frames", "has a label per position: set method.decoder.positions to dilated"),
        ("method.decoder.kernels=[5,7]", "one number per stage"),
        ("method.decoder.kernels=[4]", "must be odd"),
        ("method.decoder.dilations=[9]", "reads 36 positions on either side of a label"),
        ("method.training=direct", "needs labels that are sequences"),
        ("method.encoder.stride=2", "stride=1"),
        ("method.evaluation.binned_items=5", "labels of positions have no such test"),
        ("data.context=3", "data.context"),
    ],
)
def test_settings_that_do_not_fit_are_refused(override, message):
    with pytest.raises(ConfigError, match=message.replace("[", r"\[")):
        composed(override)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("method.decoder.heads=0", "method.decoder.heads must be at least 1"),
        ("method.decoder.positions=dilated", "a sequence as label"),
        ("method.encoder.pointwise_blocks=1", "only have an effect with method.decoder.positions=dilated"),
        ("method.evaluation.repetitions=2", "only have an effect with method.decoder.positions=dilated"),
    ],
)
def test_settings_of_positions_are_refused_for_sequences(override, message):
    with pytest.raises(ConfigError, match=message):
        compose(["experiment=digitcircle", "scale=smoke", override])


def test_a_run_of_spliceai_builds_the_published_module():
    cfg = composed(scale="paper")
    assert not problems(cfg)
    data = SimpleNamespace(
        kinds=81, vocabulary=3, spatial=(15000, 1), in_channels=4, kind_names=("k",) * 81,
        token_names=SplicingData.token_names, context=5000, background=(0, 1),
    )  # fmt: skip
    module = build_module(cfg, data)
    assert isinstance(module, PositionSparlingModule)
    assert [parameters(part) for part in (module.encoder, module.sparse, module.decoder)] == [267_680, 160, 699_171]
    assert len(module.sparse.threshold) == 80


def test_the_published_runs_are_four():
    trials = plan(["experiment=sparling/fig12", "scale=paper"]).trials
    assert [trial.run.seed for trial in trials] == [1, 2, 3, 4]
    assert {trial.run.trainer.batch_size for trial in trials} == {32}
