"""A whole language model whose MLP's output in one layer is replaced: what that does to its loss."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import cross_entropy

from sparseid.data.mlp_activations.model_files import ModelFiles
from sparseid.data.mlp_activations.tokens import Tokens
from sparseid.data.mlp_activations.transformer import load

READ_AT_ONCE = 2**10
"""Tokens that the model reads at a time, about: each has as many logits as the vocabulary has tokens."""


class NextTokenLosses(NamedTuple):
    """Cross entropies of a model's predictions of the next token, in nats per token.

    Attributes
    ----------
    plain, replaced, without
        Of the model as it is, with other outputs of the MLP, and with zeros as its outputs.
    predictions
        Number of tokens that are predicted.
    """

    plain: float
    replaced: float
    without: float
    predictions: int

    @property
    def recovered(self) -> float | None:
        """Percentage of what zeros add to the loss that other outputs do not; None if they add nothing."""
        added = self.without - self.plain
        return 100 * (self.without - self.replaced) / added if added > 0 else None


class LanguageModel:
    """A whole model that predicts the next token, in single precision.

    Parameters
    ----------
    model
        Files of the model, with a head.
    layer
        Number of the layer whose MLP's outputs can be replaced.
    tokens
        Has the special tokens around each sequence. They are not predicted, and outputs for them are not replaced.
    device
        Where it is evaluated.

    Raises
    ------
    InputError
        If the weights do not fit the configuration.
    """

    def __init__(self, model: ModelFiles, layer: int, tokens: Tokens, device: torch.device) -> None:
        self.network = load(model, layer, whole=True).to(device)
        self.tokens, self.device = tokens, device
        self._down = self.network.base_model.get_submodule(model.layout.down.format(layer))

    def losses(self, sequences: NDArray[np.int32], outputs: Tensor) -> NextTokenLosses:
        """Return the losses of the model as it is, with other outputs of the MLP, and with zeros.

        Parameters
        ----------
        sequences
            (sequences, context) numbers of tokens.
        outputs
            (sequences, context, width) in place of the MLP's.
        """
        return NextTokenLosses(
            plain=self.loss(sequences),
            replaced=self.loss(sequences, outputs),
            without=self.loss(sequences, torch.zeros_like(outputs)),
            predictions=len(sequences) * len(self._predicted(sequences.shape[1])),
        )

    @torch.inference_mode()
    def loss(self, sequences: NDArray[np.int32], outputs: Tensor | None = None) -> float:
        """Return the mean cross entropy of the next token, with given outputs of the MLP or, for None, its own."""
        context = sequences.shape[1]
        predicted = self._predicted(context)
        places = slice(predicted.start, predicted.stop)
        before = slice(predicted.start - 1, predicted.stop - 1)
        at_once = max(1, READ_AT_ONCE // context)
        total = 0.0
        for start in range(0, len(sequences), at_once):
            part = slice(start, start + at_once)
            ids = torch.from_numpy(self.tokens.surrounded(sequences[part])).to(self.device)
            logits = self._logits(ids, None if outputs is None else outputs[part].to(self.device), context)
            of_tokens = cross_entropy(logits[:, before].flatten(0, 1), ids[:, places].flatten(), reduction="none")
            total += float(of_tokens.double().sum())
        return total / (len(sequences) * len(predicted))

    def _predicted(self, context: int) -> range:
        """Return the places of the tokens that are predicted: those of the text, except a first one."""
        places = self.tokens.of_text(context)
        return range(max(1, places.start), places.stop)

    def _logits(self, ids: Tensor, outputs: Tensor | None, context: int) -> Tensor:
        """Return the logits (sequences, tokens, vocabulary) of the next tokens of surrounded sequences."""

        def replaced(_: Any, __: Any, output: Tensor) -> Tensor:
            if outputs is None:
                return output
            whole = output.clone()
            whole.view(*ids.shape, -1)[:, self.tokens.of_text(context)] = outputs
            return whole

        hook = self._down.register_forward_hook(replaced)
        try:
            logits: Tensor = self.network(input_ids=ids, use_cache=False).logits
        finally:
            hook.remove()
        return logits
