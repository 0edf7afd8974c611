"""Store of activations: computed once, in shards that are mapped to memory, and looked up by the number of a token.

A shard depends on model, layer, text and its place there, so that an interrupted preparation goes on with the next one,
and more tokens add shards to those that exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sparseid.data.cache import cached_array, cached_arrays, digest
from sparseid.data.mlp_activations.model_files import ModelFiles
from sparseid.data.mlp_activations.settings import MLPActivationsSettings
from sparseid.data.mlp_activations.texts import text_files
from sparseid.data.mlp_activations.tokens import Tokens
from sparseid.data.mlp_activations.transformer import Transformer
from sparseid.data.mlp_block import WEIGHTS, MLPBlock
from sparseid.errors import InputError

SHARD = 2**16
"""Tokens of a shard, at most."""
READ_AT_ONCE = 2**12
"""Tokens that the model reads at a time, about."""
VERSION = 1
"""Of this module's results; another one makes cached results anew."""


class ActivationStore:
    """Inputs and outputs of an MLP for every token, and the MLP.

    Parameters
    ----------
    settings
        Layer, text and number of tokens.
    model, tokens
        The model, and the tokens that it reads.
    device
        Where the model is evaluated.

    Raises
    ------
    InputError
        If the model cannot read a sequence and the special tokens around it.
    """

    def __init__(
        self, settings: MLPActivationsSettings, model: ModelFiles, tokens: Tokens, device: torch.device
    ) -> None:
        self.settings, self.model, self.tokens, self.device = settings, model, tokens, device
        self.width = model.width
        special, most = len(tokens.before) + len(tokens.after), int(model.config[model.layout.positions])
        if settings.context + special > most:
            text = f"the model reads at most {most} tokens, and {special} of them are special ones around a sequence"
            raise InputError(f"{text}: lower data.context to {most - special}", ("data.context",))
        self.per_shard = max(1, SHARD // settings.context)
        self._depends_on = {
            "version": VERSION,
            "model": model.config if model.folder is None else [digest(path) for path in model.paths],
            "layer": settings.layer,
        }
        self._shards = [self._shard(first) for first in range(0, settings.sequences, self.per_shard)]

    @cached_property
    def _transformer(self) -> Transformer:
        """The model, loaded when something is missing."""
        return Transformer(self.model, self.settings.layer, self.device)

    @cached_property
    def mlp(self) -> MLPBlock:
        """The MLP, on the CPU."""

        def create() -> dict[str, NDArray[np.float32]]:
            mlp = self._transformer.mlp
            return {name: getattr(mlp, name).cpu().contiguous().numpy() for name in WEIGHTS}

        stored = cached_arrays("mlp_activations", self._depends_on | {"part": "mlp"}, create)
        weights = {name: torch.from_numpy(stored[name]) for name in WEIGHTS}
        return MLPBlock(**weights, activation=str(self.model.config[self.model.layout.activation]))

    def _shard(self, first: int) -> NDArray[Any]:
        """Return a shard (tokens, 2 x width), from sequence `first` on: the MLP's inputs, and its outputs."""
        settings = self.settings
        count = min(self.per_shard, settings.sequences - first)
        ids = self.tokens.ids.reshape(-1, settings.context)[first : first + count]
        depends_on = self._depends_on | {
            "text": [digest(path) for path in text_files(settings).values()],
            "context": settings.context,
            "first": first,
            "sequences": count,
        }
        shape = (count * settings.context, 2 * self.width)
        return cached_array("mlp_activations", depends_on, shape, self._read(ids), settings.stored)

    def _read(self, ids: NDArray[np.int32]) -> Callable[[], Iterator[NDArray[Any]]]:
        def parts() -> Iterator[NDArray[Any]]:
            step = max(1, READ_AT_ONCE // self.settings.context)
            for start in range(0, len(ids), step):
                inputs, outputs = self._transformer.activations(ids[start : start + step], self.tokens)
                both = torch.cat([inputs, outputs], dim=-1).flatten(0, 1).cpu().numpy()
                if not np.isfinite(both).all():
                    text = "the model's activations are not finite numbers: its weights are damaged"
                    raise InputError(text, ("data.model",))
                if start == 0:
                    self._transformer.check(inputs, outputs)
                with np.errstate(over="ignore"):  # checked next
                    both = both.astype(self.settings.stored)
                if not np.isfinite(both).all():
                    text = "activations are not finite numbers in data.stored=float16: set data.stored=float32"
                    raise InputError(text, ("data.stored", "data.model"))
                yield both

        return parts

    def look_up(self, tokens: NDArray[np.int64]) -> tuple[Tensor, Tensor]:
        """Return inputs and outputs (tokens, width) float32 of the MLP, on the CPU, for numbers of tokens."""
        found = np.empty((len(tokens), 2 * self.width), np.float32)
        shards, rows = np.divmod(tokens, self.per_shard * self.settings.context)
        for shard in np.unique(shards):
            chosen = shards == shard
            found[chosen] = self._shards[shard][rows[chosen]]
        values = torch.from_numpy(found)
        return values[:, : self.width], values[:, self.width :]
