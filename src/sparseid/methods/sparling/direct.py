"""DIRECT: the encoder alone, trained on motif labels, an upper bound for Sparling (Table 2)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor
from torch.nn import functional

from sparseid.data.batch import MotifBatch
from sparseid.measurements import Evaluation
from sparseid.methods.module import ExperimentModule
from sparseid.methods.sparling.networks import Domain, build_encoder
from sparseid.methods.sparling.optimiser import adam, clip
from sparseid.methods.sparling.single_motifs import single_motif_errors, strongest

if TYPE_CHECKING:
    from sparseid.methods.sparling.settings import SparlingSettings
    from sparseid.settings import RunNumbers


class DirectModule(ExperimentModule):
    """Local encoder without final batch norm and sparse layer; the largest output of a channel is its kind's logit.

    Parameters
    ----------
    method
        Sizes of the encoder and settings of the optimiser; of decoder and schedule only the validation is used.
    domain
        Motif kinds, one channel each, and shape of the inputs.
    """

    def __init__(self, method: SparlingSettings, domain: Domain) -> None:
        super().__init__()
        self.encoder = build_encoder(method, domain, channels=domain.kinds)
        self.kinds = domain.kinds
        self.optimizer_config, self.evaluation_config = method.optimizer, method.evaluation

    @classmethod
    def from_settings(cls, settings: SparlingSettings, data: Any, run: RunNumbers) -> DirectModule:
        """Build the module of a run and request single motifs from the data module."""
        data.single_motifs = True
        return cls(settings, Domain.of(data))

    def forward(self, inputs: Tensor) -> Tensor:
        """Map inputs (N, in_channels, H, W) to logits (N, kinds)."""
        return strongest(self.encoder(inputs))

    def configure_optimizers(self) -> Any:
        """Return Adam with linear warm-up (published: none)."""
        return adam(self.parameters(), self.optimizer_config)

    def configure_gradient_clipping(self, optimizer: torch.optim.Optimizer, *_: Any, **__: Any) -> None:
        """Clip the gradient's norm as configured."""
        clip(self.parameters(), self.optimizer_config)

    def training_step(self, batch: MotifBatch, batch_idx: int) -> Tensor:
        """Return the cross-entropy of the motif's kind."""
        return functional.cross_entropy(self(batch.inputs), batch.labels[:, 0])

    def on_validation_epoch_start(self) -> None:
        """Reset the counts."""
        self._right = torch.zeros((), device=self.device)
        self._checked = 0

    def validation_step(self, batch: MotifBatch, batch_idx: int) -> None:
        """Count the motifs that are classified correctly."""
        self._right += (self(batch.inputs).argmax(1) == batch.labels[:, 0]).sum()
        self._checked += len(batch.labels)

    def on_validation_epoch_end(self) -> None:
        """Log the accuracy."""
        accuracy = float(self._right) / self._checked
        self.log("val_accuracy", accuracy, rank_zero_only=True)  # the same in all processes
        self.progress_note = f"single motifs {accuracy:.3f}"

    def evaluations(self, folder: Path) -> list[Evaluation]:
        """Return the one evaluation, of the last weights."""
        return [Evaluation({"steps_above": 0}, folder / "checkpoints" / "last.ckpt", self.evaluation_config.items)]

    @property
    def most_test_items(self) -> int:
        """Test items of the one evaluation."""
        return self.evaluation_config.items

    def test_step(self, batch: MotifBatch, batch_idx: int) -> None:
        """Do nothing: the data define the sets of single motifs."""

    def on_test_epoch_end(self) -> None:
        """Measure the error on every set of single motifs."""
        items = self.evaluation_config.items
        self.measurements = single_motif_errors(self.data, items, lambda x: self(x.to(self.device)), self.kinds)
