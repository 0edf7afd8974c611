"""No step of any method waits for a device or mixes devices: each is made on ``meta``, where there is no value."""

from pathlib import Path

import pytest
import torch

from sparseid.config.compose import compose
from sparseid.config.parents import parent_run

from .one_device import OnMeta

CONFIGS = Path(__file__).parents[2] / "configs"
ON_HOST = "edit distances and matches of motifs are computed by the CPU, once for a batch of a test"
NUMBER_OF_IDLE = "the number of idle features decides how many are decoded"

RUNS = {
    "regcl/table1 data.latents=4 method.training=supervised method.penalty_weight=0.1": "",
    "regcl/table1 data.latents=4 method.training=supervised_contrastive": "",
    "regcl/table1 data.latents=4 method.training=hybrid method.penalty_weight=0.1": "",
    "regcl/table1 data.latents=4 method.training=hybrid method.penalty_estimator=projection": "",
    "digitcircle": ON_HOST,
    "digitcircle method.training=direct": "",
    "sparling/kl method.sparse.penalty_weight=1.0": ON_HOST,
    "latex_ocr": ON_HOST,
    "audiomnist": ON_HOST,
    "sparling/fig12": ON_HOST,
    "sparse_vae/table1": "",
    "sparse_vae/table1 method.model=vae": "",
    "sparse_vae/table1 method.model=vsc": "",
    "sparse_vae/fig3 method.model=oi_vae": "",
    "sparse_vae/table1_peerread": "",
    "sparse_vae/table2": "",
    "sparse_vae/fig4": "",
    "tbr/fig4 method.latents=2": "",
    "tbr/fig4 method.latents=2 method.variant=baseline": "",
    "tbr/fig5b": "",
    "ddl/table4 data.latents=3": "",
    "ddl/table4 data.latents=3 method.penalty=orojar": "",
    "ddl/table4 data.latents=3 method.penalty=hessian_penalty": "",
    "ddl/table1": "",
    "ddl/table7 method.penalty=latent method.alpha=1.0": "",
    "ddl/table8_mpi3d method.penalty=dependency method.alpha=1.0": "",
    "ddl/table1 method.penalty=orojar method.alpha=1.0": "",
    "ddl/table1_disco": "",
    "ddl/table1_disco method.penalty=latent method.alpha=1.0": "",
    "ddl/table1_disco_mpi3d method.penalty=dependency method.alpha=1.0": "",
    "ddl/fig9": "",
    "ddl/fig10 method.penalty=dependency method.alpha=0.01": "",
    "ddl/fig8": "",
    "ddl/fig8 method.penalty=dependency method.alpha=1.0": "",
    "ddl/table3 method.idle_weight=0.0": "",
    "ddl/table3 method.kind=batchtopk": NUMBER_OF_IDLE,
    "ddl/table3 method.kind=jsae method.idle_weight=0.0 method.jacobian_weight=1.0": "",
}
"""Experiment and settings -> the reason why one of its steps asks for a value; empty if none does."""
STEPS = {ON_HOST: "test", NUMBER_OF_IDLE: "train"}
"""Reason -> the step that it is about."""
PARENTS = ("ddl/table1_disco", "ddl/fig9")
"""Experiments whose runs start from another one: of a generator and of an autoencoder."""
NO_VALUE = "cannot be called on meta|Cannot copy out of meta|nonzero"


def composed(text: str):
    """The run of an experiment with settings, at smoke."""
    return compose([f"experiment={text.split()[0]}", "scale=smoke", *text.split()[1:]])


@pytest.mark.parametrize("text", RUNS)
def test_no_step_waits_or_mixes_devices(text):
    made, reason = OnMeta(composed(text)), RUNS[text]
    for name in ("train", "validate", "test"):
        if reason and name == STEPS[reason]:
            with pytest.raises((RuntimeError, NotImplementedError), match=NO_VALUE):
                getattr(made, name)()
        else:
            getattr(made, name)()


@pytest.mark.parametrize("name", PARENTS)
def test_no_training_step_of_a_parent_run_waits_or_mixes_devices(name):
    parent = parent_run(composed(name))
    assert parent is not None
    made = OnMeta(parent)
    made.train()
    made.validate()


def test_every_method_and_data_set_of_an_experiment_is_tried():
    tried = {(run.method.name, run.data.name) for run in map(composed, RUNS)}
    methods = {path.stem for path in (CONFIGS / "method").glob("*.yaml")}
    own = {"arrays", "labelled_inputs", "matrix", "observations", "tree_table"}  # need a file of the user
    data = {path.stem for path in (CONFIGS / "data").glob("*.yaml")} - own
    assert {method for method, _ in tried} == methods
    assert {name for _, name in tried} == data


@pytest.fixture(scope="module")
def regcl():
    return OnMeta(composed(next(iter(RUNS))))


@pytest.mark.parametrize("step", ["training", "validation", "test"])
@pytest.mark.parametrize(
    "mistake",
    [
        lambda batch: batch.inputs.sum().item(),
        lambda batch: bool((batch.inputs > 0).any()),
        lambda batch: batch.inputs[batch.inputs > 0],
        lambda batch: batch.inputs.mean().cpu(),
        lambda batch: batch.inputs + torch.ones(1),
        lambda batch: torch.nn.functional.linear(batch.inputs, torch.ones(3, batch.inputs.shape[-1])),
        lambda batch: batch.inputs[:, torch.tensor([0])],
    ],
    ids=["item", "bool", "mask", "cpu", "cpu_sum", "cpu_weight", "cpu_index"],
)
def test_a_step_that_waits_or_mixes_devices_is_found(regcl, monkeypatch, step, mistake):
    right = getattr(regcl.module, f"{step}_step")

    def wrong(batch, batch_idx):
        mistake(batch)
        return right(batch, batch_idx)

    monkeypatch.setattr(regcl.module, f"{step}_step", wrong)
    with pytest.raises((RuntimeError, NotImplementedError)):
        {"training": regcl.train, "validation": regcl.validate, "test": regcl.test}[step]()
