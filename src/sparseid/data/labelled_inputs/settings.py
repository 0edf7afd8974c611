"""Settings of a user's labelled images or sounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sparseid.errors import InputError
from sparseid.optional import absence
from sparseid.settings import Keys, MotifSettings, Run, SettingsError, setting

if TYPE_CHECKING:
    from sparseid.data.labelled_inputs.items import LabelledItems

ASK = (
    "set data.path to your folder of images (png, jpg) of one size or of sounds (wav), with a table labels.csv of the "
    "columns file and labels (tokens in order, separated by spaces); or to an npz file of images and labels"
)
"""Message for an unnamed folder."""


@dataclass
class LabelledInputsSettings(MotifSettings):
    """User-provided images or sounds, each labelled with a sequence of tokens."""

    name: str = "labelled_inputs"
    path: str = setting(
        "Folder of images (png, jpg) or sounds (wav), or an npz file with images and labels.", default="", file=True
    )
    labels: str = setting(
        "Table (csv, tsv, parquet) of the columns file and labels; empty for labels.csv in the folder.",
        default="",
        file=True,
    )
    boxes: str = setting(
        "Table of true motifs, for evaluation only: file, token, x, y, width, height, or file, token, start, end; "
        "empty for boxes.csv in the folder, if there is one.",
        default="",
        file=True,
    )
    box_size: int = setting(
        "Side of the box around x, y in a table of motifs without width and height, in pixels.", default=0, at_least=0
    )
    validation: float = setting("Fraction of the items for validation, chosen at random.", above=0, below=1)
    test: float = setting("Fraction of the items for tests, chosen at random.", above=0, below=1)

    loads = "sparseid.data.labelled_inputs.datamodule:LabelledInputsData"
    single_motifs: ClassVar[bool] = False

    def items(self) -> LabelledItems:
        """Return the items of the folder or file.

        Raises
        ------
        InputError
            If they cannot be used.
        """
        from sparseid.data.labelled_inputs.reader import read_items

        if not self.path:
            raise InputError(ASK, ("data.path",))
        return read_items(self.path, self.labels, self.boxes, self.box_size)

    def _known(self) -> LabelledItems | None:
        """Return the items; None if they cannot be used, which `errors` reports."""
        try:
            return self.items()
        except InputError:
            return None

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width of the images, or frames of the sounds and 1; 0, 0 if they cannot be used."""
        items = self._known()
        return items.spatial if items else (0, 0)

    @property
    def kinds(self) -> int:
        """Number of tokens; 0 if the items cannot be used."""
        items = self._known()
        return len(items.tokens) if items else 0

    @property
    def mean_label(self) -> float:
        """Mean number of tokens of a label; 0 if the items cannot be used."""
        items = self._known()
        return items.mean_length if items else 0.0

    def longest_label(self) -> tuple[int, str]:
        """Return the number of tokens of the longest label, and the name of its item."""
        items = self._known()
        return (len(items.labels[items.longest]), repr(str(items.names[items.longest]))) if items else (0, "")

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the files' content; `missing_files` reports an unnamed folder."""
        from sparseid.data.labelled_inputs.items import parts  # NumPy

        if not self.path:
            return
        try:
            items = self.items()
        except InputError as error:
            yield SettingsError(error.keys or ("data.path",), str(error))
            return
        if self.validation + self.test >= 1:
            text = "no item is left for training: lower data.validation or data.test"
            yield SettingsError(("data.validation", "data.test"), text)
            return
        if items.sounds and (text := absence("torchaudio", "audio")):
            yield SettingsError(("data.path",), text)
        sizes = {name: len(part) for name, part in parts(len(items.labels), self.validation, self.test).items()}
        if min(sizes.values()) < 1:
            shares = ", ".join(f"{size} for {name}" for name, size in sizes.items())
            text = f"of {len(items.labels)} items there would be {shares}: each needs one"
            yield SettingsError(("data.validation", "data.test", "data.path"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error if no folder is named."""
        if not self.path:
            yield SettingsError(("data.path",), ASK)

    def user_files(self) -> dict[str, Path]:
        """Return the npz file of a folder's content, which determines the hash of a run."""
        from sparseid.data.labelled_inputs.reader import file_of

        try:
            return {"path": file_of(self.path, self.labels, self.boxes, self.box_size)} if self.path else {}
        except InputError:
            return {}

    def tables(self) -> list[Path]:
        """Return the tables of labels and of motifs of a folder; none of an npz file, which has them itself."""
        from sparseid.data.labelled_inputs.folders import tables_of

        return tables_of(Path(self.path), self.labels, self.boxes) if Path(self.path).is_dir() else []

    def row_keys(self) -> Keys:
        """Add the name of the folder or file."""
        return super().row_keys() | {"source": Path(self.path).name.partition(".")[0]}
