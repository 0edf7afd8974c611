"""A folder of labelled images with crosses and bars, and one of labelled tones."""

import wave

import numpy as np
import pytest
from PIL import Image

SIDE = 16
SHAPES = {"cross": (np.eye(3) + np.eye(3)[::-1]) > 0, "bar": np.repeat([[0, 1, 0]], 3, axis=0) > 0}


@pytest.fixture
def write_wav():
    """A function that writes 16-bit samples to a wav file."""

    def write(path, samples, rate=8000):
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate)
            file.writeframes(np.asarray(samples, "<i2").tobytes())

    return write


@pytest.fixture
def images(tmp_path, monkeypatch):
    """30 images i.png with one or two shapes from left to right, labels.csv and boxes.csv."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    folder, rng = tmp_path / "shapes", np.random.default_rng(0)
    folder.mkdir()
    labels, boxes = ["file,labels"], ["file,token,x,y,width,height"]
    for number in range(30):
        image, tokens = np.full((SIDE, SIDE), 255, np.uint8), []
        for left in (1, 9)[: 1 + number % 2]:
            token = str(rng.choice(list(SHAPES)))
            image[5:8, left : left + 3][SHAPES[token]] = 0
            tokens.append(token)
            boxes.append(f"{number}.png,{token},{left},5,3,3")
        Image.fromarray(image).save(folder / f"{number}.png")
        labels.append(f"{number}.png,{' '.join(tokens)}")
    (folder / "labels.csv").write_text("\n".join(labels) + "\n")
    (folder / "boxes.csv").write_text("\n".join(boxes) + "\n")
    return folder


@pytest.fixture
def sounds(tmp_path, monkeypatch, write_wav):
    """20 sounds of 0.5 to 0.6 s with two tones, at 16 kHz, labels.tsv and the starts of half of the tones."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    folder, rng = tmp_path / "tones", np.random.default_rng(0)
    folder.mkdir()
    labels, starts = ["file\tlabels"], ["file\ttoken\tstart"]
    for number in range(20):
        pitches = rng.choice([400, 1500], 2)
        length = 4000 + 40 * number
        tones = [np.sin(np.arange(length) * 2 * np.pi * pitch / 16000) for pitch in pitches]
        write_wav(folder / f"{number}.wav", 8000 * np.concatenate(tones), 16000)
        names = ["low" if pitch == 400 else "high" for pitch in pitches]
        labels.append(f"{number}.wav\t{' '.join(names)}")
        if number % 2:
            starts += [f"{number}.wav\t{names[0]}\t0", f"{number}.wav\t{names[1]}\t{length / 16000}"]
    (folder / "labels.tsv").write_text("\n".join(labels) + "\n")
    (folder / "boxes.tsv").write_text("\n".join(starts) + "\n")
    return folder
