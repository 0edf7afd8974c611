"""Settings of sequences of spoken digits; values of the paper and its code are in ``configs/``."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sparseid.errors import InputError
from sparseid.optional import absence
from sparseid.settings import Keys, MotifSettings, Run, SettingsError, setting

if TYPE_CHECKING:
    from sparseid.data.audio_mnist_sequence.recordings import Recordings

MOST_VOICES = 100
"""Maximum number of voices of a speaker; each takes as much memory as the recordings."""


@dataclass
class AudioMNISTSequenceSettings(MotifSettings):
    """Audio clips of digits spoken by several speakers, labelled with the digits in spoken order."""

    name: str = "audio_mnist_sequence"
    source: str = setting(
        "audiomnist (the paper's 60 speakers, user-provided) or fsdd (six speakers: your files in data.path, or the "
        "project's 1,200 recordings).",
        default="fsdd",
        choices=("audiomnist", "fsdd"),
    )
    path: str = setting(
        "Folder of recordings; empty for data/AudioMNIST, or the project's sample for fsdd. The run hash covers their "
        "content.",
        default="",
        path=True,
    )
    test_speakers: int = setting(
        "Number of speakers (the last ones) reserved for tests; 0 for the source's default.", default=0, at_least=0
    )
    voices: int = setting(
        "Number of voices of each training speaker: their own, and others of different pitch, speed and microphone.",
        default=1,
        at_least=1,
        at_most=MOST_VOICES,
        because="1 is each training speaker's own voice, and all voices are stored in memory",
    )
    level: float = setting(
        "Root mean square to which every recording is normalised, full scale is 1; 0 leaves the loudness unchanged.",
        default=0.0,
        at_least=0,
        at_most=0.2,
        because="0 is the recorded loudness, more than 0.2 would be clipped",
    )
    standardised: bool = setting(
        "Scale decibels to a mean of about 0 and a standard deviation of about 1, by the same constants for all clips.",
        default=False,
    )
    seconds: float = setting("Length of a clip, in seconds.", spatial=True)
    min_digits: int = setting("Minimum number of digits per clip; the number is uniform.")
    max_digits: int = setting("Maximum number of digits per clip.")
    classes: int = setting("Digits 0 to classes-1 occur.", at_least=1, at_most=10)
    vocabulary: int = setting("Tokens of the decoder, including start and end of a label; at least classes + 2.")
    noise_std: float = setting(
        "Standard deviation of the noise before truncation at one standard deviation; full scale is 1.", at_least=0
    )

    loads = "sparseid.data.audio_mnist_sequence.datamodule:AudioMNISTSequenceData"
    obtained_by = "sparseid.data.audio_mnist_sequence.obtain:audiomnist"

    @property
    def spatial(self) -> tuple[int, int]:
        """Number of frames of a clip, and 1; (0, 1) for a length that is not finite."""
        if not math.isfinite(self.seconds):
            return 0, 1
        from sparseid.data.audio_mnist_sequence.times import frames_of, samples_of

        return frames_of(samples_of(self.seconds)), 1

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors that do not depend on the recordings."""
        from sparseid.data.audio_mnist_sequence.times import RATE, WINDOW

        if not WINDOW < self.seconds * RATE < math.inf:
            text = f"data.seconds must be above {WINDOW / RATE:.3g}, the window of a frame"
            yield SettingsError(("data.seconds",), text)
        if not 1 <= self.min_digits <= self.max_digits:
            text = "a clip has at least one digit: 1 <= data.min_digits <= data.max_digits"
            yield SettingsError(("data.min_digits", "data.max_digits"), text)
        if self.vocabulary < self.classes + 2:
            text = f"data.vocabulary includes the digits, start and end of a label: at least {self.classes + 2}"
            yield SettingsError(("data.vocabulary", "data.classes"), text)

    def missing_files(self) -> Iterator[SettingsError]:
        """Yield an error if recordings are missing or unusable, or do not match the settings."""
        from sparseid.data.audio_mnist_sequence import sources

        if text := absence("torchaudio", "audio"):
            yield SettingsError(("data.name",), text)
        try:
            found = sources.recordings(self)
        except InputError as error:
            yield SettingsError(error.keys, str(error))
            return
        tests = sources.n_test_speakers(self)
        training = len(found.speakers) - tests
        yield from self._too_long(found, training) if training > 0 else _too_few(found.speakers.tolist(), tests)

    def _too_long(self, found: Recordings, training: int) -> Iterator[SettingsError]:
        """Yield an error if `max_digits` digits of the training or the test speakers are longer than a clip on average.

        Recordings are redrawn until they fit the clip. If the mean fits, about every second draw does; if all
        recordings are too long, no draw ever would.
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
                f"{self.max_digits} digits last {samples / RATE:.3g} s on average for the speakers of {slowest} "
                f"({said_by}): set data.seconds={needed} or more, or lower data.max_digits"
            )
            yield SettingsError(("data.seconds", "data.max_digits"), text)

    def user_files(self) -> dict[str, Path]:
        """Return the user-provided recordings, gathered in one file."""
        from sparseid.data.audio_mnist_sequence.sources import gathered_file

        try:
            file = gathered_file(self)
        except InputError:
            return {}
        return {"path": file} if file else {}

    def row_keys(self) -> Keys:
        """Return the domain of the paper's tables, the tested speakers, and recordings other than the paper's."""
        keys: Keys = {"domain": "audiomnist", "split": "test_speakers"}
        if self.source != "audiomnist":
            return keys | {"source": self.source}
        from sparseid.data.audio_mnist_sequence import sources

        try:
            return keys | {"source": "own"} if sources.note(self) else keys
        except InputError:  # not there yet: a plan of runs with the paper's
            return keys


def _too_few(names: list[str], tests: int) -> Iterator[SettingsError]:
    if len(names) == 1:
        text = f"there is one speaker, {names[0]}: at least two are needed, one of them only for tests"
    else:
        most = f", at most {len(names) - 1}" if len(names) > 2 else ""
        text = (
            f"there are {len(names)} speakers in total: with {tests} for tests, none remain for training. Set "
            f"data.test_speakers=1{most}"
        )
    yield SettingsError(("data.test_speakers", "data.source"), text)
