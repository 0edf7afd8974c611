import json

import numpy as np
import pytest
import torch

from sparseid.data.mlp_activations import store as stores
from sparseid.data.mlp_activations.datamodule import MLPActivationsData
from sparseid.data.mlp_activations.settings import MLPActivationsSettings
from sparseid.data.mlp_activations.transformer import Transformer
from sparseid.errors import InputError
from sparseid.settings import RunNumbers

pytestmark = pytest.mark.usefixtures("cache")


def data_of(model, text, seed=0, **changes):
    asked = {"model": str(model), "text": str(text), "layer": 1, "context": 16, "tokens": 200, "held_out": 70} | changes
    made = MLPActivationsData(MLPActivationsSettings(**asked), RunNumbers(seed, [seed], 24, 10))
    made.setup()
    return made


def batches(data, numbers):
    return [data.training_batch(number) for number in numbers]


@pytest.mark.parametrize("family", ["gpt2", "bert", "gpt_neox"])
def test_activations_are_those_of_the_whole_model(saved_models, text, family):
    import transformers

    data = data_of(saved_models / family, text)
    network = transformers.AutoModel.from_pretrained(saved_models / family)
    block = {"gpt2": "h.1.mlp", "bert": "encoder.layer.1", "gpt_neox": "layers.1.mlp"}[family]
    parts = [network.get_submodule(block)] * 2
    if family == "bert":
        parts = [network.get_submodule(f"{block}.{part}") for part in ("intermediate", "output.dense")]
    seen = []
    parts[0].register_forward_pre_hook(lambda _, arguments: seen.append(arguments[0]))
    parts[1].register_forward_hook(lambda _, arguments, output: seen.append(output))
    ids = torch.from_numpy(data._tokens.ids.astype(np.int64)).reshape(-1, 16)
    if family == "bert":
        ids = torch.nn.functional.pad(torch.nn.functional.pad(ids, (1, 0), value=1), (0, 1), value=2)
    with torch.no_grad():
        network.eval()(input_ids=ids)
    whole = [part[:, 1:-1] if family == "bert" else part for part in seen]
    stored = data.store.look_up(np.arange(len(data._tokens.ids)))
    for ours, theirs in zip(stored, whole, strict=True):
        torch.testing.assert_close(ours, theirs.flatten(0, 1), rtol=1e-4, atol=1e-6)
    torch.testing.assert_close(data.mlp(stored[0]), stored[1], rtol=1e-4, atol=1e-6)


def test_an_epoch_has_every_token_once_in_an_order_of_the_seed(text):
    data, other = (data_of("random", text, seed) for seed in (0, 1))
    assert (data.train_tokens, data.test_items) == (192, 64)
    epoch = torch.cat([batch.inputs for batch in batches(data, range(8))])
    every = data.store.look_up(np.arange(192))[0]
    order = torch.cdist(epoch.double(), every.double()).argmin(dim=1)
    torch.testing.assert_close(epoch, every[order])
    assert not torch.equal(epoch, every)
    assert torch.equal(batches(data, [11])[0].inputs, batches(data_of("random", text), [11])[0].inputs)
    assert not torch.equal(batches(data, [0])[0].inputs, batches(other, [0])[0].inputs)


def test_held_out_tokens_come_after_those_of_training_in_their_order(text):
    data = data_of("random", text)
    parts = list(data.test_dataloader())
    assert [len(part.inputs) for part in parts] == [24, 24, 16]
    held_out = data.store.look_up(np.arange(192, 256))
    torch.testing.assert_close(torch.cat([part.outputs for part in parts]), held_out[1])
    assert sum(len(part.inputs) for part in data.val_dataloader()) == 64


def test_an_interrupted_preparation_goes_on_and_more_tokens_add_shards(text, monkeypatch):
    monkeypatch.setattr(stores, "SHARD", 64)
    read = Transformer.activations
    calls = []

    def killed_in_the_third_shard(self, sequences, tokens):
        calls.append(len(sequences))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return read(self, sequences, tokens)

    monkeypatch.setattr(Transformer, "activations", killed_in_the_third_shard)
    with pytest.raises(KeyboardInterrupt):
        data_of("random", text)
    resumed = data_of("random", text)
    assert calls == [4, 4, 4, 4, 4]  # the third again, and the fourth
    more = data_of("random", text, held_out=140)
    assert calls[5:] == [4]
    places = np.arange(256)
    assert torch.equal(more.store.look_up(places)[1], resumed.store.look_up(places)[1])
    data_of("random", text)
    assert len(calls) == 6


def test_half_precision_halves_the_space_and_refuses_what_does_not_fit(text, cache, monkeypatch):
    single, half = (data_of("random", text, stored=stored) for stored in ("float32", "float16"))
    assert half.store._shards[0].nbytes * 2 == single.store._shards[0].nbytes
    for ours, theirs in zip(half.training_batch(0), single.training_batch(0), strict=True):
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours, theirs, rtol=1e-3, atol=1e-6)
    read = Transformer.activations
    monkeypatch.setattr(Transformer, "activations", lambda *given: tuple(part * 1e9 for part in read(*given)))
    monkeypatch.setattr(Transformer, "check", lambda *given: None)
    with pytest.raises(InputError, match=r"not finite numbers in data.stored=float16: set data.stored=float32"):
        data_of("random", text, stored="float16", context=32)


