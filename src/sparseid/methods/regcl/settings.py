"""Settings of RegCL; numbers of the paper and its code stand in ``configs/method/regcl.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.settings import DataSettings, Keys, MethodSettings, Run, SettingsError, setting


@dataclass
class RegCLSettings(MethodSettings):
    """Regularised contrastive learning, and the baselines it is compared with."""

    name: str = "regcl"
    training: str = setting(
        "hybrid: InfoNCE in time on the whole embedding and by label on the coordinates of the observed factor; "
        "supervised_contrastive: by label alone; supervised: mean squared error of the labels. The last two embed the "
        "observed factor only.",
        choices=("supervised", "supervised_contrastive", "hybrid"),
    )
    width_from: str = setting(
        "Hidden layers have 30, 30 and 10 units per dimension of the output, or per latent (latents).",
        default="output",
        choices=("output", "latents"),
    )
    head: str = setting("Function that bounds the outputs.", default="clip", choices=("clip", "tanh", "identity"))
    head_scale: float = setting("Bound of the outputs.", above=0)
    similarity: str = setting(
        "Similarity in InfoNCE: euclidean (negative squared distance) or cosine.",
        default="euclidean",
        choices=("euclidean", "cosine"),
    )
    temperature: float = setting("Temperature of InfoNCE, constant.", above=0)
    positive_in_denominator: bool = setting(
        "The positive is one of the terms that InfoNCE sums; only with it the loss has a minimum.", default=False
    )
    penalty_weight: float = setting(
        "Lambda at the end of the ramp; 0 is the training without regularisation.", at_least=0
    )
    penalty_form: str = setting(
        "code: half the squared norm of the Jacobian's rows of each objective, so that in hybrid training the rows of "
        "the observed factor count twice; paper: the squared norm of the whole Jacobian (Eq. 3).",
        default="code",
        choices=("code", "paper"),
    )
    penalty_estimator: str = setting(
        "exact, or projection: on one random direction per sample.", default="exact", choices=("exact", "projection")
    )
    penalty_samples: int = setting(
        "References of a batch that the penalty is computed at; 0 is all of them.", default=0, at_least=0
    )
    ramp_on: float = setting("Fraction of training at which lambda leaves 0.", at_least=0, at_most=1)
    ramp_off: float = setting("Fraction of training at which lambda reaches its end.", at_least=0, at_most=1)
    lr: float = setting("Adam's learning rate, constant.", above=0)

    loads = "sparseid.methods.regcl.module:RegCLModule"
    interfaces = ("contrastive",)

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield what makes the settings impossible, by themselves or with the data."""
        batch_size = run.trainer.batch_size
        yield from self._labels_in_reach(run)
        if self.ramp_on > self.ramp_off:
            text = "the penalty's weight ends its rise after it begins: make method.ramp_off at least method.ramp_on"
            yield SettingsError(("method.ramp_on", "method.ramp_off"), text)
        if self.penalty_samples > batch_size:
            text = f"a batch has {batch_size} references: method.penalty_samples can be no more (0: all of them)"
            yield SettingsError(("method.penalty_samples", "trainer.batch_size"), text)
        if self.training != "supervised" and batch_size == 1:
            text = "contrastive training needs others to tell apart: make trainer.batch_size at least 2"
            yield SettingsError(("trainer.batch_size", "method.training"), text)
        unbounded = self.head == "identity" and self.similarity == "euclidean" and not self.positive_in_denominator
        if unbounded and self.training != "supervised":
            text = (
                "without a bounded head this loss has no minimum and the embedding grows for ever: write "
                "method.head=clip or tanh, or method.positive_in_denominator=true"
            )
            yield SettingsError(("method.head", "method.positive_in_denominator"), text)
        if self.training != "hybrid" and getattr(run.data, "setting", "a") == "b":
            text = "in setting b the scored latents have no labels: only method.training=hybrid learns them, in time"
            yield SettingsError(("method.training", "data.setting"), text)
        if run.trainer.precision != "32":
            text = "squared distances and Jacobians of RegCL need single precision: write trainer.precision=32"
            yield SettingsError(("trainer.precision",), text)

    def _labels_in_reach(self, run: Run) -> Iterator[SettingsError]:
        """Yield that supervised outputs are bounded below what they should be; contrastive ones are no labels."""
        if self.training != "supervised" or self.head == "identity":
            return
        largest, source = run.data.largest_label()
        if largest > self.head_scale:
            bound = f"method.head_scale={self.head_scale:g}"
            text = f"labels reach {largest:g}, outputs are bounded by {bound}: raise it or write method.head=identity"
            yield SettingsError(("method.head_scale", "method.head", source), text)

    def row_keys(self, data: DataSettings) -> Keys:
        """Add the training and the regularisation."""
        training = "hybrid_contrastive" if self.training == "hybrid" else self.training
        regularisation = "regularised" if self.penalty_weight else "none"
        return super().row_keys(data) | {"training": training, "regularisation": regularisation}
