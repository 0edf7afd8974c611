"""Modules of Sparling and its baselines, by ``method.training`` and the kind of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparseid.methods.sparling.direct import DirectModule
from sparseid.methods.sparling.module import SparlingModule
from sparseid.methods.sparling.positions import PositionSparlingModule
from sparseid.methods.sparling.retrained import RetrainedModule

if TYPE_CHECKING:
    from sparseid.methods.sparling.settings import SparlingSettings
    from sparseid.settings import RunNumbers

MODULES: dict[str, type[SparlingModule | DirectModule]] = {
    "sparling": SparlingModule,
    "retrained": RetrainedModule,
    "direct": DirectModule,
}


def from_settings(settings: SparlingSettings, data: Any, run: RunNumbers) -> SparlingModule | DirectModule:
    """Build the module of a run for the data module `data`, from which the domain is read."""
    if settings.decoder.positions == "dilated":
        return PositionSparlingModule.from_settings(settings, data, run)
    return MODULES[settings.training].from_settings(settings, data, run)
