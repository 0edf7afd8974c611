"""Tiny models as a user saves them, and a text that they read."""

import json

import pytest

TEXT = "the cat sat on the mat and the dog lay in the sun\n" * 40
TINY = {
    "gpt2": {"n_layer": 2, "n_embd": 8, "n_head": 2, "n_positions": 32, "vocab_size": 60, "initializer_range": 0.3},
    "bert": {
        "num_hidden_layers": 2,
        "hidden_size": 8,
        "num_attention_heads": 2,
        "intermediate_size": 12,
        "max_position_embeddings": 32,
        "vocab_size": 60,
    },
    "gpt_neox": {
        "num_hidden_layers": 2,
        "hidden_size": 8,
        "num_attention_heads": 2,
        "intermediate_size": 12,
        "max_position_embeddings": 32,
        "vocab_size": 60,
        "initializer_range": 0.3,
    },
}


def tokenizer(special):
    """Return a tokenizer of whole words; with `special` tokens around a text, and truncated like MiniLM's."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from tokenizers.processors import TemplateProcessing

    words = ["[UNK]", "[CLS]", "[SEP]", *sorted(set(TEXT.split()))]
    made = Tokenizer(WordLevel({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    made.pre_tokenizer = Whitespace()
    if special:
        made.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
        made.enable_truncation(8)
    return made


@pytest.fixture(scope="session")
def saved_models(tmp_path_factory):
    """Return a folder with a tiny model of each family, its weights drawn at random: of GPT-NeoX with its own head."""
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("models")
    for name, sizes in TINY.items():
        torch.manual_seed(0)
        config = transformers.AutoConfig.for_model(name, **sizes)
        config.save_pretrained(folder / name)
        whole = transformers.AutoModelForCausalLM if name == "gpt_neox" else transformers.AutoModel
        whole.from_config(config).save_pretrained(folder / name)
        tokenizer(name == "bert").save(str(folder / name / "tokenizer.json"))
    return folder


@pytest.fixture
def own_model(saved_models, tmp_path):
    """Return a function that copies a tiny model, with changed fields of its configuration."""
    import shutil

    def copied(name="gpt2", **changes):
        place = tmp_path / "model"
        shutil.copytree(saved_models / name, place)
        config = place / "config.json"
        config.write_text(json.dumps(json.loads(config.read_text()) | changes))
        return place

    return copied


@pytest.fixture
def reweighted():
    """Return a function that changes the weights in a model's folder: they are passed to another function."""

    def changed(place, change):
        from safetensors.torch import load_file, save_file

        weights = load_file(place / "model.safetensors")
        change(weights)
        save_file(weights, place / "model.safetensors", metadata={"format": "pt"})
        return place

    return changed


@pytest.fixture
def text(tmp_path):
    """Return a text file."""
    path = tmp_path / "words.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """Keep what is computed in a folder of this test's."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    return tmp_path / "data"
