"""Settings of a time series of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparseid.data.time_series import ContrastiveSettings, split_sizes
from sparseid.errors import InputError
from sparseid.settings import Keys, Run, SettingsError, setting

LAYOUT = """\
observations  (N, D) numbers, in the order of time
labels        (N, k) or (N,) numbers
ground_truth  optional, (d, D) or (k, D) bool: which observations depend on which latent; labels are the last k of d
latents       optional, (N, d) numbers"""
"""What the file holds."""


@dataclass
class ArraysSettings(ContrastiveSettings):
    """A time series of your own: an npz file with observations and labels, and the true map and latents if known."""

    name: str = "arrays"
    path: str = setting("The file.", default="", file=True)
    latents: int = setting(
        "Size of an embedding; its last coordinates go with the labels. 0 takes it from ground_truth or latents.",
        default=0,
    )

    loads = "sparseid.data.arrays.datamodule:ArraysData"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield what makes the settings impossible, the file's contents included; no file is no error yet."""
        from sparseid.data.arrays.reader import constant_columns, embedding_size, read_series  # NumPy

        if not self.path:
            return
        try:
            series = read_series(self.path)
            embedding_size(self, series)
        except InputError as error:
            yield SettingsError(error.keys, str(error))
            return
        samples = len(series.observations)
        yield from self.length_errors(samples, run.trainer.batch_size, "data.path")
        train, _ = split_sizes(samples, self.held_out)
        if constant := constant_columns(series.labels[:train]):
            text = f"labels is constant in column {constant} of the {train} samples that train: nothing can be learned"
            yield SettingsError(("data.path", "data.held_out"), f"{text} from it; drop it, or lower data.held_out")

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield that no file is named."""
        if not self.path:
            yield SettingsError(("data.path",), f"data.path names your file: an npz file with the arrays\n{LAYOUT}")

    def largest_label(self) -> tuple[float, str]:
        """Return the largest label of the file; 0 where there is none that can be used."""
        from sparseid.data.arrays.reader import largest_label

        return largest_label(self.path), "data.path"

    def row_keys(self) -> Keys:
        """Add the name of the file."""
        return super().row_keys() | {"source": Path(self.path).stem}
