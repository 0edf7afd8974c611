"""Sparling and what it is compared with, by ``method.training``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparseid.methods.sparling.direct import DirectModule
from sparseid.methods.sparling.module import SparlingModule
from sparseid.methods.sparling.retrained import RetrainedModule

if TYPE_CHECKING:
    from sparseid.config.schema import RunConfig

MODULES: dict[str, type[SparlingModule | DirectModule]] = {
    "sparling": SparlingModule,
    "retrained": RetrainedModule,
    "direct": DirectModule,
}


def from_config(cfg: RunConfig, data: Any) -> SparlingModule | DirectModule:
    """Build the module of a run for the data module `data`, from which the domain is read."""
    return MODULES[cfg.method.training].from_config(cfg, data)
