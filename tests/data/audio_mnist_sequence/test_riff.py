"""Wav files of every program: the length in the header may be unknown, the description extended."""

import struct

import numpy as np
import pytest

from sparseid.data.audio_mnist_sequence.riff import Pcm, read_pcm
from sparseid.data.audio_mnist_sequence.wav_folders import read_wav
from sparseid.errors import InputError

SAMPLES = np.arange(-50, 51, dtype="<i2")
PLAIN = struct.pack("<HHIIHH", 1, 1, 8000, 16000, 2, 16)
GUID = bytes.fromhex("0100000000001000800000aa00389b71")
EXTENDED = struct.pack("<HHIIHHHHI", 0xFFFE, 1, 8000, 16000, 2, 16, 22, 16, 4) + GUID
LIST = b"LIST" + struct.pack("<I", 26) + b"INFOISFT" + struct.pack("<I", 14) + b"Lavf58.76.100\0"


def chunk(name, content, size=None):
    return name + struct.pack("<I", len(content) if size is None else size) + content + b"\0" * (len(content) % 2)


@pytest.fixture
def write(tmp_path):
    def to_file(form=PLAIN, before=b"", data=None, size=None, after=b"", riff=b"RIFF", length=None):
        content = b"WAVE" + before + chunk(b"fmt ", form)
        content += chunk(b"data", SAMPLES.tobytes() if data is None else data, size) + after
        path = tmp_path / "sound.wav"
        path.write_bytes(riff + struct.pack("<I", len(content) if length is None else length) + content)
        return path

    return to_file


@pytest.mark.parametrize("size", [0xFFFFFFFF, 0xFFFFFFFE, 0x80000000, 0x7FFFFFFF, 0x7FFFF000, 0x7FFF0024, 0])
def test_an_unknown_length_means_to_the_end_of_the_file(write, size):
    path = write(size=size, length=(size + 36) & 0xFFFFFFFF)
    assert read_pcm(path) == Pcm(1, 16, 8000, 202, SAMPLES.tobytes())
    np.testing.assert_array_equal(read_wav(path, 8000), SAMPLES)
    path = write(size=size, data=SAMPLES.tobytes() + b"\x05", before=LIST)  # a stream that ends within a sample
    np.testing.assert_array_equal(read_wav(path, 8000)[:101], SAMPLES)


@pytest.mark.parametrize(
    "after", [LIST, LIST + chunk(b"id3 ", b"1234567"), chunk(b"id3 ", b"7")[:-1], chunk(b"PAD ", b"")]
)
@pytest.mark.parametrize("size", [0xFFFFFFFF, 0x7FFFF000, 0])
def test_chunks_after_samples_of_unknown_length_are_not_heard(write, size, after):
    np.testing.assert_array_equal(read_wav(write(size=size, after=after), 8000), SAMPLES)
    for torn in (after + b"??", after[4:]):  # not chunks up to the end: all that follows counts as samples
        assert len(read_wav(write(size=size, after=torn), 8000)) > len(SAMPLES)


def test_samples_that_look_like_the_head_of_a_chunk_are_heard(write):
    data = SAMPLES.tobytes() + b"LIST" + struct.pack("<I", 2**31 - 1) + b"data" + struct.pack("<I", 10) + b"ab" * 7
    for size in (0xFFFFFFFF, 0):
        assert read_pcm(write(size=size, data=data)).content == data


def test_an_extended_description_of_integers_is_read(write):
    np.testing.assert_array_equal(read_wav(write(EXTENDED), 8000), SAMPLES)
    np.testing.assert_array_equal(read_wav(write(EXTENDED, size=0xFFFFFFFF, before=LIST), 8000), SAMPLES)
    floats = EXTENDED.replace(GUID, b"\3" + GUID[1:])
    for form in (floats, EXTENDED[:18], struct.pack("<HHIIHH", 3, 1, 8000, 32000, 4, 32), b"\x07" + PLAIN[1:]):
        with pytest.raises(InputError, match=r"sound.wav is not a wav file of integers.*sox sound.wav -r 8000"):
            read_wav(write(form), 8000)


def test_other_chunks_do_not_matter(write):
    for before, after in ((LIST, b""), (b"", LIST), (chunk(b"odd ", b"123"), chunk(b"id3 ", b"7"))):
        np.testing.assert_array_equal(read_wav(write(before=before, after=after), 8000), SAMPLES)


