import pytest

from sparseid.data.mlp_activations.settings import MLPActivationsSettings

pytestmark = pytest.mark.usefixtures("cache")


def settings(model, text):
    return MLPActivationsSettings(model=str(model), text=str(text), layer=1, context=16, tokens=64, held_out=32)


def test_an_unusable_model_and_an_unusable_text_are_both_reported(tmp_path):
    found = list(settings(tmp_path / "no", tmp_path / "none.txt").missing_files())
    assert [error.keys for error in found] == [("data.model",), ("data.text",)]
    assert settings(tmp_path / "no", tmp_path / "none.txt").user_files() == {}


def test_the_user_s_files_are_those_of_model_and_text(saved_models, text):
    own = settings(saved_models / "bert", text)
    assert list(own.missing_files()) == []
    assert set(own.user_files()) == {
        *("model/config.json", "model/tokenizer.json", "model/model.safetensors"),
        "text/words.txt",
    }
    assert settings("minilm", "wikitext2").user_files() == {}


def test_rows_name_model_and_corpus(text):
    assert settings("data/gpt2-small", text).row_keys() == {"model": "gpt2-small", "corpus": "words.txt", "layer": 1}


def test_numbers_of_sequences_are_rounded_down():
    own = MLPActivationsSettings(layer=0, context=10, tokens=39, held_out=25)
    assert (own.train_sequences, own.sequences) == (3, 5)
