import pytest
import pytorch_lightning as pl
import torch

from sparseid.config.compose import compose
from sparseid.data.batch import MotifBatch
from sparseid.measurements import Evaluation
from sparseid.methods.sparling.module import SparlingModule
from sparseid.methods.sparling.networks import Domain
from sparseid.training.build import build_data, build_module


def built(*overrides):
    cfg = compose(["experiment=digitcircle", *overrides])
    data = build_data(cfg)
    torch.manual_seed(0)
    return cfg, data, build_module(cfg, data)


def parameters(module):
    return sum(parameter.numel() for parameter in module.parameters())


def test_paper_scale_has_the_published_sizes():
    _, data, module = built("scale=paper")
    assert parameters(module.encoder) == 297_226
    assert parameters(module.decoder) == 45_733_388
    assert parameters(module.sparse) == 20  # the affine batch norm
    assert module.encoder.window == 17
    batch = data.training_batch(0)
    assert batch.inputs.shape == (10, 1, 100, 100)
    assert module.eval()(batch.inputs[:1]).shape == (1, 10, 100, 100)


@pytest.mark.parametrize(
    ("capability", "device", "bf16", "advised"),
    [
        ("AVX2", "cpu", "true", True),
        ("AVX2", "cpu", "false", False),
        ("AVX2", "cuda", "true", False),
        ("AVX512", "cpu", "true", False),
        ("DEFAULT", "cpu", "true", False),
    ],
)
def test_bfloat16_on_a_cpu_without_it_is_said_to_be_slow(monkeypatch, capability, device, bf16, advised):
    *_, module = built(f"method.encoder.bf16={bf16}")
    monkeypatch.setattr(torch.backends.cpu, "get_cpu_capability", lambda: capability)
    assert ("method.encoder.bf16=false" in module.advice(torch.device(device))) == advised


def test_channels_kinds_and_tokens_may_differ_in_number():
    """Sounds of two kinds, three channels, labels of four tokens: two channels may stand for one kind."""
    cfg = compose(
        [
            "experiment=digitcircle",
            "scale=smoke",
            "method.encoder.channels=3",
            "method.evaluation.channel_map=many_to_one",
        ]
    )
    cfg.method.decoder.positions = "frames"
    domain = Domain(2, 6, (40, 1), 5, ("yes", "no"), ("a", "b", "c", "d"))
    module = SparlingModule(cfg.method, domain, batch_size=4).eval()
    assert module(torch.randn(2, 5, 40, 1)).shape == (2, 3, 20, 1)
    assert module.decoder.head.out_features == 6
    sites = torch.tensor([[0, 0, 0, 6, 0, 1], [0, 0, 10, 16, 0, 1], [1, 1, 20, 26, 0, 1]])
    maps = torch.zeros(2, 3, 20, 1)
    maps[0, 0, 1] = maps[0, 1, 6] = maps[1, 2, 12] = maps[1, 2, 19] = 1.0
    module.forward = lambda inputs: maps
    module.decoder.greedy = lambda maps, steps: torch.tensor([[3, 5], [2, 5]])
    module.on_test_start()
    module.test_step(MotifBatch(torch.randn(2, 5, 40, 1), torch.tensor([[3, -1], [2, 1]]), sites), 0)
    module.on_test_epoch_end()
    values = {measurement.metric: measurement.value for measurement in module.measurements}
    assert (values["ce"], values["fne"], values["fpe"]) == (0, 0, 25)
    assert (values["e2ee"], values["exact_accuracy"]) == (25, 50)
    assert module.arrays["confusion"].shape == (3, 4)
    assert module.arrays["channel_kinds"].tolist() == [0, 0, 1]
    assert module.arrays["kind_names"].tolist() == ["yes", "no"]
    assert module.arrays["example_images"].shape == (2, 5, 40)


class Scripted(pl.Callback):
    """Pretend validation accuracies, and note the density each training step sees."""

    def __init__(self, module, accuracies):
        self.densities = []
        self.milestones = []
        accuracies = iter(accuracies)
        module.validation_accuracy = lambda: next(accuracies)

    def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
        self.densities.append(pl_module.sparse.density)

    def on_validation_end(self, trainer, pl_module):
        in_force = self.densities[-1]
        assert pl_module.sparse.density == in_force, "a milestone holds the density it was trained at"
        self.milestones.append(pl_module.milestone)


def fit(module, data, callback, steps=100):
    trainer = pl.Trainer(
        max_steps=steps,
        callbacks=[callback],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        reload_dataloaders_every_n_epochs=1,
        accelerator="cpu",
    )
    trainer.fit(module, datamodule=data)
    return trainer


