"""Settings of sequences of spoken digits; numbers of the paper and its code stand in ``configs/``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.errors import InputError
from sparseid.settings import Keys, MotifSettings, Run, SettingsError, setting

if TYPE_CHECKING:
    from sparseid.data.audio_mnist_sequence.recordings import Recordings

MOST_VOICES = 100
"""Voices of a speaker; each takes as much memory as the recordings."""


@dataclass
class AudioMNISTSequenceSettings(MotifSettings):
    """Clips in which several speakers say digits one after the other, labelled in their order."""

    name: str = "audio_mnist_sequence"
    source: str = setting(
        "audiomnist (the paper's 60 speakers, provided by you) or fsdd (six speakers: those of data.path, or 1,200 "
        "recordings that the project holds).",
        default="fsdd",
        choices=("audiomnist", "fsdd"),
    )
    path: str = setting(
        "Folder of recordings; empty is data/AudioMNIST, or the project's for fsdd. A run is known by their content.",
        default="",
    )
    test_speakers: int = setting(
        "Speakers, the last ones, that only tests are spoken by; 0 is the source's own number.", default=0, at_least=0
    )
    voices: int = setting(
        "Voices in which each training speaker speaks: beyond their own, other pitches, speeds and microphones.",
        default=1,
        at_least=1,
        at_most=MOST_VOICES,
        because="1 is each training speaker's own, and all are held in memory",
    )
    level: float = setting(
        "Root mean square that every recording is brought to, full scale is 1; 0 leaves their loudness as it is.",
        default=0.0,
        at_least=0,
        at_most=0.2,
        because="0 is the loudness as recorded, more than 0.2 would be cut off",
    )
    standardised: bool = setting(
        "Scale decibels to a mean of about 0 and a standard deviation of about 1, all clips by the same numbers.",
        default=False,
    )
    seconds: float = setting("Length of a clip.", spatial=True)
    min_digits: int = setting("Fewest digits per clip; their number is uniform.")
    max_digits: int = setting("Most digits per clip.")
    classes: int = setting("Digits 0 to classes-1 occur.", at_least=1, at_most=10)
    vocabulary: int = setting("Tokens of the decoder, start and end of a label among them; at least classes + 2.")
    noise_std: float = setting(
        "Standard deviation of the noise before it is clipped at one standard deviation; full scale is 1.", at_least=0
    )

    loads = "sparseid.data.audio_mnist_sequence.datamodule:AudioMNISTSequenceData"
    obtained_by = "sparseid.data.audio_mnist_sequence.obtain:audiomnist"

    @property
    def spatial(self) -> tuple[int, int]:
        """Frames of a clip, and 1; (0, 1) for a length that is no number."""
        if not math.isfinite(self.seconds):
            return 0, 1
        from sparseid.data.audio_mnist_sequence.times import frames_of, samples_of

        return frames_of(samples_of(self.seconds)), 1

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield what makes the settings impossible, whatever the recordings are."""
        from sparseid.data.audio_mnist_sequence.times import RATE, WINDOW

        if not WINDOW < self.seconds * RATE < math.inf:
            text = f"data.seconds must be above {WINDOW / RATE:.3g}, the window of a frame"
            yield SettingsError(("data.seconds",), text)
        if not 1 <= self.min_digits <= self.max_digits:
            text = "a clip has at least one digit: 1 <= data.min_digits <= data.max_digits"
            yield SettingsError(("data.min_digits", "data.max_digits"), text)
        if self.vocabulary < self.classes + 2:
            text = f"data.vocabulary holds the digits, start and end of a label: at least {self.classes + 2}"
            yield SettingsError(("data.vocabulary", "data.classes"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield that recordings are not there or cannot be used, or that they do not fit the settings."""
        from sparseid.data.audio_mnist_sequence import sources

        try:
            found = sources.recordings(self)
        except InputError as error:
            yield SettingsError(error.keys, str(error))
            return
        tests = sources.n_test_speakers(self)
        training = len(found.speakers) - tests
        yield from self._too_long(found, training) if training > 0 else _too_few(found.speakers.tolist(), tests)

    def _too_long(self, found: Recordings, training: int) -> Iterator[SettingsError]:
        """Yield that the speakers of training, or those of tests, say the most digits in more time than a clip has.

        Clips are drawn until they fit. As long as the mean fits, about every second draw does, and some always do; of
        recordings that are all too long none ever would.
        """
        from sparseid.data.audio_mnist_sequence.times import RATE, samples_of

        means = found.mean_lengths[:, : self.classes].mean(axis=1)  # every speaker and digit is equally likely
        groups = {"training": slice(None, training), "tests": slice(training, None)}
        slowest = max(groups, key=lambda group: means[groups[group]].mean())
        samples = self.max_digits * means[groups[slowest]].mean()
        if samples > samples_of(self.seconds):
            names = found.speakers[groups[slowest]].tolist()
            said_by = ", ".join(names if len(names) <= 6 else [*names[:3], "...", names[-1]])
            needed = f"{math.ceil(10 * samples / RATE) / 10:g}"
            text = (
                f"{self.max_digits} digits last {samples / RATE:.3g} s on average as the speakers of {slowest} say "
                f"them ({said_by}): write data.seconds={needed} or more, or lower data.max_digits"
            )
            yield SettingsError(("data.seconds", "data.max_digits"), text)

    def user_files(self) -> dict[str, Path]:
        """Return the user's recordings, all in one file."""
        from sparseid.data.audio_mnist_sequence.sources import gathered_file

        try:
            file = gathered_file(self)
        except InputError:
            return {}
        return {"path": file} if file else {}

    def row_keys(self) -> Keys:
        """Return the domain of the paper's tables, the speakers that are tested and recordings that are others."""
        keys: Keys = {"domain": "audiomnist", "split": "test_speakers"}
        return keys if self.source == "audiomnist" else keys | {"source": self.source}


def _too_few(names: list[str], tests: int) -> Iterator[SettingsError]:
    if len(names) == 1:
        text = f"there is one speaker, {names[0]}: at least two are needed, one of them for tests alone"
    else:
        most = f", at most {len(names) - 1}" if len(names) > 2 else ""
        text = (
            f"there are {len(names)} speakers in all: {tests} for tests leave none for training. Write "
            f"data.test_speakers=1{most}"
        )
    yield SettingsError(("data.test_speakers", "data.source"), text)
