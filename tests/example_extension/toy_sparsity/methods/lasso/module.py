"""The lasso as a LightningModule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from sparseid.measurements import Measurement, units
from sparseid.methods.module import ExperimentModule
from sparseid.settings import RunNumbers
from toy_sparsity.methods.lasso.metrics import METRICS, support_f1
from toy_sparsity.methods.lasso.settings import LassoSettings

if TYPE_CHECKING:
    from toy_sparsity.data.sparse_linear.datamodule import Batch, SparseLinearData


class LassoModule(ExperimentModule["SparseLinearData"]):
    """A linear model whose weights are shrunk towards zero after each step.

    Parameters
    ----------
    settings
        Penalty and learning rate.
    features
        Features of a sample.
    """

    def __init__(self, settings: LassoSettings, features: int) -> None:
        super().__init__()
        self.settings = settings
        self.weights = nn.Parameter(torch.zeros(features))

    @classmethod
    def from_settings(cls, settings: LassoSettings, data: SparseLinearData, numbers: RunNumbers) -> LassoModule:
        """Return the untrained model of a run."""
        return cls(settings, data.settings.features)

    def forward(self, x: Tensor) -> Tensor:
        """Return labels (batch,) of inputs (batch, features)."""
        return x @ self.weights

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return plain gradient descent."""
        return torch.optim.SGD(self.parameters(), lr=self.settings.lr)

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Return the mean squared error."""
        x, y = batch
        return functional.mse_loss(self(x), y)

    def on_train_batch_end(self, *_: object) -> None:
        """Take the proximal step of the penalty: weights reach zero exactly."""
        self.weights.data = functional.softshrink(self.weights.data, self.settings.lr * self.settings.penalty)

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        """Log the mean squared error."""
        x, y = batch
        self.log("val_mse", functional.mse_loss(self(x), y), batch_size=len(y))

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        super().on_test_start()
        self.squared_errors: list[Tensor] = []

    def test_step(self, batch: Batch, batch_idx: int) -> None:
        """Collect the squared errors."""
        x, y = batch
        self.squared_errors.append((self(x) - y) ** 2)

    def on_test_epoch_end(self) -> None:
        """Measure the metrics; keep the weights for figures."""
        errors, learned = torch.cat(self.squared_errors), self.weights.detach().cpu().numpy()
        values = {"support_f1": support_f1(learned, self.data.weights), "mse": float(errors.mean())}
        unit = units(METRICS)
        self.measurements = [Measurement(name, value, unit[name], len(errors)) for name, value in values.items()]
        self.arrays = {"weights": learned, "true_weights": self.data.weights}
