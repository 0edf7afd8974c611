"""Retrained baseline: continued training of the decoder on a frozen Sparling encoder (section 5.2)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from torch import nn

from sparseid.measurements import Evaluation
from sparseid.methods.module import ExperimentModule
from sparseid.methods.sparling.evaluation import DecodedLabels
from sparseid.methods.sparling.module import SparlingModule
from sparseid.methods.sparling.networks import Domain, densities

if TYPE_CHECKING:
    from sparseid.data.batch import MotifBatch
    from sparseid.methods.sparling.settings import SparlingSettings


class RetrainedModule(SparlingModule):
    """Sparling without the sparse layer: the decoder gets the dense outputs of the encoder, whose weights are frozen.

    Encoder and decoder start from a Sparling run (`start_from`) with a new optimiser. The running statistics of the
    encoder's batch norm are still updated, as in the authors' code. The density is never cut.

    Parameters
    ----------
    method, domain, batch_size, seed
        As in `SparlingModule`; ``method.retrained`` selects the density of the Sparling run.
    """

    def __init__(self, method: SparlingSettings, domain: Domain, batch_size: int, seed: int = 0) -> None:
        never_cut = replace(method.schedule, target_fall_per_sample=0.0, restart_after=0)
        super().__init__(replace(method, schedule=never_cut), domain, batch_size, seed)
        self.sparse = nn.Identity()
        self.encoder.requires_grad_(False)
        self.most_densities = 1
        self._first_milestone = max(len(densities(method)) - 1 - method.retrained.steps_above, 0)

    def starting_weights(self, folder: Path) -> Path | None:
        """Return the file of the initial weights in the run folder: at the requested density, or the next higher one.

        None if the run has reached no such density.
        """
        milestones = sorted((folder / "checkpoints" / "milestones").glob("density-*.ckpt"))
        fitting = [path for path in milestones if int(path.stem.removeprefix("density-")) <= self._first_milestone]
        return fitting[-1] if fitting else None

    def start_from(self, weights: dict[str, Any]) -> None:
        """Load encoder and decoder from the ``state_dict`` of a Sparling run."""
        for name, part in (("encoder.", self.encoder), ("decoder.", self.decoder)):
            part.load_state_dict({key.removeprefix(name): w for key, w in weights.items() if key.startswith(name)})

    def evaluations(self, folder: Path) -> list[Evaluation]:
        """Return the one evaluation, of the last weights."""
        return [Evaluation({"steps_above": 0}, folder / "checkpoints" / "last.ckpt", self.evaluation_config.items)]

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        ExperimentModule.on_test_start(self)  # no motifs are matched
        self._decoded = DecodedLabels(self.domain.vocabulary - 1)

    def test_step(self, batch: MotifBatch, batch_idx: int) -> None:
        """Decode greedily; the dense map has no motifs to match."""
        self._decoded.add(batch.labels, self.decode(self(batch.inputs)))

    def on_test_epoch_end(self) -> None:
        """Measure the end-to-end error."""
        self.measurements = self._decoded.measurements()
