"""Create data/samples/fsdd_1200.npz from a checkout of the Free Spoken Digit Dataset (CC BY-SA 4.0)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sparseid.data.audio_mnist_sequence.recordings import Recording, Recordings
from sparseid.data.audio_mnist_sequence.wav_folders import FSDD, read_wav, wav_files
from sparseid.printing import protect_output

TARGET = Path(__file__).resolve().parents[1] / "data" / "samples" / "fsdd_1200.npz"
TAKES = 20
"""Number of takes of each digit by each speaker, the first ones; all 50 would be 15 MB."""


def main() -> int:
    """Read the first takes of all speakers and write them, unaltered, to one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="from: git clone the repository Jakobovski/free-spoken-digit-dataset")
    parser.add_argument("--target", type=Path, default=TARGET)
    arguments = parser.parse_args()
    kept = [file for file in wav_files(arguments.folder, FSDD) if file[3] < TAKES]
    speakers = sorted({speaker for _, _, speaker, _ in kept})
    sample = Recordings.of(
        (
            Recording(speakers.index(speaker), digit, take, read_wav(path, FSDD.rate))
            for path, digit, speaker, take in kept
        ),
        speakers,
    )
    sample.save(arguments.target, compress=True)
    size = arguments.target.stat().st_size
    print(f"{arguments.target}: {len(sample.lengths)} recordings of {len(speakers)} speakers, {size} bytes")
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
