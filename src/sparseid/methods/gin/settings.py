"""Settings of the flow; values and their sources are in ``configs/method/gin.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.methods.ddl.settings import alpha_setting, unused_alpha
from sparseid.settings import DataSettings, Keys, MethodSettings, Run, SettingsError, setting


@dataclass
class GINSettings(MethodSettings):
    """A volume-preserving flow of images, with a penalty on its inverse or on its latents."""

    name: str = "gin"
    classes: int = setting(
        "Classes of images whose latents have deviations of their own; 1 (no use of labels), or all of the data.",
        default=1,
        at_least=1,
    )
    widths: list[int] = setting(
        "Channels in the convolutional subnetworks of each level; a level starts by halving the side.", default=[16, 32]
    )
    blocks: int = setting("Coupling blocks of each convolutional level.", default=4, at_least=1)
    hidden: int = setting("Units of the hidden layers in the subnetworks of the last level.", default=392, at_least=1)
    last_blocks: int = setting("Coupling blocks of the last level, which is fully connected.", default=2, at_least=1)
    clamp: float = setting("Bound of the log scale of a coupling, before its mean is subtracted.", default=2.0, above=0)
    noise_std: float = setting(
        "Standard deviation of the noise that is added to images, which are in [0, 1]; without any, pixels that never "
        "vary would have no density.",
        default=0.01,
        above=0,
    )
    lr: float = setting("Adam's learning rate, with betas 0.9 and 0.999.", above=0)
    lr_falls_at: float = setting(
        "Fraction of the training after which the learning rate is a tenth; 1 for a constant one.",
        default=0.5,
        above=0,
        at_most=1,
    )
    penalty: str = setting(
        "Penalty: dependency (the paper's, on the inverse flow), latent or none.",
        default="none",
        choices=("dependency", "latent", "none"),
    )
    alpha: float = alpha_setting(default=0.0)
    estimator: str = setting(
        "Derivatives of the dependency penalty: finite_difference (costs one inverse, as the image is known) or jvp "
        "(forward mode, exact, about twice as slow).",
        default="finite_difference",
        choices=("finite_difference", "jvp"),
    )
    coordinates: int = setting(
        "Number of random coordinates of each sample for the dependency penalty.", default=1, at_least=1
    )
    units: str = setting(
        "Latents by which the dependency penalty differentiates: deviation (in units of their standard deviation over "
        "the batch, drawn in proportion to it) or raw (all with equal probability).",
        default="deviation",
        choices=("deviation", "raw"),
    )
    traversed: int = setting("Latents that are traversed for the figure, by decreasing deviation.", default=10)
    fitted_images: int = setting(
        "Training images from which mean and deviation of the latents are measured for the figure.",
        default=10_000,
        at_least=2,
    )
    volume_images: int = setting(
        "Test images at which the determinant of the Jacobian is computed.", default=8, at_least=1
    )

    loads = "sparseid.methods.gin.module:GINModule"
    interfaces = ("images",)
    stacked = False

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the settings, by themselves or with the trainer."""
        if not self.widths or min(self.widths) < 1:
            yield SettingsError(("method.widths",), "method.widths needs a positive number for each level")
        if self.classes not in (1, run.data.classes):
            text = f"the images have {run.data.classes} classes: method.classes must be 1 or {run.data.classes}"
            yield SettingsError(("method.classes", "data.source"), text)
        yield from unused_alpha(self.penalty, self.alpha)
        if run.trainer.batch_size < 2:
            text = "deviations are those of a batch: trainer.batch_size must be at least 2"
            yield SettingsError(("trainer.batch_size",), text)
        if run.trainer.devices != 1:
            text = "deviations are those of the whole batch: set trainer.devices=1"
            yield SettingsError(("trainer.devices",), text)
        if run.trainer.precision != "32":
            text = "the inverse and derivatives need single precision: set trainer.precision=32"
            yield SettingsError(("trainer.precision",), text)

    def row_keys(self, data: DataSettings) -> Keys:
        """Return the model as in the paper's figure, the penalty and its weight; the classes, if they are used."""
        classes: Keys = {} if self.classes == 1 else {"classes": self.classes}
        return {"model": "flow", "regulariser": self.penalty, "alpha": self.alpha, **classes}
