"""Settings of Fashion-MNIST (no NumPy, no torch)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparseid.errors import InputError
from sparseid.settings import DataSettings, Keys, Run, SettingsError, setting

SILHOUETTES, FILES = "silhouettes", "files"


@dataclass
class FashionMNISTSettings(DataSettings):
    """Grey images of clothes, 28 x 28 pixels."""

    name: str = "fashion_mnist"
    source: str = setting(
        "silhouettes (tops and shoes, drawn by the run) or files (the published ones, user-provided).",
        default=SILHOUETTES,
        choices=(SILHOUETTES, FILES),
    )
    path: str = setting(
        "Folder of the published files, with or without .gz; empty for the one in the folder of data. The run hash "
        "covers their content.",
        default="",
        path=True,
    )
    images: int = setting("Number of training images that are drawn (silhouettes).", default=10_000, at_least=2)

    loads = "sparseid.data.fashion_mnist.datamodule:FashionMNISTData"
    obtained_by = "sparseid.data.fashion_mnist.obtain:fashion_mnist"
    interface = "images"

    @property
    def classes(self) -> int:
        """Number of classes of the images."""
        return 10 if self.source == FILES else 2

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield settings of the other source."""
        if self.source == SILHOUETTES and self.path:
            text = "data.path names the published files: set data.source=files, or remove it"
            yield SettingsError(("data.path", "data.source"), text)
        if self.source == FILES and self.images != FashionMNISTSettings.images:
            text = "data.images is for silhouettes that the run draws: set data.source=silhouettes, or remove it"
            yield SettingsError(("data.images", "data.source"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error if the published files are missing or unusable."""
        if self.source == FILES:
            from sparseid.data.fashion_mnist.files import check_files

            try:
                check_files(self)
            except InputError as error:
                yield SettingsError(error.keys, str(error))

    def user_files(self) -> dict[str, Path]:
        """Return the readable ones of the published files."""
        if self.source != FILES:
            return {}
        from sparseid.data.fashion_mnist.files import found_files

        return found_files(self)

    def row_keys(self) -> Keys:
        """Return the data set, and the number of silhouettes in its place."""
        drawn: Keys = {} if self.source == FILES else {"source": self.source, "images": self.images}
        return {"dataset": self.name, **drawn}
