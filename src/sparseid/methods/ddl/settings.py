"""Settings of Diverse Dictionary Learning; numbers and where they come from are in ``configs/method/ddl.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.settings import DataSettings, Keys, MethodSettings, Run, SettingsError, setting


@dataclass
class DDLSettings(MethodSettings):
    """A variational autoencoder with a penalty on which outputs of its decoder depend on which latents."""

    name: str = "ddl"
    hidden: int = setting("Units of every hidden layer.", at_least=1)
    layers: int = setting("Hidden layers of encoder and decoder each.", at_least=1)
    lr: float = setting("Adam's learning rate at the start.", above=0)
    schedule: str = setting(
        "constant, or cosine: the learning rate falls to 0 over the training.",
        default="constant",
        choices=("constant", "cosine"),
    )
    beta: float = setting(
        "Weight of the divergence, summed over latents, relative to the sum of squared errors.", at_least=0
    )
    alpha: float = setting(
        "Weight of the penalty; 0 is none.",
        at_least=0,
        because="a penalty of negative weight would reward dense dependencies",
    )
    penalty: str = setting(
        "dependency (the paper's), latent, orojar, hessian_penalty or none.",
        default="dependency",
        choices=("dependency", "latent", "orojar", "hessian_penalty", "none"),
    )
    jacobian: str = setting(
        "Computation of the dependency penalty: exact, or from random coordinates: an unbiased estimate.",
        default="exact",
        choices=("exact", "coordinates"),
    )
    coordinates: int = setting("Coordinates of each sample that the estimate is computed from.", default=1)

    loads = "sparseid.methods.ddl.module:DDLModule"
    interfaces = ("mixture",)

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield what makes the settings impossible, by themselves or with the data."""
        if self.penalty == "none" and self.alpha:
            text = "without a penalty there is nothing to weigh: write method.alpha=0, or pick a method.penalty"
            yield SettingsError(("method.penalty", "method.alpha"), text)
        if self.jacobian == "coordinates":
            if self.penalty != "dependency":
                text = f"only the dependency penalty can be estimated from coordinates, not {self.penalty}: "
                keys = ("method.jacobian", "method.penalty")
                yield SettingsError(keys, text + "write method.jacobian=exact")
            latents = run.data.latents
            if not 1 <= self.coordinates <= latents:
                text = f"there are {latents} latents: method.coordinates must be between 1 and {latents}"
                yield SettingsError(("method.coordinates", "data.latents"), text)
        if run.trainer.precision != "32":
            text = "absolute Jacobians near zero need single precision: write trainer.precision=32"
            yield SettingsError(("trainer.precision",), text)

    def row_keys(self, data: DataSettings) -> Keys:
        """Return the name of the penalty in Table 4 and its weight; an estimated Jacobian is part of the name."""
        name = "ours" if self.penalty == "dependency" else self.penalty
        return {"method": f"{name}_coordinates" if self.jacobian == "coordinates" else name, "alpha": self.alpha}