def test_density_is_cut_when_accuracy_exceeds_the_target_and_training_ends_after_the_last():
    _, data, module = built(
        "scale=smoke",
        "method.schedule.check_every=64",
        "trainer.batch_size=32",
        "method.schedule.target_fall_per_sample=0.001",
        "method.schedule.start_density=0.12",
        "method.schedule.min_density=0.08",
    )
    # targets before each check: 0.936, 0.872, then 0.9 - 0.064, ...
    callback = Scripted(module, [0.5, 0.9, 0.7, 0.8, 0.99])
    trainer = fit(module, data, callback)
    assert callback.milestones == [None, "density-00", None, "density-01"]
    assert callback.densities == pytest.approx([0.12] * 4 + [0.09] * 4)
    assert trainer.global_step == 8
    assert trainer.callback_metrics["val_exact_accuracy"] == pytest.approx(0.8)
    assert trainer.callback_metrics["val_density"] == pytest.approx(0.09)
    assert module.adaptive_density.schedule.finished
    assert [row[0] for row in module.adaptive_density.trace] == [64, 128, 192, 256]
    assert [row[1] for row in module.adaptive_density.trace] == pytest.approx([0.12, 0.12, 0.09, 0.09])


def test_a_restart_begins_with_new_weights_and_a_warm_up():
    _, data, module = built(
        "scale=smoke",
        "method.schedule.check_every=64",
        "method.schedule.target_fall_per_sample=1e-6",
        "method.schedule.restart_after=128",
        "method.optimizer.warmup_steps=4",
        "seed=3",
    )
    _, _, twin = built("scale=smoke", "seed=3")
    twin.trainer = type("Trainer", (), {"optimizers": []})()
    torch.manual_seed(99)  # the second start does not depend on the global generator
    twin.restart(2)
    seen = []

    class Watch(Scripted):
        def on_train_batch_start(self, trainer, pl_module, batch, batch_idx):
            super().on_train_batch_start(trainer, pl_module, batch, batch_idx)
            optimizer = trainer.optimizers[0]
            same = all(torch.equal(a, b) for a, b in zip(pl_module.parameters(), twin.parameters(), strict=True))
            seen.append((trainer.global_step, same, optimizer.param_groups[0]["lr"] / 2e-3, len(optimizer.state)))

    fit(module, data, Watch(module, [0.1] * 9), steps=6)
    assert [same for _, same, _, _ in seen] == [False] * 4 + [True, False]
    assert [lr for _, _, lr, _ in seen[:4]] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert seen[4][3] == 0, "the optimiser has forgotten the first start"
    assert [lr for _, _, lr, _ in seen[4:]] == pytest.approx([0.25, 0.5])
    assert module.adaptive_density.schedule.starts == 2


def test_evaluations_count_cuts_above_the_last(tmp_path):
    _, _, module = built("scale=smoke")
    folder = tmp_path / "checkpoints" / "milestones"
    assert module.evaluations(tmp_path) == [Evaluation({"steps_above": 0}, tmp_path / "checkpoints" / "last.ckpt", 64)]
    folder.mkdir(parents=True)
    for cuts in (0, 1, 2, 10):
        (folder / f"density-{cuts:02d}.ckpt").touch()
    evaluations = module.evaluations(tmp_path)
    assert [evaluation.keys["steps_above"] for evaluation in evaluations] == [3, 2, 1, 0]
    assert evaluations[-1].checkpoint.name == "density-10.ckpt"


def test_a_test_measures_what_the_metrics_say():
    """A module whose decoder and map are made right by hand has no errors."""
    _, data, module = built("scale=smoke")
    data.test_items = 150

    def perfect(inputs):
        maps = torch.zeros(len(inputs), 3, 20, 20)
        sites = batches.pop(0).sites
        for item, symbol, top, bottom, left, right in sites.tolist():
            maps[item, (symbol + 1) % 3, (top + bottom) // 4, (left + right) // 4] = 1.0
        return maps

    batches = list(data.test_dataloader())
    answers = [batch.labels for batch in batches]
    module.forward = perfect

    def greedy(maps, steps):
        labels = answers.pop(0)
        return torch.nn.functional.pad(torch.where(labels < 0, 4, labels), (0, 1), value=4)

    module.decoder.greedy = greedy
    trainer = pl.Trainer(
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        accelerator="cpu",
    )
    trainer.test(module, datamodule=data, verbose=False)
    values = {measurement.metric: measurement.value for measurement in module.measurements}
    # boxes may overlap: two digits of one image can then share a cell
    assert values["e2ee"] == 0
    assert values["exact_accuracy"] == 100
    assert values["ce"] < 3
    assert values["fpe"] == 0
    assert values["fne"] < 3
    assert values["density"] + values["sparsity"] == pytest.approx(100)
    assert {measurement.n for measurement in module.measurements} == {150}
    assert module.arrays["confusion"].shape == (4, 4)
    assert module.arrays["example_images"].shape == (12, 40, 40)
    labels = next(iter(data.test_dataloader())).labels[:12]
    predictions = module.arrays["example_predictions"]
    assert predictions.tolist() == labels[:, : predictions.shape[1]].tolist()
