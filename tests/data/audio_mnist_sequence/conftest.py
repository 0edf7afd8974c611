"""Small folders of wav files in the layouts of AudioMNIST and FSDD."""

import wave

import numpy as np
import pytest


def _write_wav(path, rate=8000, samples=200, channels=1, width=2, value=1):
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        content = np.full(samples * channels, value, np.int16).tobytes()
        file.writeframes(content if width == 2 else bytes(samples * channels * width))


@pytest.fixture
def write_wav():
    return _write_wav


@pytest.fixture(autouse=True)
def _own_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))


@pytest.fixture
def fsdd_folder(tmp_path):
    """Three speakers, two takes; samples say speaker, digit and take."""
    folder = tmp_path / "fsdd"
    for number, speaker in enumerate(("ann", "ben", "cy")):
        for digit in range(10):
            for take in range(2):
                path = folder / "recordings" / f"{digit}_{speaker}_{take}.wav"
                _write_wav(path, samples=150 + digit, value=1000 * number + 10 * digit + take + 1)
    return folder


@pytest.fixture
def audiomnist_folder(tmp_path):
    """Sixty speakers, one take; samples say the speaker's folder and the digit."""
    folder = tmp_path / "AudioMNIST"
    for speaker in range(1, 61):
        for digit in range(10):
            path = folder / "data" / f"{speaker:02d}" / f"{digit}_{speaker:02d}_0.wav"
            _write_wav(path, rate=48000, samples=1200, value=100 * speaker + digit)
    return folder
