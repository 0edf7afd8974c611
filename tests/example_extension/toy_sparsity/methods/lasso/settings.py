"""Settings of the lasso."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparseid.settings import DataSettings, Keys, MethodSettings, setting


@dataclass
class LassoSettings(MethodSettings):
    """Linear regression with an L1 penalty on the weights, by stochastic proximal gradient descent."""

    loads: ClassVar[str] = "toy_sparsity.methods.lasso.module:LassoModule"
    interfaces: ClassVar[tuple[str, ...]] = ("regression",)
    stacked: ClassVar[bool] = False

    name: str = "lasso"
    penalty: float = setting("Weight of the L1 norm in the loss.", at_least=0)
    lr: float = setting("Learning rate.", above=0)

    def row_keys(self, data: DataSettings) -> Keys:
        """Return method and penalty."""
        return {"method": self.name, "penalty": self.penalty}
