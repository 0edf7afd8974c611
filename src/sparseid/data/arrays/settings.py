"""Settings of a user-provided time series."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sparseid.data.time_series import ContrastiveSettings
from sparseid.errors import InputError
from sparseid.settings import Keys, Run, SettingsError, setting

LAYOUT = """\
observations  (N, D) numbers, in the order of time
labels        (N, k) or (N,) numbers
ground_truth  optional, (d, D) or (k, D) of 0, 1: which observations depend on which latent; labels are the last k of d
latents       optional, (N, d) numbers
feature_names optional, (D,) texts
label_names   optional, (k,) texts"""
"""Arrays of the file, for messages."""
BEHIND = f"\nIt should contain\n{LAYOUT}"
"""End of messages about a file."""
ASK = (
    f"set data.path to your npz file, with the arrays\n{LAYOUT}\n"
    "or to a table (csv, tsv, parquet, h5ad) with a row per time step, and data.labels to its columns of labels"
)
"""Message for an unnamed file."""


@dataclass
class ArraysSettings(ContrastiveSettings):
    """User-provided time series: observations and labels, in an npz file also the true map and latents if known."""

    name: str = "arrays"
    path: str = setting(
        "Path of the npz file, or of a csv, tsv, parquet or h5ad file with `labels` among its columns.",
        default="",
        file=True,
    )
    labels: list[str] = setting(
        "Columns of the labels in a table (not an npz file); all others are observations.", default=[]
    )
    ignore: list[str] = setting("Columns of a table that are left out.", default=[])
    standardise: bool = setting(
        "Scale observations and labels to the mean and spread of the training samples.", default=False
    )
    latents: int = setting(
        "Size of an embedding, ending with the coordinates of the labels; 0 reads it from ground_truth or latents.",
        default=0,
    )

    loads = "sparseid.data.arrays.datamodule:ArraysData"

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the settings and of the file's content; `missing_files` reports an unnamed file."""
        from sparseid.data.arrays.reader import constant_columns, embedding_size, series_of  # NumPy

        if not self.path:
            return
        try:
            series = series_of(self)
            embedding_size(self, series)
        except InputError as error:
            yield SettingsError(error.keys, str(error))
            return
        samples = len(series.observations)
        yield from self.length_errors(samples, run.trainer, "data.path")
        train = self.training_samples(samples, run.trainer)
        if constant := constant_columns(series.labels[:train], series.label_names):
            text = f"labels is constant in column {constant} of the {train} training samples: nothing can be learned"
            yield SettingsError(("data.path", "data.held_out"), f"{text} from it; drop it, or lower data.held_out")

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error if no file is named."""
        if not self.path:
            yield SettingsError(("data.path",), ASK)

    def largest_label(self) -> tuple[float, str]:
        """Return the largest label of the file, scaled if it will be; 0 if the file cannot be used."""
        from sparseid.data.arrays.reader import largest_label

        return largest_label(self), "data.path"

    def row_keys(self) -> Keys:
        """Add the name of the file."""
        return super().row_keys() | {"source": Path(self.path).stem}
