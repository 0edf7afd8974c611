"""Modules of EncDiff by ``method.training``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparseid.methods.encdiff.autoencoder import AutoencoderModule
from sparseid.methods.encdiff.module import EncDiffModule
from sparseid.methods.encdiff.settings import AUTOENCODER

if TYPE_CHECKING:
    from sparseid.data.factor_images import FactorImageData
    from sparseid.methods.encdiff.settings import EncDiffSettings
    from sparseid.settings import RunNumbers


def from_settings(
    settings: EncDiffSettings, data: FactorImageData[Any], run: RunNumbers
) -> AutoencoderModule | EncDiffModule:
    """Build the module of a run for its data module."""
    module = AutoencoderModule if settings.training == AUTOENCODER else EncDiffModule
    return module(settings, data, run.seed)
