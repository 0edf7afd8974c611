"""Settings of FactorVAE; values and their sources are in ``configs/method/factor_vae.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.methods.ddl.settings import alpha_setting, halved_too_often, unused_alpha
from sparseid.settings import DataSettings, Keys, MethodSettings, Run, SettingsError, setting


@dataclass
class ScoreSettings:
    """Samples of the scores, those of disentanglement_lib by default, and of the reconstruction error."""

    train_votes: int = setting("Votes that fit the classifier of the FactorVAE score.", default=10_000, at_least=1)
    eval_votes: int = setting("Votes that score it.", default=5_000, at_least=1)
    vote_batch: int = setting("Observations of a vote.", default=64, at_least=2)
    variance_samples: int = setting(
        "Observations for the variance of each dimension of the code.", default=10_000, at_least=2
    )
    dci_train: int = setting("Observations that fit the trees of DCI.", default=10_000, at_least=1)
    dci_test: int = setting("Observations that score them.", default=5_000, at_least=1)
    test_images: int = setting("Images of the reconstruction error at the end.", default=10_000, at_least=1)
    validation_images: int = setting("Images of the reconstruction error during training.", default=1_000, at_least=1)


@dataclass
class FactorVAESettings(MethodSettings):
    """FactorVAE on images, with a penalty on its decoder or its code."""

    name: str = "factor_vae"
    latents: int = setting("Size of the code.", at_least=2)
    widths: list[int] = setting(
        "Channels after each convolution of the encoder, each of which halves the side; the decoder mirrors them.",
        default=[32, 32, 64, 64],
    )
    kernels: list[int] = setting(
        "Sides of the encoder's kernels, 2 or 4: 4,4,2,2 (disentanglement_lib) or 4,4,4,4 (disent, 1Konny).",
        default=[4, 4, 2, 2],
    )
    hidden: int = setting("Units of the fully connected layer of encoder and decoder each.", default=256, at_least=1)
    discriminator_hidden: int = setting("Units of every hidden layer of the discriminator.", default=1000, at_least=1)
    discriminator_layers: int = setting("Number of its hidden layers.", default=6, at_least=1)
    lr: float = setting("Adam's learning rate for the autoencoder, with betas 0.9 and 0.999.", above=0)
    discriminator_lr: float = setting("Adam's learning rate for the discriminator, with betas 0.5 and 0.9.", above=0)
    gamma: float = setting("Weight of the total correlation.", at_least=0)
    permuted_batch: str = setting(
        "Batch whose permuted latents the discriminator sees: independent (a second one, drawn for this) or same.",
        default="independent",
        choices=("independent", "same"),
    )
    penalty: str = setting(
        "Penalty: dependency (the paper's), latent, orojar, hessian_penalty or none.",
        default="none",
        choices=("dependency", "latent", "orojar", "hessian_penalty", "none"),
    )
    alpha: float = alpha_setting(default=0.0)
    estimator: str = setting(
        "Derivatives of the dependency penalty: jvp (forward mode, exact) or finite_difference (cheaper).",
        default="jvp",
        choices=("jvp", "finite_difference"),
    )
    coordinates: int = setting("Number of random coordinates of each sample for the dependency penalty.", default=1)
    target: str = setting(
        "Outputs that are penalised: image (probabilities) or logits.", default="image", choices=("image", "logits")
    )
    reduction: str = setting(
        "Reduction of the dependency penalty over pixels and channels: mean (so that alpha does not depend on the "
        "resolution) or sum.",
        default="mean",
        choices=("mean", "sum"),
    )
    scores: ScoreSettings = setting("Samples of the scores.", default=ScoreSettings)

    loads = "sparseid.methods.factor_vae.module:FactorVAEModule"
    interfaces = ("factor_images",)
    stacked = False

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the settings, by themselves or with the data."""
        if not self.widths or min(self.widths) < 1:
            yield SettingsError(("method.widths",), "method.widths needs a positive number for each convolution")
        else:
            yield from halved_too_often(run.data.size, len(self.widths), "method.widths")
        if len(self.kernels) != len(self.widths) or not set(self.kernels) <= {2, 4}:
            text = "method.kernels needs 2 or 4 for each of method.widths"
            yield SettingsError(("method.kernels", "method.widths"), text)
        yield from unused_alpha(self.penalty, self.alpha)
        if not 1 <= self.coordinates <= self.latents:
            text = f"there are {self.latents} latents: method.coordinates must be between 1 and {self.latents}"
            yield SettingsError(("method.coordinates", "method.latents"), text)
        if run.trainer.batch_size // run.trainer.devices < 2:
            text = "latents are permuted over the batch: trainer.batch_size must be at least 2 per device"
            yield SettingsError(("trainer.batch_size", "trainer.devices"), text)
        if run.trainer.precision != "32":
            text = "the total correlation and derivatives need single precision: set trainer.precision=32"
            yield SettingsError(("trainer.precision",), text)

    def validation(self) -> tuple[int, int]:
        """Return validation images; their times are left to the data."""
        return 0, self.scores.validation_images

    def row_keys(self, data: DataSettings) -> Keys:
        """Return backbone and penalty as in the paper's tables, and the weights."""
        return {"backbone": "factorvae", "regulariser": self.penalty, "alpha": self.alpha, "gamma": self.gamma}
