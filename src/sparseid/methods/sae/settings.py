"""Settings of sparse autoencoders; values and their sources are in ``configs/method/sae.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.settings import DataSettings, Keys, MethodSettings, Run, SettingsError, setting

TOPK, BATCHTOPK, JSAE = "topk", "batchtopk", "jsae"


@dataclass
class SAESettings(MethodSettings):
    """Two sparse autoencoders, of the input and of the output of an MLP."""

    name: str = "sae"
    kind: str = setting(
        "topk (the k largest scores of each token), batchtopk (k for each token on average over a batch) or jsae "
        "(topk, and a penalty on the Jacobian between the two codes).",
        choices=(TOPK, BATCHTOPK, JSAE),
    )
    features: int = setting("Rows of each dictionary.", at_least=2)
    k: int = setting("Active features of a token.", at_least=1)
    lr: float = setting("Adam's learning rate.", above=0)
    beta2: float = setting("Adam's second beta; the first is 0.9.", default=0.999, above=0, below=1)
    warmup: float = setting("Part of the training in which the learning rate rises.", default=0.0, at_least=0, below=1)
    decay: float = setting("Part, at the end, in which it falls to 0.", default=0.0, at_least=0, at_most=1)
    clip: float = setting("Norm to which the gradient of both autoencoders is clipped.", above=0)
    idle_weight: float = setting(
        "Weight of the error with which idle features reconstruct what is left; 0 for none.", default=0.0, at_least=0
    )
    idle_batches: int = setting("Batches without activation after which a feature is idle.", default=5, at_least=1)
    idle_features: int = setting("Idle features of a token that take part, at most.", default=512, at_least=1)
    jacobian_weight: float = setting(
        "Weight of the mean absolute entry of the Jacobian between active features (jsae).",
        default=0.0,
        at_least=0,
        because="a negative weight would reward dense Jacobians",
    )
    jacobian_warmup: float = setting(
        "Part of the training in which this weight rises.", default=0.05, at_least=0, at_most=1
    )
    loss_sequences: int = setting(
        "Held-out sequences, at most, on which the transformer predicts the next token with the dictionary in place of "
        "its MLP's output; 0 for none.",
        default=64,
        at_least=0,
    )

    loads = "sparseid.methods.sae.module:SAEModule"
    interfaces = ("mlp_activations",)
    stacked = False

    @property
    def own_limit(self) -> int:
        """Idle batches above which a feature is dead by the count of the repository from which the kind comes."""
        return 1000 if self.kind == JSAE else 5

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the settings, by themselves or with the trainer."""
        if self.k > self.features:
            text = f"a dictionary of method.features={self.features} has no {self.k} to activate: lower method.k"
            yield SettingsError(("method.features", "method.k"), text)
        if self.jacobian_weight and self.kind != JSAE:
            text = "method.jacobian_weight is for method.kind=jsae: set it to 0, or choose that kind"
            yield SettingsError(("method.jacobian_weight", "method.kind"), text)
        if run.trainer.precision != "32":
            text = "the largest scores need single precision: set trainer.precision=32"
            yield SettingsError(("trainer.precision",), text)
        if run.trainer.devices > 1:
            text = "features are counted over all tokens of a batch: set trainer.devices=1"
            yield SettingsError(("trainer.devices",), text)

    def row_keys(self, data: DataSettings) -> Keys:
        """Return the kind, as in the paper's table, and the sizes."""
        return {"method": self.kind, "features": self.features, "k": self.k}
