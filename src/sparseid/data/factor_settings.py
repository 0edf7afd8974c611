"""Base of the settings of images of discrete factors (no NumPy, no torch)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from sparseid.errors import InputError
from sparseid.settings import DataSettings, Keys, Run, SettingsError, setting
from sparseid.spelling import unlisted

MINI, FILES = "mini", "files"


@dataclass
class FactorImageSettings(DataSettings):
    """Settings of a data set with an image for each combination of discrete factors."""

    source: str = setting(
        "mini (images of the same structure, drawn by the run) or files (the paper's, user-provided).",
        default=MINI,
        choices=(MINI, FILES),
    )
    path: str = setting(
        "File or folder of the paper's images; empty for the one in the folder of data. The run hash covers its "
        "content.",
        default="",
        path=True,
    )
    size: int = setting(
        "Height and width of the images, in pixels: 64, of mini images also 32, and of Cars3D 32, 64 or 128.",
        default=64,
    )
    levels: list[int] = setting(
        "Number of levels of each factor (mini), in the order of the factors; empty for all.", default=[]
    )

    interface: ClassVar[str] = "factor_images"
    factors: ClassVar[Mapping[str, int]]
    """Name of each factor of the mini images -> its number of levels, the most that `levels` may ask for."""
    sizes: ClassVar[Mapping[str, tuple[int, ...]]] = {MINI: (32, 64), FILES: (64,)}
    """Choices of `size` for each source."""

    @property
    def mini_levels(self) -> tuple[int, ...]:
        """Number of levels of each factor of the mini images."""
        return tuple(self.levels or self.factors.values())

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield a size that the source does not have, and settings of the other source."""
        if text := unlisted("data.size", self.size, self.sizes[self.source]):
            yield SettingsError(("data.size", "data.source"), f"for data.source={self.source}, {text}")
        if self.source == MINI and self.path:
            text = "data.path names the paper's images: set data.source=files, or remove it"
            yield SettingsError(("data.path", "data.source"), text)
        if self.source == FILES and self.levels:
            text = "data.levels is for images that the run draws: set data.source=mini, or remove it"
            yield SettingsError(("data.levels", "data.source"), text)
        elif self.levels and not (
            len(self.levels) == len(self.factors)
            and all(2 <= own <= most for own, most in zip(self.levels, self.factors.values(), strict=True))
        ):
            listed = ", ".join(f"{name} 2 to {most}" for name, most in self.factors.items())
            yield SettingsError(("data.levels",), f"data.levels needs a number for each of the factors: {listed}")

    def check_files(self) -> None:
        """Check the user-provided files and convert them once; InputError if they are missing or unusable."""
        raise NotImplementedError

    def found_files(self) -> dict[str, Path]:
        """Return the user-provided files that are readable, by a name that the run hash covers with their content."""
        raise NotImplementedError

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error if the paper's images are missing or unusable; they are converted once (minutes)."""
        if self.source == FILES:
            try:
                self.check_files()
            except InputError as error:
                yield SettingsError(error.keys, str(error))

    def user_files(self) -> dict[str, Path]:
        """Return the readable ones of the user-provided files."""
        return self.found_files() if self.source == FILES else {}

    def row_keys(self) -> Keys:
        """Return the columns of the paper's tables, and differences from its images."""
        keys: Keys = {"dataset": self.name, "image_size": self.size}
        if self.source != FILES:
            keys["source"] = self.source
        if self.levels:
            keys["levels"] = "x".join(map(str, self.levels))
        return keys
