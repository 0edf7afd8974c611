import math
from pathlib import Path

import numpy as np
import pytest
import torch

from sparseid.methods.ddl.module import DDLModule
from sparseid.methods.ddl.penalties import dependency_sparsity, value_and_tangents
from sparseid.training.build import build_data, build_module
from sparseid.training.checkpoints import load
from sparseid.training.rows import read_rows
from sparseid.training.run import execute

PENALTIES = ["dependency", "latent", "orojar", "hessian_penalty", "none"]
METRICS = {
    *("mcc", "mcc_spearman", "reconstruction", "jacobian_l1", "jacobian_l1_normalised"),
    *("structure_f1", "structure_shd", "forbidden"),
}


def numbers(folder: Path, seed=None):
    """Rows of a run without what passes, of one seed or all."""
    rows = read_rows(folder / "result.json")
    return {(row.seed, row.metric, row.keys.get("score")): row.value for row in rows if seed in (None, row.seed)}


def weights(folder: Path):
    return load(folder / "checkpoints" / "last.ckpt")["state_dict"]


def changes_of(penalty):
    return (f"method.penalty={penalty}", f"method.alpha={0 if penalty == 'none' else 0.05}")


def prepared(cfg):
    data = build_data(cfg)
    data.setup()
    return build_module(cfg, data).train(), data


@pytest.mark.parametrize("changes", [*map(changes_of, PENALTIES), ("method.jacobian=coordinates",)])
def test_a_member_has_the_numbers_it_has_alone(config, changes):
    stack = execute(config(*changes, "seeds=[3,0,7]"))
    alone = execute(config(*changes, "seeds=[0]"))
    together, single = numbers(stack, 0), numbers(alone)
    assert {metric for _, metric, _ in single} == METRICS
    assert list(together) == list(single)
    np.testing.assert_allclose(list(together.values()), list(single.values()), rtol=1e-3, atol=1e-5)
    for name, tensor in weights(alone).items():
        torch.testing.assert_close(weights(stack)[name][1], tensor[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("changes", [("method.jacobian=coordinates",), ("method.penalty=orojar",)])
def test_an_interrupted_run_ends_bit_for_bit_like_one_never_interrupted(config, resumed, changes):
    undisturbed = execute(config(*changes))
    run = config(*changes, "trainer.save_every_s=0")
    run.outputs += "/again"
    again = resumed(run, DDLModule, 17)
    assert numbers(again) == numbers(undisturbed)
    assert all(torch.equal(tensor, weights(undisturbed)[name]) for name, tensor in weights(again).items())


def test_a_member_that_diverges_is_lost_alone(config, monkeypatch):
    training_step = DDLModule.training_step

    def broken(self, batch, batch_idx):
        if self.global_step == 2:
            self.model.decoder[0].weight.data[1] = math.nan
            self.model.encoder[0].weight.data[1] = math.nan
        return training_step(self, batch, batch_idx)

    whole = execute(config("data.mask=groups", "data.groups=12-23"))
    monkeypatch.setattr(DDLModule, "training_step", broken)
    run = config("data.mask=groups", "data.groups=12-23")
    run.outputs += "/broken"
    folder = execute(run)
    assert set(numbers(folder, 1).values()) == {None}
    np.testing.assert_allclose(
        list(numbers(folder, 0).values()), list(numbers(whole, 0).values()), rtol=1e-4, atol=1e-5
    )
    assert np.isnan(np.load(folder / "arrays.npz")["transition"][1]).all()


def test_groups_of_observations_have_block_scores(config):
    folder = execute(config("data.mask=groups", "data.groups=12-23", "seeds=[0]"))
    scores = {score for _, metric, score in numbers(folder) if metric == "r2"}
    assert scores == {"int", "symdiff", "comp_a", "comp_b", "ref"}


def test_the_penalty_is_what_makes_the_jacobian_small(config):
    long = ("trainer.max_samples=12800", "seeds=[0]")
    sizes = [
        numbers(execute(config(*long, f"method.alpha={alpha}")))[0, "jacobian_l1_normalised", None]
        for alpha in (0.0, 0.5)
    ]
    assert sizes[1] < 0.8 * sizes[0]


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_loss_of_a_step_is_bound_plus_weighted_penalty(config, penalty):
    """With alpha = 0 nothing is added, and the penalty's share is linear in alpha."""
    losses = []
    for alpha in (0.0, 0.1, 0.2):
        module, data = prepared(config(f"method.penalty={penalty}", f"method.alpha={alpha}"))
        losses.append(module.training_step(data.training_batch(0), 0).item())
    assert losses[2] - losses[0] == pytest.approx(2 * (losses[1] - losses[0]), rel=1e-3, abs=1e-5)
    assert (losses[1] > losses[0] + 1e-6) == (penalty != "none")


def test_coordinates_estimate_the_penalty_of_a_step(config):
    module, _ = prepared(config("method.jacobian=coordinates", "method.alpha=1.0", "seeds=[0]"))
    latents = torch.randn(1, 32, 3, generator=torch.Generator().manual_seed(0))
    exact = dependency_sparsity(value_and_tangents(module.model.decoder, latents)[1], 3).item()
    with torch.no_grad():
        estimates = [module.decode_and_penalise(latents, latents, step)[1].item() for step in range(300)]
    assert np.std(estimates) > 0
    assert np.mean(estimates) == pytest.approx(exact, abs=4 * np.std(estimates) / 300**0.5)


def test_a_cosine_schedule_ends_at_zero_and_a_constant_one_where_it_began(config):
    for schedule, last in (("cosine", 0.0), ("constant", 0.005)):
        folder = execute(config(f"method.schedule={schedule}", "seeds=[0]"))
        optimizer = load(folder / "checkpoints" / "last.ckpt")["optimizer_states"][0]
        assert optimizer["param_groups"][0]["lr"] == pytest.approx(last, abs=1e-12)


def test_sizes_of_the_jacobian_are_logged_per_seed(config):
    folder = execute(config("seeds=[3,5]"))
    names = {line.split(",")[2] for line in (folder / "metrics.csv").read_text().splitlines()[1:]}
    assert {f"{name}/seed{seed}" for name in ("jacobian_l1", "jacobian_l1_normalised") for seed in (3, 5)} <= names


def test_jacobians_are_those_at_the_codes_and_at_the_true_latents_of_the_same_samples(config):
    run = config("seeds=[0]", "data.test_samples=700")  # more than one chunk of the test set
    folder = execute(run)
    arrays = np.load(folder / "arrays.npz")
    module, data = prepared(run)
    module.load_state_dict(weights(folder))
    with torch.no_grad():
        codes = module.model.encode(data.test).mean
        tangents = value_and_tangents(module.model.decoder, codes)[1]
        learned, real = tangents.transpose(2, 3), data.jacobian(data.truth.test)
    np.testing.assert_allclose(arrays["codes"], codes[0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(arrays["dependence"], learned.abs().mean(dim=1), rtol=1e-4, atol=1e-5)
    solved = torch.linalg.lstsq(real.double(), learned.double()).solution.abs().mean(dim=1)
    np.testing.assert_allclose(arrays["transition"], solved, rtol=1e-3, atol=1e-5)
