"""Settings of DisCo; values and their sources are in ``configs/method/disco.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sparseid.methods.ddl.settings import alpha_setting, halved_too_often, unused_alpha
from sparseid.methods.factor_vae.settings import ScoreSettings
from sparseid.settings import DataSettings, Keys, MethodSettings, Paths, Run, SettingsError, setting

VAE, STYLEGAN2 = "vae", "stylegan2"
SMALLEST_SIDE = 8
"""Side of the smallest images of a StyleGAN2, in pixels."""


@dataclass
class GeneratorSettings(Paths):
    """Frozen generator whose directions are found."""

    kind: str = setting(
        "vae (decoder of a VAE that a run of its own trains on the same images) or stylegan2 (user-provided).",
        default=VAE,
        choices=(VAE, STYLEGAN2),
    )
    checkpoint: str = setting(
        "For stylegan2: file with its weights for images of data.size pixels, under the names of "
        "rosinality/stylegan2-pytorch.",
        default="",
        file=True,
    )
    latents: int = setting("Dimensions of the space in which directions are found.", at_least=2)
    channels: int = setting("For stylegan2: channels of every layer.", default=256, at_least=1)
    mapping_layers: int = setting("For stylegan2: layers from normal noise to these latents.", default=3, at_least=1)
    widths: list[int] = setting(
        "For vae: channels after each convolution of its encoder, each of which halves the side; its decoder mirrors "
        "them.",
        default=[32, 32, 64, 64],
    )
    hidden: int = setting("For vae: units of the fully connected layers.", default=256, at_least=1)
    beta: float = setting("For vae: weight of the divergence from the prior.", default=1.0, above=0)
    lr: float = setting("For vae: Adam's learning rate.", default=0.001, above=0)
    samples: int = setting("For vae: training samples of its run.", default=640_000, at_least=1)
    batch_size: int = setting("For vae: samples of a step of its run.", default=64, at_least=2)


@dataclass
class DisCoSettings(MethodSettings):
    """Disentanglement by contrast: a navigator in a generator's latents, and an encoder."""

    name: str = "disco"
    training: str = setting(
        "disco, or generator: the VAE whose decoder disco starts from; the same command runs it first.",
        default="disco",
        choices=("disco", "generator"),
    )
    generator: GeneratorSettings = setting("Generator.", default=GeneratorSettings)
    directions: int = setting("Number of directions that are found.", at_least=2)
    widths: list[int] = setting(
        "Channels after each convolution of the encoder; all but the first halve the side.",
        default=[64, 128, 256, 256, 256],
    )
    hidden: int = setting("Units of the encoder's two fully connected layers.", default=256, at_least=1)
    dims: int = setting("Size of the encoder's output, the representation.", default=64, at_least=2)
    positives: int = setting("Pairs of a step that are shifted along the queries' direction.", default=32, at_least=1)
    negatives: int = setting("Pairs of a step that are shifted along others.", default=64, at_least=1)
    shift_std: float = setting("Standard deviation of the length of a shift.", default=6.0, above=0)
    shift_min: float = setting("Smallest absolute length of a shift.", default=0.5, above=0)
    flipped_above: float = setting(
        "Similarity above which a negative pair gets it as its label instead of 0.", default=0.95
    )
    entropy: float = setting("Weight of the entropy of variations.", default=1.0, at_least=0)
    lr: float = setting("Adam's learning rate, with betas 0.9 and 0.999.", above=0)
    penalty: str = setting(
        "Penalty: dependency (the paper's, on the generated image by the directions), latent (on the encoder's output) "
        "or none.",
        default="none",
        choices=("dependency", "latent", "none"),
    )
    alpha: float = alpha_setting(default=0.0)
    estimator: str = setting(
        "Derivatives of the dependency penalty: secant (differences of the images that a step makes anyway, over the "
        "length of the shift) or jvp (forward mode, exact, one more pass).",
        default="secant",
        choices=("secant", "jvp"),
    )
    scores: ScoreSettings = setting("Samples of the scores.", default=ScoreSettings)

    loads = "sparseid.methods.disco.module:DisCoModule"
    interfaces = ("factor_images",)
    stacked = False

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the settings, by themselves or with the data."""
        made, size = self.generator, run.data.size
        if not 2 <= self.directions <= made.latents:
            text = f"directions are orthogonal: method.directions must be between 2 and {made.latents}"
            yield SettingsError(("method.directions", "method.generator.latents"), text)
        for key, widths, halved in (
            ("method.widths", self.widths, len(self.widths) - 1),
            ("method.generator.widths", made.widths, len(made.widths)),
        ):
            if not widths or min(widths) < 1:
                yield SettingsError((key,), f"{key} needs a positive number for each convolution")
            else:
                yield from halved_too_often(size, halved, key)
        if made.kind == STYLEGAN2 and (size < SMALLEST_SIDE or size & (size - 1)):
            text = f"a StyleGAN2 has images of {SMALLEST_SIDE}, 16, 32, ... pixels"
            yield SettingsError(("method.generator.kind", "data.size"), text)
        if self.training == "generator" and made.kind != VAE:
            text = "only a vae is trained here: set method.generator.kind=vae, or method.training=disco"
            yield SettingsError(("method.training", "method.generator.kind"), text)
        if made.checkpoint and made.kind != STYLEGAN2:
            text = "method.generator.checkpoint is for method.generator.kind=stylegan2: set it, or remove the file"
            yield SettingsError(("method.generator.checkpoint", "method.generator.kind"), text)
        if made.samples < made.batch_size:
            keys = ("method.generator.samples", "method.generator.batch_size")
            yield SettingsError(keys, "not even one batch of the generator would be trained: raise its samples")
        yield from unused_alpha(self.penalty, self.alpha)
        if run.trainer.devices != 1:
            text = "every query is compared with all pairs of a step: set trainer.devices=1"
            yield SettingsError(("trainer.devices",), text)

    def parent_run(self, run: Run) -> dict[str, Any]:
        """Return the settings of the run that trains the generator; empty for that run and without a VAE."""
        if self.training == "generator" or self.generator.kind != VAE:
            return {}
        return {
            "method.training": "generator",
            "method.penalty": "none",
            "method.alpha": 0.0,
            "method.estimator": DisCoSettings.estimator,
            "trainer.max_samples": self.generator.samples,
            "trainer.batch_size": self.generator.batch_size,
        }

    def validation(self) -> tuple[int, int]:
        """Return validation images; their times are left to the data."""
        return 0, self.scores.validation_images

    def row_keys(self, data: DataSettings) -> Keys:
        """Return backbone, penalty as in the paper's table, and weight; of a generator its kind alone."""
        if self.training == "generator":
            return {"backbone": "disco_generator"}
        return {"backbone": "disco", "regulariser": self.penalty, "alpha": self.alpha, "generator": self.generator.kind}
