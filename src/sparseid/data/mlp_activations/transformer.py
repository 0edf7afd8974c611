"""A transformer up to one layer, and what enters and leaves the MLP there."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.mlp_activations.model_files import KEYS, ModelFiles
from sparseid.data.mlp_activations.tokens import Tokens
from sparseid.data.mlp_block import MLPBlock
from sparseid.errors import InputError
from sparseid.streams import FIXED

TOLERANCE = 1e-3
"""Relative difference between the MLP's output and that of its two linear maps, above which it is another kind."""


class Transformer:
    """The layers of a model up to one whose MLP is read, in single precision.

    Parameters
    ----------
    model
        Files of the model.
    layer
        Number of the layer.
    device
        Where it is evaluated.

    Attributes
    ----------
    mlp
        The MLP of the layer.

    Raises
    ------
    InputError
        If the weights do not fit the configuration.
    """

    def __init__(self, model: ModelFiles, layer: int, device: torch.device) -> None:
        self.network = load(model, layer).to(device)
        self.device = device
        names = model.layout
        self._up, self._down = (self._linear(name.format(layer)) for name in (names.up, names.down))
        up, down = (each.weight.T if names.transposed else each.weight for each in (self._up, self._down))
        self.mlp = MLPBlock(up, self._up.bias, down, self._down.bias, str(model.config[names.activation]))

    def _linear(self, name: str) -> Any:
        """Return a linear map, a class of ``transformers`` in GPT-2."""
        return self.network.get_submodule(name)

    @torch.inference_mode()
    def activations(self, sequences: NDArray[np.int32], tokens: Tokens) -> tuple[Tensor, Tensor]:
        """Return what enters and leaves the MLP.

        Parameters
        ----------
        sequences
            (sequences, context) numbers of tokens.
        tokens
            Has the special tokens around each sequence, whose activations are left out.

        Returns
        -------
        Tensor, Tensor
            (sequences, context, width) each.
        """
        whole = tokens.surrounded(sequences)
        seen: dict[str, Tensor] = {}
        hooks = [
            self._up.register_forward_pre_hook(lambda _, arguments: seen.update(inputs=arguments[0])),
            self._down.register_forward_hook(lambda _, arguments, output: seen.update(outputs=output)),
        ]
        try:
            self.network(input_ids=torch.from_numpy(whole).to(self.device))
        finally:
            for hook in hooks:
                hook.remove()
        kept = tokens.of_text(sequences.shape[1])
        inputs, outputs = (seen[name].view(*whole.shape, -1)[:, kept] for name in ("inputs", "outputs"))
        return inputs, outputs

    def check(self, inputs: Tensor, outputs: Tensor) -> None:
        """Check that the MLP is its two linear maps with the activation between them; InputError if not.

        Parameters
        ----------
        inputs, outputs
            What enters and leaves it, finite numbers.
        """
        difference, size = (self.mlp(inputs) - outputs).norm(), outputs.norm()
        if difference > TOLERANCE * size:
            text = "its MLP is not two linear maps with a pointwise activation between them"
            raise InputError(f"data.model: {text} (relative difference {difference / size:.2g})", KEYS)


def load(model: ModelFiles, layer: int, whole: bool = False) -> Any:
    """Load a model for evaluation, in single precision, on the CPU.

    Parameters
    ----------
    model
        Files of the model.
    layer
        The last layer that is needed.
    whole
        Load all layers, and the head that predicts the next token.

    Raises
    ------
    InputError
        If the weights cannot be read, do not fit the configuration or are not finite numbers.
    """
    os.environ["HF_HUB_OFFLINE"] = "1"  # a second guard: only folders are loaded
    import transformers

    transformers.logging.set_verbosity_error()  # the layers above are left out on purpose
    transformers.logging.disable_progress_bar()
    values = {name: value for name, value in model.config.items() if name != "model_type"}
    if not whole:
        values[model.layout.layers] = layer + 1
    config: Any = transformers.AutoConfig.for_model(model.config["model_type"], **values)
    family: Any = transformers.AutoModelForCausalLM if whole else transformers.AutoModel
    if model.folder is None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(FIXED.integer("mlp_activations/random model"))
            network = family.from_config(config)
        if whole:  # other layers are other draws: those whose activations are stored are part of it
            network.base_model.load_state_dict(load(model, layer).state_dict(), strict=False)
        return network.eval().requires_grad_(False)
    try:
        network, report = family.from_pretrained(
            str(model.folder),
            config=config,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            dtype=torch.float32,
            output_loading_info=True,
        )
    except Exception as error:  # many types for damaged files
        raise InputError(f"{model.folder} cannot be loaded: {str(error).splitlines()[0]}", KEYS) from error
    missing = sorted(name for name in report["missing_keys"] if "pooler" not in name)
    if missing:
        raise InputError(f"{model.folder} lacks weights, {missing[0]} among them: copy it again", KEYS)
    wrong = [name for name, weight in network.named_parameters() if not weight.isfinite().all()]
    if wrong:
        text = f"{model.folder} has weights that are NaN or infinite, in {wrong[0]}"
        more = f" and {len(wrong) - 1} others" if len(wrong) > 1 else ""
        raise InputError(f"{text}{more}: copy it again, or save it in single precision", KEYS)
    return network.eval().requires_grad_(False)
