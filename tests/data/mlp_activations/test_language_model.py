import numpy as np
import pytest
import torch

from sparseid.data.mlp_activations import language_model
from sparseid.data.mlp_activations.datamodule import MLPActivationsData
from sparseid.data.mlp_activations.language_model import LanguageModel, NextTokenLosses
from sparseid.data.mlp_activations.model_files import model_files
from sparseid.data.mlp_activations.settings import MLPActivationsSettings
from sparseid.data.mlp_activations.tokens import Tokens
from sparseid.errors import InputError
from sparseid.settings import RunNumbers

pytestmark = pytest.mark.usefixtures("cache")

NONE = np.empty(0, np.int32)
SEQUENCES = np.random.default_rng(0).integers(3, 60, (5, 16)).astype(np.int32)


def settings(model, text="wikitext2", layer=1):
    return MLPActivationsSettings(
        model=str(model), text=str(text), layer=layer, context=16, tokens=200, held_out=70, stored="float32"
    )


def whole(model, before=NONE, after=NONE, layer=1):
    tokens = Tokens(SEQUENCES.ravel(), before, after)
    return LanguageModel(model_files(settings(model, layer=layer)), layer, tokens, torch.device("cpu"))


def theirs(model):
    """The whole model as transformers loads it, and its own loss on sequences."""
    import transformers

    network = transformers.AutoModelForCausalLM.from_pretrained(model).eval()

    def loss(ids, labels=None):
        labels = ids if labels is None else labels
        with torch.no_grad():
            return network(input_ids=torch.tensor(ids).long(), labels=torch.tensor(labels).long()).loss.item()

    return network, loss


def own_words(ours, sequences=5, context=16):
    """Return sequences of a model's own most probable tokens, which it predicts better than one without an MLP."""
    ids = torch.arange(3, 3 + sequences)[:, None]
    with torch.no_grad():
        while ids.shape[1] < context:
            ids = torch.cat([ids, ours.network(input_ids=ids).logits[:, -1:].argmax(-1)], dim=1)
    return ids.numpy().astype(np.int32)


def outputs_of(ours, block, ids=SEQUENCES):
    """Return the outputs of the second layer's MLP for the sequences."""
    seen = []
    hook = ours.network.base_model.get_submodule(block).register_forward_hook(lambda _, __, out: seen.append(out))
    with torch.no_grad():
        ours.network(input_ids=torch.tensor(ids).long())
    hook.remove()
    return seen[0]


@pytest.mark.parametrize(("family", "block"), [("gpt2", "h.1.mlp"), ("gpt_neox", "layers.1.mlp")])
def test_losses_are_those_of_transformers_and_known_outputs_recover_all_or_nothing(
    saved_models, family, block, monkeypatch
):
    monkeypatch.setattr(language_model, "READ_AT_ONCE", 32)  # parts of two sequences, the last of one
    ours = whole(saved_models / family)
    network, loss = theirs(saved_models / family)
    sequences = own_words(ours)
    same = ours.losses(sequences, outputs_of(ours, block, sequences))
    assert same.plain == pytest.approx(loss(sequences), rel=1e-6)
    assert same.recovered == pytest.approx(100, abs=0.01)
    assert same.predictions == 5 * 15
    nothing = ours.losses(sequences, torch.zeros(5, 16, 8))
    assert nothing.recovered == 0
    down = network.base_model.get_submodule(f"{block}.{'c_proj' if family == 'gpt2' else 'dense_4h_to_h'}")
    torch.nn.init.zeros_(down.weight)
    torch.nn.init.zeros_(down.bias)
    assert nothing.without == pytest.approx(loss(sequences), rel=1e-6)
    assert abs(nothing.without - nothing.plain) > 1e-3


def test_special_tokens_are_neither_predicted_nor_replaced(saved_models):
    ours = whole(saved_models / "gpt2", np.array([1], np.int32), np.array([2], np.int32))
    _, loss = theirs(saved_models / "gpt2")
    ids = np.pad(np.pad(SEQUENCES, ((0, 0), (1, 0)), constant_values=1), ((0, 0), (0, 1)), constant_values=2)
    labels = np.where(ids < 3, -100, ids)
    outputs = outputs_of(ours, "h.1.mlp", ids)[:, 1:-1]
    found = ours.losses(SEQUENCES, outputs)
    assert found.plain == pytest.approx(loss(ids, labels), rel=1e-6)
    assert found.recovered == pytest.approx(100, abs=0.01)
    assert found.predictions == 5 * 16


def test_the_model_is_as_before_after_an_error(saved_models):
    ours = whole(saved_models / "gpt2")
    before = ours.loss(SEQUENCES)
    with pytest.raises(RuntimeError):
        ours.loss(SEQUENCES, torch.zeros(5, 16, 9))
    assert ours.loss(SEQUENCES) == before


def test_zeros_that_do_not_raise_the_loss_leave_nothing_to_recover():
    assert NextTokenLosses(2.0, 2.0, 2.0, 15).recovered is None
    assert NextTokenLosses(5.552, 5.5522, 5.546, 15).recovered is None
    assert NextTokenLosses(2.0, 2.5, 4.0, 15).recovered == 75


@pytest.mark.parametrize("layer", [0, 1])
def test_stored_outputs_of_held_out_sequences_recover_all_of_the_loss(text, layer):
    data = MLPActivationsData(settings("random", text, layer), RunNumbers(0, [0], 24, 10))
    data.setup()
    assert data.predicts
    outputs = torch.cat([batch.outputs for batch in data.test_dataloader()])
    found = data.losses_with(outputs)
    assert found.predictions == 4 * 15
    assert found.replaced == pytest.approx(found.plain, rel=1e-6)
    assert abs(found.without - found.plain) > 1e-4
    assert data.losses_with(outputs[:32]).predictions == 2 * 15


def test_models_without_all_layers_or_without_a_head_predict_nothing(saved_models, own_model, tmp_path):
    import transformers

    assert model_files(settings("random")).head
    assert model_files(settings(saved_models / "gpt2")).head
    assert model_files(settings(saved_models / "gpt_neox")).head
    assert not model_files(settings(saved_models / "bert")).head
    assert not model_files(settings("minilm")).head
    assert not model_files(settings(own_model(n_layer=3))).head
    place = tmp_path / "gpt_neox"
    transformers.AutoModel.from_pretrained(saved_models / "gpt_neox").save_pretrained(place)
    (place / "tokenizer.json").write_bytes((saved_models / "gpt_neox" / "tokenizer.json").read_bytes())
    assert not model_files(settings(place)).head


def test_a_whole_model_that_lacks_weights_is_refused(own_model):
    from safetensors.torch import load_file, save_file

    place = own_model()
    weights = load_file(place / "model.safetensors")
    del weights["ln_f.weight"]
    save_file(weights, place / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lacks weights, transformer.ln_f.weight among them: copy it again"):
        whole(place)
