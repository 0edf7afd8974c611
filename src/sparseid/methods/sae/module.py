"""Sparse autoencoders of an MLP's input and output as a LightningModule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.lr_scheduler import LambdaLR

from sparseid.methods.module import ExperimentModule
from sparseid.methods.sae.codes import Codes
from sparseid.methods.sae.evaluation import CodeTotals, JacobianTotals, PartResult, measure
from sparseid.methods.sae.jacobian import jacobian_block, mean_absolute_jacobian, through_hidden
from sparseid.methods.sae.losses import idle_error, ramp, squared_error
from sparseid.methods.sae.networks import Encoded, SparseAutoencoder, Standardised, standardised
from sparseid.methods.sae.settings import BATCHTOPK, JSAE, SAESettings

if TYPE_CHECKING:
    from sparseid.data.batch import ActivationBatch
    from sparseid.data.mlp_activations.datamodule import MLPActivationsData
    from sparseid.settings import RunNumbers

PARTS = ("input", "output")
"""The codes: of what enters the MLP, and of what leaves it."""
LOG_EVERY = 50
"""Number of steps between two points of the curves of the loss's terms."""


class Losses(NamedTuple):
    """Terms of a step, summed over both codes.

    Attributes
    ----------
    reconstruction, idle, jacobian
        Mean squared error, error of idle features and mean absolute entry of the Jacobian, not weighted.
    """

    reconstruction: Tensor
    idle: Tensor
    jacobian: Tensor


