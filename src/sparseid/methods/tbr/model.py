"""Model of TBR for a stack: an encoder, root weights, and a change of the weights along every arc of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch
from torch import Tensor, nn

from sparseid.stacking.batches import take
from sparseid.stacking.layers import StackedBatchNorm, StackedLinear, stacked_mlp

BATCH_NORM_MOMENTUM = 0.01
"""Weight of a batch in the moving statistics, about a hundred batches: with fewer, noise affects the test error."""


class TreeModel(nn.Module):
    """Linear predictor y = w_e . z of the encoded input z, w_e = w_0 + the deltas from the root to e (Eqs. 1, 2).

    Parameters
    ----------
    sizes
        Numbers of features of the input and the hidden layers, and of latents.
    incidence
        (environments, arcs): 1 for arcs on the path from the root to the environment.
    generators
        One per member, for its initial values.
    slope
        Slope of the leaky ReLU for negative inputs.
    root_weights_std
        Standard deviation of the initial root weights.
    batch_norm
        Whether latents are normalised over the batch.
    with_deltas
        Whether weights change along arcs; False: one weight vector for all environments (the baseline).

    Attributes
    ----------
    root_weights
        Weights w_0 of the root, (members, latents); not penalised.
    deltas
        Changes (members, arcs, latents), initially zero; None without deltas.

    Examples
    --------
    >>> arcs = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # a root with two leaves
    >>> model = TreeModel([4, 8, 3], arcs, [torch.Generator()], slope=0.2, root_weights_std=1.0)
    >>> model.root_weights.shape, model.deltas.shape
    (torch.Size([1, 3]), torch.Size([1, 2, 3]))
    """

    incidence: Tensor

    def __init__(
        self,
        sizes: Sequence[int],
        incidence: Tensor,
        generators: Sequence[torch.Generator],
        slope: float,
        root_weights_std: float,
        batch_norm: bool = False,
        with_deltas: bool = True,
    ) -> None:
        super().__init__()
        members, latents = len(generators), sizes[-1]
        activation = partial(nn.LeakyReLU, slope, inplace=True)
        self.encoder = stacked_mlp(sizes, generators, activation, last_bias=not batch_norm)
        self.norm = StackedBatchNorm(members, latents, BATCH_NORM_MOMENTUM) if batch_norm else nn.Identity()
        drawn = torch.stack([torch.randn(latents, generator=generator) for generator in generators])
        self.root_weights = nn.Parameter(root_weights_std * drawn)
        self.deltas = nn.Parameter(torch.zeros(members, incidence.shape[1], latents)) if with_deltas else None
        self.register_buffer("incidence", incidence, persistent=False)

    def encode(self, inputs: Tensor) -> Tensor:
        """Map inputs (members, batch, features) to latents (members, batch, latents)."""
        return self.norm(self.encoder(inputs))

    @torch.no_grad()
    def rotate(self, basis: Tensor) -> None:
        """Replace the latents z by B z, and the weights so that predictions do not change; not with batch norm.

        Parameters
        ----------
        basis
            Invertible matrix B, (members, latents, latents).
        """
        last = self.encoder[-1]
        assert isinstance(last, StackedLinear)
        assert last.bias is not None
        for parameter in (last.weight, last.bias):
            parameter.copy_(parameter @ basis.transpose(1, 2))
        inverse = torch.linalg.inv(basis)
        self.root_weights.copy_((self.root_weights[:, None] @ inverse)[:, 0])
        if self.deltas is not None:
            self.deltas.copy_(self.deltas @ inverse)

    def weights(self) -> Tensor:
        """Return the weights w_e (members, environments, latents) of all environments."""
        if self.deltas is None:
            return self.root_weights[:, None].expand(-1, len(self.incidence), -1)
        members, arcs, latents = self.deltas.shape
        # one product for all members: (environments, arcs) x (arcs, members * latents)
        changes = self.incidence @ self.deltas.transpose(0, 1).reshape(arcs, members * latents)
        return self.root_weights[:, None] + changes.view(-1, members, latents).transpose(0, 1)

    def predict(self, latents: Tensor, environments: Tensor) -> Tensor:
        """Return labels (members, batch) of latents (members, batch, latents) in environments (members, batch)."""
        if self.deltas is None:
            return (latents * self.root_weights[:, None]).sum(dim=-1)
        return (latents * take(self.weights().contiguous(), environments)).sum(dim=-1)

    def forward(self, inputs: Tensor, environments: Tensor) -> Tensor:
        """Return the labels (members, batch) predicted from inputs (members, batch, features)."""
        return self.predict(self.encode(inputs), environments)
