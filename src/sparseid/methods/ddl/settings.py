"""Settings of Diverse Dictionary Learning; values and their sources are in ``configs/method/ddl.yaml``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sparseid.settings import MISSING, DataSettings, Keys, MethodSettings, Run, SettingsError, setting


def alpha_setting(default: Any = MISSING) -> Any:
    """Declare the weight of a penalty, for a field of any method of the paper."""
    because = "a negative weight would reward dense dependencies"
    return setting("Weight of the penalty; 0 for no penalty.", default=default, at_least=0, because=because)


def unused_alpha(penalty: str, alpha: float) -> Iterator[SettingsError]:
    """Yield an error if there is a weight, but no penalty."""
    if penalty == "none" and alpha:
        text = "method.alpha has no effect without a penalty: set method.alpha=0, or choose a method.penalty"
        yield SettingsError(("method.penalty", "method.alpha"), text)


def halved_too_often(size: int, times: int, key: str, remedy: str = "give fewer") -> Iterator[SettingsError]:
    """Yield an error if images of `size` pixels cannot be halved as often as the setting `key` asks for."""
    if size % 2**times:
        text = f"images of {size} pixels cannot be halved {times} times: {remedy} {key}"
        yield SettingsError((key, "data.size"), text)


@dataclass
class DDLSettings(MethodSettings):
    """Variational autoencoder with a penalty on the dependence of its decoder's outputs on the latents."""

    name: str = "ddl"
    hidden: int = setting("Units of every hidden layer.", at_least=1)
    layers: int = setting("Number of hidden layers of encoder and decoder each.", at_least=1)
    lr: float = setting("Adam's initial learning rate.", above=0)
    schedule: str = setting(
        "Learning rate: constant, or cosine (decay to 0 over the training).",
        default="constant",
        choices=("constant", "cosine"),
    )
    beta: float = setting(
        "Weight of the divergence, summed over latents, relative to the sum of squared errors.", at_least=0
    )
    alpha: float = alpha_setting()
    penalty: str = setting(
        "Penalty: dependency (the paper's), latent, orojar, hessian_penalty or none.",
        default="dependency",
        choices=("dependency", "latent", "orojar", "hessian_penalty", "none"),
    )
    jacobian: str = setting(
        "Computation of the dependency penalty: exact, or an unbiased estimate from random coordinates.",
        default="exact",
        choices=("exact", "coordinates"),
    )
    coordinates: int = setting("Number of coordinates of each sample for the estimate.", default=1)

    loads = "sparseid.methods.ddl.module:DDLModule"
    stops_early = True
    interfaces = ("mixture", "observations")

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the settings, by themselves or with the data."""
        yield from unused_alpha(self.penalty, self.alpha)
        if self.jacobian == "coordinates":
            if self.penalty != "dependency":
                text = f"only the dependency penalty can be estimated from coordinates, not {self.penalty}: "
                keys = ("method.jacobian", "method.penalty")
                yield SettingsError(keys, text + "set method.jacobian=exact")
            latents = run.data.latents
            if not 1 <= self.coordinates <= latents:
                text = f"there are {latents} latents: method.coordinates must be between 1 and {latents}"
                yield SettingsError(("method.coordinates", "data.latents"), text)
        if run.trainer.precision != "32":
            text = "absolute Jacobians near zero require single precision: set trainer.precision=32"
            yield SettingsError(("trainer.precision",), text)

    def row_keys(self, data: DataSettings) -> Keys:
        """Return the name of the penalty in Table 4 and its weight; the name includes an estimated Jacobian."""
        name = "ours" if self.penalty == "dependency" else self.penalty
        return {"method": f"{name}_coordinates" if self.jacobian == "coordinates" else name, "alpha": self.alpha}
