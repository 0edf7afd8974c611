"""Files of SpliceAI's data set and its motifs, in the folder that the user provides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.paths import data_folder, unusable
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.splicing.settings import SplicingSettings

KEYS = ("data.path",)
TRAINING, TEST, CORE, MOTIFS = "dataset_train_all.h5", "dataset_test_0.h5", "core.npz", "motifs"
"""Names within the folder: sequences (two files), core models, and a folder of PSAMs, a file per protein."""
HOW_TO_GET = f"""\
  Place or link in it {TRAINING} and {TEST} (SpliceAI's data sets, made from GENCODE and hg19, or the
  authors' bundle), {MOTIFS}/<protein>.<any> (PSAMs of RBNS) and {CORE} (weights of the core splice-site models);
  src/sparseid/data/splicing/README.md describes them. Name another folder with data.path=FOLDER.
  None of this is needed for data.source=synthetic"""


def folder(config: SplicingSettings) -> Path:
    """Return the folder of the files."""
    return Path(config.path) if config.path else data_folder() / "splicing"


def motif_files(config: SplicingSettings) -> dict[str, Path]:
    """Return the files of PSAMs by protein, sorted; a protein's name ends at the first dot."""
    place = folder(config) / MOTIFS
    found = sorted(path for path in place.iterdir() if not path.name.startswith(".")) if place.is_dir() else []
    return {path.name.split(".")[0]: path for path in found if path.is_file()}


def existing_files(config: SplicingSettings) -> dict[str, Path]:
    """Return the files that exist, by a name that the run hash covers with their content."""
    place = folder(config)
    files = {name: place / name for name in (TRAINING, TEST, CORE)}
    files |= {f"{MOTIFS}/{protein}": path for protein, path in motif_files(config).items()}
    return {name: path for name, path in files.items() if not unusable(path)}


def check_files(config: SplicingSettings) -> None:
    """Check that all files are there and readable; of the sequences only the shapes are read.

    Raises
    ------
    InputError
        If a file is missing or unusable.
    """
    from sparseid.data.splicing.chunks import ChunkFile
    from sparseid.data.splicing.core_models import read_core_models
    from sparseid.data.splicing.psams import read_psams

    place = folder(config)
    for name in (TRAINING, TEST, CORE):
        if reason := unusable(place / name):
            raise InputError(f"data.source=spliceai: {place / name} {reason}\n{HOW_TO_GET}", KEYS)
    motifs = motif_files(config)
    if not motifs:
        raise InputError(f"data.source=spliceai: {place / MOTIFS} has no files of PSAMs\n{HOW_TO_GET}", KEYS)
    for path in motifs.values():
        read_psams(path)
    read_core_models(place / CORE)
    for name in (TRAINING, TEST):
        ChunkFile(place / name, config.length, config.context)
