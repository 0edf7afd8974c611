"""Settings of EncDiff; values and their sources are in ``configs/method/encdiff.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sparseid.methods.ddl.settings import alpha_setting, halved_too_often, unused_alpha
from sparseid.methods.factor_vae.settings import ScoreSettings
from sparseid.optional import absence
from sparseid.settings import DataSettings, Keys, MethodSettings, Run, SettingsError, setting

ENCDIFF, AUTOENCODER = "encdiff", "autoencoder"
"""Choices of ``method.training``: the diffusion model, or the autoencoder whose latents it denoises."""


@dataclass
class AutoencoderSettings:
    """The vector-quantised autoencoder and its run, which comes first."""

    samples: int = setting("Training images of its run.", at_least=1)
    batch_size: int = setting("Images per step of its run.", at_least=1)
    width: int = setting("Channels of its first convolution.", default=32, at_least=1)
    multipliers: list[int] = setting(
        "Channels of each level as multiples of the width; every level but the last halves the side.",
        default=[1, 2, 4],
    )
    blocks: int = setting("Residual blocks of a level.", default=2, at_least=1)
    groups: int = setting(
        "Groups of channels that are normalised together; they divide the width.", default=32, at_least=1
    )
    channels: int = setting("Channels of the latents.", default=3, at_least=1)
    codes: int = setting("Vectors of the codebook.", default=2048, at_least=2)
    learning_rate: float = setting("Adam's learning rate, with betas 0.5 and 0.9.", above=0)
    adversarial: float = setting(
        "Weight of a discriminator of patches, relative to the gradient of the pixels' error; 0 for none.",
        default=0.0,
        at_least=0,
    )
    discriminator_width: int = setting("Channels of its first convolution.", default=64, at_least=1)


@dataclass
class DenoiserSettings:
    """The U-Net that predicts noise, and the steps of diffusion."""

    width: int = setting("Channels of its first convolution.", default=64, at_least=1)
    multipliers: list[int] = setting(
        "Channels of each level as multiples of the width; every level but the last halves the side.",
        default=[1, 2, 4, 4],
    )
    attention: list[bool] = setting(
        "For each level, whether it attends to the tokens.", default=[True, True, True, False]
    )
    blocks: int = setting("Residual blocks of a level.", default=2, at_least=1)
    groups: int = setting(
        "Groups of channels that are normalised together; they divide the width.", default=32, at_least=1
    )
    heads: int = setting("Heads of attention.", default=8, at_least=1)
    steps: int = setting("Number of steps of diffusion.", default=1000, at_least=1)
    beta_start: float = setting("Variance of the first step.", default=0.0015, above=0, below=1)
    beta_end: float = setting("Variance of the last step.", default=0.0155, above=0, below=1)
    decay: float = setting(
        "Decay of the moving average of its weights, which decodes; lower during the first steps.",
        default=0.9999,
        at_least=0,
        below=1,
    )


@dataclass
class SwapSettings:
    """Swaps and traversals of units at the end, and the classifier that reads the factors of decoded images."""

    steps: int = setting("Steps of DDIM.", default=200, at_least=1)
    images: int = setting("Images of a batch, whose units are replaced by those of its first.", default=8, at_least=2)
    batches: int = setting("Number of batches; the first is drawn and its units are traversed.", default=8, at_least=1)
    reader_steps: int = setting("Steps that train the classifier.", default=5000, at_least=1)
    reader_width: int = setting("Channels of its first convolution.", default=32, at_least=1)


@dataclass
class EncDiffSettings(MethodSettings):
    """Image encoder, token networks and latent diffusion, with a penalty on the denoiser or the code."""

    name: str = "encdiff"
    training: str = setting(
        "encdiff, or the autoencoder that its run starts from.", default=ENCDIFF, choices=(ENCDIFF, AUTOENCODER)
    )
    units: int = setting("Size of the code.", at_least=2)
    encoder_width: int = setting("Channels of the image encoder.", default=128, at_least=1)
    encoder_layers: int = setting("Convolutions of the image encoder, each of which halves the side.", at_least=1)
    third_relu: bool = setting("Use a ReLU after the encoder's third convolution, too.", default=False)
    token_hidden: list[int] = setting("Hidden units of each unit's network.", default=[64, 128])
    token_size: int = setting("Size of each unit's token.", default=16, at_least=1)
    lr: float = setting("AdamW's learning rate.", above=0)
    warmup_steps: int = setting("Steps of its linear warm-up.", default=10_000, at_least=0)
    penalty: str = setting(
        "Penalty: dependency (the paper's), latent or none.", default="none", choices=("dependency", "latent", "none")
    )
    alpha: float = alpha_setting(default=0.0)
    estimator: str = setting(
        "Derivatives of the dependency penalty: jvp (forward mode, exact) or finite_difference.",
        default="jvp",
        choices=("jvp", "finite_difference"),
    )
    coordinates: int = setting("Number of random units of each image for the dependency penalty.", default=1)
    unit_scale: str = setting(
        "Unit of the code in these derivatives: sd (standard deviations of the batch; the penalty then does not depend "
        "on the scale of the code, which nothing else holds) or raw.",
        default="sd",
        choices=("sd", "raw"),
    )
    target: str = setting(
        "Outputs that are penalised: noise (the prediction) or latents (those that it implies).",
        default="noise",
        choices=("noise", "latents"),
    )
    reduction: str = setting(
        "Reduction of the dependency penalty over positions and channels: mean or sum.",
        default="mean",
        choices=("mean", "sum"),
    )
    autoencoder: AutoencoderSettings = setting("Autoencoder of the images.", default=AutoencoderSettings)
    denoiser: DenoiserSettings = setting("Denoiser of its latents.", default=DenoiserSettings)
    swaps: SwapSettings = setting("Swaps and traversals.", default=SwapSettings)
    scores: ScoreSettings = setting("Samples of the scores.", default=ScoreSettings)

    loads = "sparseid.methods.encdiff.variants"
    interfaces = ("factor_images",)
    stacked = False

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the settings, by themselves or with the data."""
        if text := absence("diffusers", "diffusion"):
            yield SettingsError(("method.name",), text)
        yield from self._sizes(run)
        yield from unused_alpha(self.penalty, self.alpha)
        if self.training == AUTOENCODER and self.penalty != "none":
            text = "the autoencoder has no penalty: set method.penalty=none"
            yield SettingsError(("method.training", "method.penalty"), text)
        if not 1 <= self.coordinates <= self.units:
            text = f"there are {self.units} units: method.coordinates must be between 1 and {self.units}"
            yield SettingsError(("method.coordinates", "method.units"), text)
        if self.denoiser.beta_start > self.denoiser.beta_end:
            text = "noise grows with the step: method.denoiser.beta_start must not exceed method.denoiser.beta_end"
            yield SettingsError(("method.denoiser.beta_start", "method.denoiser.beta_end"), text)
        if self.swaps.steps >= self.denoiser.steps:
            text = f"DDIM takes fewer steps than diffusion: method.swaps.steps must be below {self.denoiser.steps}"
            yield SettingsError(("method.swaps.steps", "method.denoiser.steps"), text)
        if self.autoencoder.samples < self.autoencoder.batch_size:
            text = "not even one batch would be trained: raise method.autoencoder.samples"
            yield SettingsError(("method.autoencoder.samples", "method.autoencoder.batch_size"), text)
        if run.trainer.batch_size // run.trainer.devices < 2:
            text = "the encoder normalises over the batch: trainer.batch_size must be at least 2 per device"
            yield SettingsError(("trainer.batch_size", "trainer.devices"), text)
        if run.trainer.precision != "32":
            text = "derivatives and the codebook need single precision: set trainer.precision=32"
            yield SettingsError(("trainer.precision",), text)

    def _sizes(self, run: Run) -> Iterator[SettingsError]:
        """Yield networks that do not fit the images or each other."""
        autoencoder, denoiser = self.autoencoder, self.denoiser
        for key, network in (("autoencoder", autoencoder), ("denoiser", denoiser)):
            if not network.multipliers or min(network.multipliers) < 1:
                text = f"method.{key}.multipliers needs a positive number for each level"
                yield SettingsError((f"method.{key}.multipliers",), text)
            if network.width % network.groups:
                text = f"{network.width} channels cannot be divided into {network.groups} groups: change one of them"
                yield SettingsError((f"method.{key}.groups", f"method.{key}.width"), text)
        if not self.token_hidden or min(self.token_hidden) < 1:
            yield SettingsError(("method.token_hidden",), "method.token_hidden needs a positive number for each layer")
        if len(denoiser.attention) != len(denoiser.multipliers):
            text = "method.denoiser.attention needs true or false for each of method.denoiser.multipliers"
            yield SettingsError(("method.denoiser.attention", "method.denoiser.multipliers"), text)
        if any(multiplier * denoiser.width % denoiser.heads for multiplier in denoiser.multipliers):
            text = "method.denoiser.heads must divide the channels of each level"
            yield SettingsError(("method.denoiser.heads", "method.denoiser.width"), text)
        halved = {
            "method.encoder_layers": self.encoder_layers,
            "method.autoencoder.multipliers": len(autoencoder.multipliers) - 1,
        }
        halved["method.denoiser.multipliers"] = halved["method.autoencoder.multipliers"] + len(denoiser.multipliers) - 1
        for key, times in halved.items():
            yield from halved_too_often(run.data.size, times, key, "lower or shorten")

    def validation(self) -> tuple[int, int]:
        """Return validation images; their times are left to the data."""
        return 0, self.scores.validation_images

    def parent_run(self, run: Run) -> dict[str, Any]:
        """Return the settings of the run of the autoencoder, which runs with any penalty share."""
        if self.training == AUTOENCODER:
            return {}
        return {
            "method.training": AUTOENCODER,
            "method.penalty": "none",
            "method.alpha": 0.0,
            "trainer.max_samples": self.autoencoder.samples,
            "trainer.batch_size": self.autoencoder.batch_size,
        }

    def row_keys(self, data: DataSettings) -> Keys:
        """Return backbone and penalty as in the paper's tables, and the weight."""
        if self.training == AUTOENCODER:
            return {"backbone": "encdiff_autoencoder"}
        return {"backbone": "encdiff", "regulariser": self.penalty, "alpha": self.alpha}