SECOND = chunk(b"data", SAMPLES.tobytes())
FILE = b"RIFF" + struct.pack("<I", 4 + 24 + len(SECOND)) + b"WAVE" + chunk(b"fmt ", PLAIN) + SECOND


@pytest.mark.parametrize("size", [None, 0xFFFFFFFF, 0x7FFFF000, 0])
@pytest.mark.parametrize("between", [b"", LIST, chunk(b"odd ", b"123")])
@pytest.mark.parametrize(
    ("after", "what"), [(SECOND, "second chunk of samples"), (FILE, "second wav file"), (chunk(b"data", b""), "second")]
)
def test_samples_after_the_first_ones_would_not_be_heard_and_are_refused(write, size, between, after, what):
    path = write(size=size, after=between + after)
    place = 44 + len(SAMPLES.tobytes()) + len(between)
    with pytest.raises(InputError, match=rf"sound.wav is not a wav .* a {what}.* begins at byte {place}, and a wav"):
        read_wav(path, 8000)
    torn = after[:7]  # no whole head of a chunk
    assert len(read_wav(write(after=between + torn), 8000)) == len(SAMPLES)


def test_empty_chunks_before_the_samples_do_not_matter(write):
    for before in (chunk(b"data", b""), chunk(b"data", b"") + LIST + chunk(b"data", b"")):
        path = write(before=chunk(b"fmt ", PLAIN) + before)
        np.testing.assert_array_equal(read_wav(path, 8000), SAMPLES)
        with pytest.raises(InputError, match="a second chunk of samples begins"):
            read_wav(write(before=chunk(b"fmt ", PLAIN) + before, after=SECOND), 8000)


@pytest.mark.parametrize("riff", [b"RF64", b"BW64"])
@pytest.mark.parametrize("length", [202, 0])  # 0 of a stream that was not finished
def test_a_length_of_64_bits_is_that_of_its_chunk(write, riff, length):
    sizes = chunk(b"ds64", struct.pack("<QQQI", 300, length, 101, 0))
    path = write(riff=riff, length=0xFFFFFFFF, before=sizes, size=0xFFFFFFFF, after=LIST)
    np.testing.assert_array_equal(read_wav(path, 8000), SAMPLES)


@pytest.mark.parametrize("after", [b"", LIST, chunk(b"id3 ", b"7"), chunk(b"id3 ", b"7")[:-1]])
def test_a_recording_of_length_zero_before_other_chunks_holds_no_sound(write, after):
    with pytest.raises(InputError, match="holds no sound"):
        read_wav(write(data=b"", after=after), 8000)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"size": 204}, "is truncated: its header gives 102 samples, it holds 101"),
        ({"size": 0x7FFE0000}, "is truncated: its header gives 1073676288 samples"),
        ({"size": 201}, "is truncated: its header gives 100.5 samples, the last of 201 bytes is half of one"),
        ({"form": PLAIN[:14]}, "the description of its samples is truncated"),
        ({"riff": b"RIFX"}, "file does not start with RIFF id"),
        ({"riff": b"FORM"}, "file does not start with RIFF id"),
    ],
)
def test_what_is_damaged_is_refused(write, changes, said):
    with pytest.raises(InputError, match=said):
        read_wav(write(**changes), 8000)


def test_samples_need_a_description(write, tmp_path):
    path = tmp_path / "none.wav"
    for content, said in (
        (b"RIFF\0\0\0\0WAVE" + chunk(b"data", b"\1\2") + chunk(b"fmt ", PLAIN), "come before their description"),
        (b"RIFF\0\0\0\0WAVE" + chunk(b"fmt ", PLAIN), "it has no samples"),
        (b"RIFF\0\0\0\0WAVE", "it is truncated"),
        (b"RIFF\0\0\0\0AVI ", "not a WAVE file"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=said):
            read_wav(path, 8000)


@pytest.mark.parametrize("rate", [0, 2**32 - 1])
def test_a_rate_that_is_none_is_refused(write, rate):
    path = write(struct.pack("<HHIIHH", 1, 1, rate, 16000, 2, 16))
    with pytest.raises(InputError, match=rf"sound.wav is not a wav file .* it has {rate} samples per second, which"):
        read_wav(path, rate)
