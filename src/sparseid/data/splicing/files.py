"""Files of SpliceAI's data set and its motifs, in the folder that the user provides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.data.paths import data_folder, unusable
from sparseid.errors import InputError
from sparseid.text import visible

if TYPE_CHECKING:
    from sparseid.data.splicing.settings import SplicingSettings

KEYS = ("data.path",)
TRAINING, TEST, CORE, MOTIFS = "dataset_train_all.h5", "dataset_test_0.h5", "core.npz", "motifs"
"""Names within the folder: sequences (two files), core models, and a folder of PSAMs, a file per protein."""
PROTEINS = 79
"""Proteins of figure 12."""
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
    return {_protein(path): path for path in _all_motif_files(config)}


def _protein(path: Path) -> str:
    return path.name.split(".")[0]


def _all_motif_files(config: SplicingSettings) -> list[Path]:
    """Return the files of PSAMs: all but a README, with links that lead nowhere."""
    place = folder(config) / MOTIFS
    found = visible(place.iterdir()) if place.is_dir() else []
    return [path for path in found if not path.is_dir() and _protein(path).upper() != "README"]


def existing_files(config: SplicingSettings) -> dict[str, Path]:
    """Return the files that exist, by a name that the run hash covers with their content."""
    place = folder(config)
    files = {name: place / name for name in (TRAINING, TEST, CORE)}
    files |= {f"{MOTIFS}/{protein}": path for protein, path in motif_files(config).items()}
    return {name: path for name, path in files.items() if not unusable(path)}


def check_files(config: SplicingSettings) -> None:
    """Check all files; the values of the sequences are read once per content of their file (minutes).

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
    if not motif_files(config):
        raise InputError(f"data.source=spliceai: {place / MOTIFS} has no files of PSAMs\n{HOW_TO_GET}", KEYS)
    read: dict[str, Path] = {}
    for path in _all_motif_files(config):
        if (other := read.setdefault(_protein(path), path)) != path:
            text = f"{other.name} and {path.name} are both files of the protein {_protein(path)}"
            raise InputError(f"{place / MOTIFS}: {text} (its name ends at the first dot): keep one of them", KEYS)
        widest, positions = max(len(psam.affinities) for psam in read_psams(path)), config.spatial[0]
        if widest > positions:
            text = f"a matrix has {widest} rows, more than a sequence has nucleotides ({positions})"
            raise InputError(f"{path}: {text}; is it a PSAM?", KEYS)
    read_core_models(place / CORE)
    files = [ChunkFile(place / name, config.length, config.context) for name in (TRAINING, TEST)]
    if config.validation_from == "held_out" and len(files[0].sizes) == 1:
        text = "it has one chunk, and validation_from=held_out keeps the last tenth of the chunks from training"
        remedy = "write it in several chunks, or set data.validation_from=train"
        raise InputError(f"{place / TRAINING}: {text}: {remedy}", ("data.validation_from", *KEYS))
    for file in files:
        file.check_values()


def remarks(config: SplicingSettings) -> list[str]:
    """Return what is unusual about the files of PSAMs, as lines for a log."""
    motifs, lines = motif_files(config), []
    if len(motifs) != PROTEINS:
        text = f"{len(motifs)} proteins, where Figure 12 has {PROTEINS}"
        lines.append(f"{text}: motif errors are not comparable with the paper's")
    suffixes = sorted({path.suffix for path in motifs.values()})
    if len(suffixes) > 1:
        lines.append(
            f"{folder(config) / MOTIFS} has files of several suffixes ({', '.join(of or 'none' for of in suffixes)}); "
            "each file counts as a protein, so move others (such as backups) elsewhere"
        )
    return lines