class SAEModule(ExperimentModule["MLPActivationsData"]):
    """A pair of sparse autoencoders, of the input and of the output of an MLP.

    TopK and BatchTopK standardise every token, center it at the decoder's bias and train idle features; JSAE takes
    tokens as they are, has a bias in the encoder, and penalises the Jacobian between the codes.

    Parameters
    ----------
    settings
        Kind, sizes and weights.
    width
        Size of a token's vector.
    steps
        Steps of the training, for the schedules.
    """

    def __init__(self, settings: SAESettings, width: int, steps: int) -> None:
        super().__init__()
        self.settings, self.steps = settings, steps
        kind = {"per_batch": settings.kind == BATCHTOPK, "centred": settings.kind != JSAE}
        self.networks = nn.ModuleDict(
            {part: SparseAutoencoder(width, settings.features, settings.k, **kind) for part in PARTS}
        )

    @classmethod
    def from_settings(cls, settings: SAESettings, data: MLPActivationsData, run: RunNumbers) -> SAEModule:
        """Build the module of a run for its data module."""
        return cls(settings, data.width, run.steps)

    def network(self, part: str) -> SparseAutoencoder:
        """Return the autoencoder of ``input`` or ``output``."""
        found = self.networks[part]
        assert isinstance(found, SparseAutoencoder)
        return found

    def on_fit_start(self) -> None:
        """Put the MLP on the device."""
        self.mlp = self.data.mlp.to(self.device)

    def seen(self, tokens: Tensor) -> Standardised:
        """Return tokens (tokens, width) as the autoencoders see them, with what was taken off."""
        if self.settings.kind != JSAE:
            return standardised(tokens)
        return Standardised(tokens, tokens.new_zeros(()), tokens.new_ones(()))

    # training

    def configure_optimizers(self) -> Any:
        """Return Adam, with a learning rate that rises first and falls at the end."""
        settings, steps = self.settings, self.steps
        adam = torch.optim.Adam(self.parameters(), lr=settings.lr, betas=(0.9, settings.beta2), fused=True)

        def factor(step: int) -> float:
            return min(ramp(step + 1, settings.warmup * steps), ramp(steps - step, settings.decay * steps))

        return {"optimizer": adam, "lr_scheduler": {"scheduler": LambdaLR(adam, factor), "interval": "step"}}

    def training_step(self, batch: ActivationBatch, batch_idx: int) -> Tensor:
        """Return the weighted sum of the terms."""
        settings = self.settings
        losses = self.losses(batch)
        if (self.global_step + 1) % LOG_EVERY == 0:
            self.log_dict(losses._asdict())
        weight = settings.jacobian_weight * ramp(self.global_step, settings.jacobian_warmup * self.steps)
        return losses.reconstruction + settings.idle_weight * losses.idle + weight * losses.jacobian

    def losses(self, batch: ActivationBatch) -> Losses:
        """Return the terms of a step, and count the batches in which features are idle."""
        settings = self.settings
        error, idle = (batch.inputs.new_zeros(()) for _ in range(2))
        encoded: dict[str, Encoded] = {}
        for part, tokens in zip(PARTS, batch, strict=True):
            network, values = self.network(part), self.seen(tokens).values
            encoded[part] = network.encode(values)
            network.count_idle(encoded[part].codes)
            reconstructions = network.decode(encoded[part].codes)
            error = error + squared_error(reconstructions, values)
            if settings.idle_weight:
                from_idle = network.from_idle(values, encoded[part], settings.idle_batches, settings.idle_features)
                idle = idle + idle_error(from_idle, reconstructions, values)
        jacobian = batch.inputs.new_zeros(())
        if settings.jacobian_weight:
            codes = [encoded[part].codes for part in PARTS]
            jacobian = mean_absolute_jacobian(*self._jacobian_parts(batch.inputs, codes))
        return Losses(error, idle, jacobian)

    def _jacobian_parts(self, inputs: Tensor, codes: list[Codes]) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """Return the arguments of `jacobian_block`."""
        into, out = through_hidden(self.network("input").decoder, self.network("output").encoder, self.mlp)
        of_inputs, of_outputs = (code.active.features.view(len(inputs), self.settings.k) for code in codes)
        return into, out, self.mlp.slopes(inputs), of_inputs, of_outputs

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Clip the gradient, then keep the dictionaries' rows at unit norm: the order of BatchTopK's code."""
        nn.utils.clip_grad_norm_(self.parameters(), self.settings.clip)
        for part in PARTS:
            self.network(part).normalise_decoder()

    # validation

    def validation_step(self, batch: ActivationBatch, batch_idx: int) -> None:
        """Log the mean squared error of both codes, on the scale that they are trained on."""
        pairs = ((self.network(part), self.seen(tokens).values) for part, tokens in zip(PARTS, batch, strict=True))
        errors = [squared_error(network(values), values) for network, values in pairs]
        self.log("val_reconstruction", torch.stack(errors).sum(), batch_size=len(batch.inputs))

    # new samples

    @property
    def input_shape(self) -> tuple[int, ...]:
        """A token's vectors before and after the MLP, and their width."""
        return (len(PARTS), self.network("input").width)

    def transform(self, inputs: Tensor, arrays: Mapping[str, np.ndarray]) -> Tensor:
        """Return the activations (samples, 2, features) of both dictionaries for tokens' vectors (samples, 2, width).

        BatchTopK chooses among all of these tokens, as among those of a batch of its tests.
        """
        parts = zip(PARTS, inputs.unbind(dim=1), strict=True)
        codes = [self.network(part).encode(self.seen(tokens).values).codes.dense() for part, tokens in parts]
        return torch.stack(codes, dim=1)

    # evaluation

    def on_test_start(self) -> None:
        """Discard the results of the last test."""
        super().on_test_start()
        networks = {part: self.network(part) for part in PARTS}
        self._totals = {part: CodeTotals(each.features, each.width, self.device) for part, each in networks.items()}
        self._jacobian = JacobianTotals() if self.settings.kind == JSAE else None
        self._reconstructions: list[Tensor] = []
        self.mlp = self.data.mlp.to(self.device)

    def test_step(self, batch: ActivationBatch, batch_idx: int) -> None:
        """Add a batch of held-out tokens to the sums."""
        codes = []
        for part, tokens in zip(PARTS, batch, strict=True):
            network, seen = self.network(part), self.seen(tokens)
            codes.append(network.encode(seen.values).codes)
            reconstructions = seen.undone(network.decode(codes[-1]))
            self._totals[part].add(tokens, reconstructions, codes[-1])
            if part == "output" and (missing := self._predicted_tokens - sum(map(len, self._reconstructions))) > 0:
                self._reconstructions.append(reconstructions[:missing])
        if self._jacobian is not None:
            self._jacobian.add(jacobian_block(*self._jacobian_parts(batch.inputs, codes)))

    @property
    def _predicted_tokens(self) -> int:
        """Number of held-out tokens, of whole sequences, on which the transformer predicts the next one."""
        context = self.data.settings.context
        return min(self.settings.loss_sequences, self.data.test_items // context) * context if self.data.predicts else 0

    def on_test_epoch_end(self) -> None:
        """Compute the measurements; keep how often each feature fires, and the transformer's losses."""
        parts = {
            part: PartResult(totals, int((self.network(part).idle > self.settings.own_limit).sum()))
            for part, totals in self._totals.items()
        }
        losses = self.data.losses_with(torch.cat(self._reconstructions)) if self._reconstructions else None
        self.measurements = measure(parts, self._jacobian, losses)
        self.arrays = {f"fired_{part}": totals.fired.cpu().numpy() for part, totals in self._totals.items()}
        if losses is not None:
            self.arrays["next_token_losses"] = np.array([losses.plain, losses.replaced, losses.without])
            if losses.recovered is None:
                text = f"from {losses.plain:.4g} to {losses.without:.4g}"
                self.remarks.append(
                    f"zeros for the MLP's output add nothing to the loss ({text}): there is nothing to recover"
                )
