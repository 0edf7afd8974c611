import numpy as np
import pytest

from sparseid.data.mlp_mixture.masks import mask_of
from sparseid.settings import settings_errors


@pytest.mark.parametrize(
    ("changes", "keys"),
    [
        ({"latents": 1, "mask": "identity"}, ("data.latents",)),
        ({"mask": "circulent"}, ("data.mask",)),
        ({"band": 4}, ("data.band", "data.latents")),
        ({"band": 0}, ("data.band", "data.latents")),
        ({"mask": "groups"}, ("data.groups",)),
        ({"mask": "groups", "groups": "12-24"}, ("data.groups", "data.latents")),
        ({"groups": "12-23"}, ("data.groups", "data.mask")),
        ({"outputs_per_row": 0}, ("data.outputs_per_row",)),
        ({"latent_distribution": "cauchy"}, ("data.latent_distribution",)),
        ({"rho": 1.0}, ("data.rho",)),
        ({"rho": -0.1}, ("data.rho",)),
        ({"rho": float("nan")}, ("data.rho",)),
        ({"rho": 0.5, "latent_distribution": "laplace"}, ("data.rho", "data.latent_distribution")),
        ({"noise": -1.0}, ("data.noise",)),
        ({"noise": float("inf")}, ("data.noise",)),
        ({"samples": 3}, ("data.samples",)),
        ({"test_samples": 3}, ("data.test_samples",)),
        ({"hidden": 0}, ("data.hidden",)),
        ({"layers": 0}, ("data.layers",)),
        ({"activation": "relu"}, ("data.activation",)),
        ({"slope": 0.0}, ("data.slope",)),
        ({"gain": 0.0}, ("data.gain",)),
        ({"bias_std": -1.0}, ("data.bias_std",)),
        ({"injective": "no"}, ("data.injective",)),
        ({"outputs_per_row": 1}, ("data.injective", "data.outputs_per_row")),
        ({"injective": "dominant", "dominance": 0.0}, ("data.dominance",)),
        ({"dominance": 2.0}, ("data.dominance", "data.injective")),
        ({"injective": "none", "dominance": 2.0}, ("data.dominance", "data.injective")),
    ],
)
def test_impossible_settings(mixture_config, changes, keys):
    assert [found for found, _ in settings_errors(mixture_config(**changes), "data.", None)] == [keys]


def test_what_the_yaml_says_can_be(mixture_config):
    assert list(settings_errors(mixture_config(outputs_per_row=1, injective="dominant"), "data.", None)) == []
    assert list(settings_errors(mixture_config(outputs_per_row=1, injective="none"), "data.", None)) == []
    assert list(settings_errors(mixture_config(), "data.", None)) == []
    assert list(mixture_config().missing_files()) == []


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("1,0,0\n0,1,0\n1,1,0\n", ["no observation reads z3"]),
        ("1,0,0\n0,1,0\n0,0,1\n0,0,0\n", ["x4 of this mask reads no latent"]),
        ("1,1,1\n1,0,0\n1,0,0\n", ["z2 and z3 are read only by x1"]),
        ("1,1,1\n1,1,1\n", ["z1, z2 and z3 are read only by x1 and x2"]),
        ("1,1,0\n0,1,1\n1,0,1\n", ["set data.injective=dominant, or give the mask more lines, about 6"]),
        ("1,1\n0,1\n", ["write data.latents=2"]),
        ("1,1,2\n", ["line 1: '2' is neither 0 nor 1"]),
        ("", ["is empty"]),
    ],
)
def test_masks_that_cannot_be_are_refused_before_work_begins(mixture_config, tmp_path, rows, says):
    path = tmp_path / "mask.csv"
    path.write_text(rows)
    for outputs in (1, 2):
        found = list(settings_errors(mixture_config(mask=str(path), outputs_per_row=outputs), "data.", None))
        assert len(found) == len(says)
        for (keys, text), part in zip(found, says, strict=True):
            assert "data.mask" in keys
            assert part in text


def test_a_mask_of_free_networks_as_many_as_latents_is_for_injective_none_alone(mixture_config, tmp_path):
    path = tmp_path / "mask.csv"
    path.write_text("1,1,0\n0,1,1\n1,0,1\n")
    free = mixture_config(mask=str(path), injective="none")
    assert list(settings_errors(free, "data.", None)) == []
    path.write_text("1,0,0\n0,1,0\n1,1,0\n")  # free networks, too, must read every latent
    ((keys, text),) = settings_errors(free, "data.", None)
    assert keys == ("data.mask",)
    assert "no observation reads z3" in text


def test_free_networks_are_warned_of(mixture_config):
    assert "almost always fold them" in said(mixture_config(outputs_per_row=1, injective="none"))


def test_groups_that_leave_a_latent_out_are_refused(mixture_config):
    ((keys, text),) = settings_errors(mixture_config(latents=4, mask="groups", groups="12-23"), "data.", None)
    assert keys == ("data.groups",)
    assert "no observation reads z4" in text


def test_a_mask_that_only_the_user_has_is_no_fault_of_a_plan(mixture_config, tmp_path):
    config = mixture_config(mask=str(tmp_path / "none.csv"))
    assert list(settings_errors(config, "data.", None)) == []
    assert [keys for keys, _ in config.missing_files()] == [("data.mask",)]


def said(config):
    return " / ".join(config.warnings(mask_of(config, 0)))


def test_correlated_latents_are_warned_of(mixture_config):
    text = said(mixture_config(rho=0.8))
    assert "condition (ii)" in text
    assert "clauses 1 and 2" in text
    assert "R2" not in text
    assert "R2 between blocks" in said(mixture_config(rho=0.8, mask="groups", groups="12-23"))
    assert said(mixture_config()) == ""


def test_latents_that_nothing_tells_apart_are_named(mixture_config):
    assert "z1, z2 and z3" in said(mixture_config(mask="dense"))
    assert "read z2 and z3" in said(mixture_config(mask="dense_minus_edge"))
    assert "read z2 and z3" in said(mixture_config(latents=4, mask="groups", groups="123-234"))


def test_a_mask_without_blocks_that_is_not_diverse_is_named(mixture_config, tmp_path):
    path = tmp_path / "mask.csv"
    rows = [[1, 0, 1, 1, 1], [1, 0, 0, 0, 0], [1, 1, 1, 0, 1], [0, 0, 1, 0, 0], [1, 0, 1, 1, 1]]
    np.savetxt(path, rows, fmt="%d", delimiter=",")
    config = mixture_config(latents=5, mask=str(path), injective="dominant")
    assert list(settings_errors(config, "data.", None)) == []
    assert "not Sufficiently Diverse" in said(config)
    assert f"the 5 lines of {path} are the observations" in said(config)