def test_a_text_with_too_few_tokens_is_refused(text):
    with pytest.raises(InputError, match=r"has 2000 tokens, and 3040 are needed: lower data.tokens or data.held_out"):
        data_of("random", text, tokens=3000, held_out=63)


def test_special_tokens_need_places_of_the_model_too(saved_models, text):
    assert data_of(saved_models / "bert", text, context=30).store.width == 8
    with pytest.raises(InputError, match=r"at most 32 tokens, and 2 of them are special.*lower data.context to 30"):
        data_of(saved_models / "bert", text, context=31)


def test_an_mlp_of_another_kind_is_refused(saved_models, text, monkeypatch):
    read = Transformer.activations
    monkeypatch.setattr(Transformer, "activations", lambda *given: (read(*given)[0], 2 * read(*given)[1]))
    with pytest.raises(InputError, match="its MLP is not two linear maps with a pointwise activation between them"):
        data_of(saved_models / "gpt2", text)


def test_weights_of_no_type_are_refused(own_model, text):
    place = own_model()
    weights = place / "model.safetensors"
    weights.write_bytes(weights.read_bytes().replace(b'"F32"', b'"Q32"'))
    with pytest.raises(InputError, match="cannot be loaded"):
        data_of(place, text)


@pytest.mark.parametrize("family", ["gpt2", "bert", "gpt_neox"])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_named(own_model, reweighted, text, family, value):
    names = {"gpt2": "h.0.attn.c_attn.weight", "gpt_neox": "gpt_neox.layers.0.attention.dense.weight"}
    name = names.get(family, "encoder.layer.0.attention.self.query.weight")

    def spoilt(weights):
        weights[name][0, 0] = value

    place = reweighted(own_model(family), spoilt)
    said = f"model has weights that are NaN or infinite, in {name.removeprefix('gpt_neox.')}: copy it again"
    with pytest.raises(InputError, match=said):
        data_of(place, text)


@pytest.mark.parametrize("stored", ["float32", "float16"])
def test_activations_beyond_single_precision_are_told_of_as_such(own_model, reweighted, text, stored):
    def enlarged(weights):
        for name in ("c_fc", "c_proj"):
            weights[f"h.1.mlp.{name}.weight"] *= 1e30

    with pytest.raises(InputError, match=r"activations are not finite numbers: its weights are damaged"):
        data_of(reweighted(own_model(), enlarged), text, stored=stored)


def test_an_mlp_whose_output_is_zero_is_of_no_other_kind(own_model, reweighted, text):
    def silenced(weights):
        for kind in ("weight", "bias"):
            weights[f"h.1.mlp.c_proj.{kind}"].zero_()

    data = data_of(reweighted(own_model(), silenced), text)
    assert not data.training_batch(0).outputs.any()
    assert data.training_batch(0).inputs.any()


@pytest.mark.parametrize(("rows", "highest"), [(14, 12), (13, 12), (12, 12), (8, 12)])
def test_a_token_without_a_vector_is_refused(own_model, reweighted, text, rows, highest):
    """The tokenizer's words are [UNK], [CLS], [SEP] and ten others: the last has number 12."""

    def shortened(weights):
        weights["wte.weight"] = weights["wte.weight"][:rows].contiguous()

    place = reweighted(own_model(vocab_size=rows), shortened)
    if rows > highest:
        assert data_of(place, text).training_batch(0).inputs.shape == (24, 8)
        return
    said = rf"tokenizer.json gives a token of .*words.txt the number {highest}, and the model has {rows} \(vocab_size\)"
    with pytest.raises(InputError, match=said):
        data_of(place, text)


def test_a_special_token_without_a_vector_is_refused(own_model, reweighted, text):
    def shortened(weights):
        name = "embeddings.word_embeddings.weight"
        weights[name] = weights[name][:12].contiguous()

    place = reweighted(own_model("bert", vocab_size=12, pad_token_id=0), shortened)
    tokenizer = json.loads((place / "tokenizer.json").read_text())
    tokenizer["post_processor"]["special_tokens"]["[SEP]"]["ids"] = [50]
    (place / "tokenizer.json").write_text(json.dumps(tokenizer))
    text.write_text("on " * 400)
    with pytest.raises(InputError, match=r"the number 50, and the model has 12"):
        data_of(place, text)


def test_what_is_read_is_named(saved_models, text):
    data = data_of(saved_models / "gpt2", text)
    assert data.note == "gpt2 on words.txt, where the paper has GPT-2 small on OpenWebText"
    assert len(data.files) == 4
    assert data_of("random", text).remarks[-1].startswith("a GPT-2 with random weights")
