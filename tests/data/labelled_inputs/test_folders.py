import re
import shutil
import struct
import unicodedata
import zlib

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from sparseid.data.labelled_inputs.reader import read_items
from sparseid.errors import InputError


def rewritten(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def refused(folder, text, **options):
    cached = [*folder.parent.joinpath("data").rglob("*")]
    with pytest.raises(InputError, match=text):
        read_items(str(folder), **options)
    assert [*folder.parent.joinpath("data").rglob("*")] == cached  # no lock, either


def test_images_labels_and_boxes_are_read_as_they_are(images):
    items = read_items(str(images))
    assert items.values.shape == (30, 16, 16, 1)
    assert items.tokens == ("bar", "cross")
    first = np.asarray(Image.open(images / "7.png"))
    np.testing.assert_array_equal(items.values[list(items.names).index("7.png"), :, :, 0], first)
    labels = pd.read_csv(images / "labels.csv").set_index("file")["labels"]
    assert [" ".join(label) for label in items.labels] == labels.loc[items.names].tolist()
    boxes = pd.read_csv(images / "boxes.csv")
    item, token, top, bottom, left, right = items.sites[0].tolist()
    assert (items.names[item], items.tokens[token]) == tuple(boxes.loc[0, ["file", "token"]])
    assert (top, bottom, left, right) == (5, 8, 1, 4)
    numbers = items.numbers()
    assert numbers.shape == (30, 2)
    assert numbers[0, 1] == -1


def test_other_tables_formats_and_folders_within_give_the_same_items(images):
    expected = read_items(str(images))
    boxes = pd.read_csv(images / "boxes.csv")
    centres = boxes.assign(x=boxes["x"] + 1.5, y=boxes["y"] + 1.5).drop(columns=["width", "height"])
    centres.to_csv(images.parent / "centres.tsv", sep="\t", index=False)
    labels = pd.read_csv(images / "labels.csv").assign(note="ignored")
    labels.to_parquet(images.parent / "mine.parquet")
    (images / "labels.csv").unlink()
    (images / "boxes.csv").unlink()
    given = {"labels": str(images.parent / "mine.parquet"), "boxes": str(images.parent / "centres.tsv"), "box_size": 3}
    found = read_items(str(images), **given)
    np.testing.assert_array_equal(found.values, expected.values)
    np.testing.assert_array_equal(found.sites, expected.sites)
    refused(images, r"no columns width and height.*data\.box_size", **given | {"box_size": 0})
    (images / "inner").mkdir()
    shutil.move(images / "3.png", images / "inner" / "3.png")
    labels.replace("3.png", "inner/3.png").to_parquet(images.parent / "mine.parquet")
    assert "inner/3.png" in read_items(str(images), labels=given["labels"]).names


def test_coloured_images_and_a_changed_folder_are_read_again(images):
    assert read_items(str(images)).values.shape[3] == 1
    red = np.zeros((16, 16, 3), np.uint8)
    red[..., 0] = 200
    Image.fromarray(red).save(images / "0.png")
    values = read_items(str(images)).values
    assert values.shape[3] == 3
    assert values[0, 0, 0].tolist() == [200, 0, 0]
    assert np.ptp(values[1], axis=2).max() == 0


def test_a_folder_that_cannot_be_used_is_refused_with_its_file_or_row(images):
    labels, boxes = images / "labels.csv", images / "boxes.csv"

    def spoilt(path, old, new, text):
        kept = path.read_bytes()
        rewritten(path, old, new)
        refused(images, text)
        path.write_bytes(kept)

    second = labels.read_text().splitlines()[2]
    spoilt(labels, second, "1.png,", r"labels.csv, line 3, column 'labels': the label of '1.png' is empty")
    spoilt(labels, second, "1.jpg,bar", r"line 3, column 'file': there is no .*1.jpg; add the file, or remove the row")
    spoilt(labels, f"{second}\n", "", r"1\.png has no label in .*labels\.csv: add a row")
    spoilt(labels, "0.png", "1.png", r"line 3, column 'file': '1.png' has a label in line 2 already")
    spoilt(labels, "file,labels", "file,label", r"it has no column 'labels'; did you mean: label")
    spoilt(labels, second, f"{second},x", r"line 3 has 3 fields")
    row = boxes.read_text().splitlines()[1]
    token = row.split(",")[1]
    spoilt(boxes, row, row.replace(token, "star"), r"boxes.csv, line 2, column 'token': no label has the token 'star'")
    spoilt(boxes, row, row.replace("0.png", "99.png"), r"line 2, column 'file': '99.png' has no label")
    spoilt(boxes, row, row.replace(",5,", ",five,"), r"line 2, column 'y': 'five' is not a finite number")
    spoilt(boxes, row, row.replace(",5,", ",16,"), r"line 2, column 'y': the box from 16 to 19 is empty or beyond")


def test_files_that_cannot_be_used_are_refused(images, write_wav):
    kept = (images / "4.png").read_bytes()

    def replaced(write, text):
        write(images / "4.png")
        refused(images, text)
        (images / "4.png").write_bytes(kept)

    replaced(lambda path: path.write_bytes(kept[:60]), r"4\.png is no image that can be read")
    replaced(
        lambda path: Image.new("L", (16, 18)).save(path), r"4\.png has 16 x 18 pixels, .*0\.png 16 x 16 .*to one size"
    )
    replaced(lambda path: Image.new("RGBA", (16, 16), (0, 0, 0, 9)).save(path), r"4\.png is transparent")
    replaced(lambda path: Image.new("I;16", (16, 16)).save(path), r"4\.png has more than 8 bits per sample")
    write_wav(images / "30.wav", np.ones(8000))
    with (images / "labels.csv").open("a") as file:
        file.write("30.wav,bar\n")
    refused(images, r"30\.wav is a sound, .*0\.png is not")
    (images / "labels.csv").unlink()
    refused(images, r"there is no labels\.csv in")
    (images.parent / "empty").mkdir()
    refused(images.parent / "empty", r"no image \(png, jpg\) and no sound \(wav\) in .*empty")
    refused(images.parent / "none", r"none does not exist")
    refused(images / "0.png", r"0\.png is neither a folder nor an npz file")


def test_one_token_only_is_refused(images):
    path = images / "labels.csv"
    path.write_text(path.read_text().replace("cross", "bar"))
    (images / "boxes.csv").unlink()
    refused(images, "all labels consist of the token 'bar'")


def test_sounds_are_resampled_and_padded_and_motifs_last_to_the_next(sounds):
    items = read_items(str(sounds))
    assert items.values.shape == (20, 4000 + 40 * 19)
    assert items.values.dtype == np.int16
    assert not items.values[0, 4000:].any()
    spectrum = np.abs(np.fft.rfft(items.values[0, :2000]))
    pitch = spectrum.argmax() * 8000 / 2000
    assert items.labels[0][0] == {400: "low", 1500: "high"}[round(pitch)]
    assert set(items.sites[:, 0].tolist()) == set(range(1, 20, 2))
    of_last = items.sites[items.sites[:, 0] == 19, 2:].tolist()
    assert of_last[0][0] == 0
    assert of_last[0][1] == of_last[1][0] == pytest.approx(items.spatial[0] / 2, abs=1)
    assert of_last[1][1] == items.spatial[0]
    assert items.spatial == (4760 // 187 + 1, 1)


def test_sounds_of_several_rates_or_formats_are_refused(sounds, write_wav):
    write_wav(sounds / "5.wav", np.ones(8000), 22050)
    refused(sounds, r"5\.wav has 22050 samples per second, not 16000: convert it")
    write_wav(sounds / "5.wav", np.zeros(8000), 16000)
    refused(sounds, r"5\.wav is silent")
    (sounds / "5.wav").write_text("no sound")
    refused(sounds, re.escape("5.wav is not a wav file"))


def sixteen_bits(colours, channels):
    """Return a png file of 16 x 16 pixels of 16 bits per sample with the values 0 to 255; Pillow writes none."""

    def chunk(name, content):
        checked = name + content
        return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))

    values = np.repeat(np.arange(256, dtype=">u2").reshape(16, 16, 1), channels, axis=2)
    rows = b"".join(b"\0" + row.tobytes() for row in values)
    header = struct.pack(">IIBBBBB", 16, 16, 16, colours, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("colours", "channels"), [(0, 1), (2, 3), (4, 2), (6, 4)])
def test_samples_of_16_bits_are_not_cut(images, colours, channels):
    """Pillow reads those of colour, or with transparency, in 8 bits."""
    (images / "4.png").write_bytes(sixteen_bits(colours, channels))
    refused(images, r"4\.png has more than 8 bits per sample")


@pytest.mark.parametrize("bits", [8, 16])
def test_a_coloured_tiff_image_of_16_bits_is_not_cut(images, bits):
    entries = [(256, 4, 16), (257, 4, 16), (258, 3, bits), (259, 3, 1), (262, 3, 2), (273, 4, 0), (277, 3, 3)]
    entries += [(278, 4, 16), (279, 4, 16 * 16 * 3 * bits // 8)]
    start = 8 + 2 + 12 * len(entries) + 4  # of three numbers of bits, and then of the samples
    rows = b"".join(
        struct.pack("<HHIHH", tag, kind, 1, value, 0)
        if tag not in (258, 273)
        else struct.pack("<HHII", tag, kind, 3 if tag == 258 else 1, start if tag == 258 else start + 6)
        for tag, kind, value in entries
    )
    head = (
        b"II*\0" + struct.pack("<IH", 8, len(entries)) + rows + struct.pack("<I", 0) + struct.pack("<HHH", *[bits] * 3)
    )
    (images / "4.png").write_bytes(head + bytes(16 * 16 * 3 * bits // 8))
    if bits == 8:
        assert read_items(str(images)).values.shape == (30, 16, 16, 3)
    else:
        refused(images, r"4\.png has more than 8 bits per sample")


@pytest.mark.parametrize(("stored", "written"), [("NFD", "NFC"), ("NFC", "NFD")])
def test_a_name_may_be_in_another_form_of_unicode_than_its_file(images, stored, written):
    name = unicodedata.normalize(stored, "\N{LATIN SMALL LETTER E WITH ACUTE}.png")
    (images / "4.png").rename(images / name)
    for table in ("labels.csv", "boxes.csv"):
        text = (images / table).read_text().replace("\n4.png", "\n" + unicodedata.normalize(written, name))
        (images / table).write_text(text, encoding="utf-8")
    items = read_items(str(images))
    assert items.names[4] == name
    assert 4 in items.sites[:, 0]
    shutil.copy(images / "5.png", images / unicodedata.normalize(written, name))  # now the exact name is there
    refused(images, f"{name} has no label in")


def test_sounds_without_a_rate_are_refused(sounds):
    for path in sounds.glob("*.wav"):
        content = path.read_bytes()
        path.write_bytes(content[:24] + bytes(4) + content[28:])
    refused(sounds, r"0\.wav .* it has 0 samples per second, .* -r 8000 ")
