import random
import warnings

import numpy as np
import pytest

from sparseid.data.audio_mnist_sequence import sources
from sparseid.data.audio_mnist_sequence.recordings import Recordings
from sparseid.data.audio_mnist_sequence.settings import AudioMNISTSequenceSettings
from sparseid.data.audio_mnist_sequence.wav_folders import AUDIOMNIST, FSDD, read_folder, read_wav, resampled
from sparseid.data.cache import digest
from sparseid.errors import InputError


def config(**changes):
    return AudioMNISTSequenceSettings(**{"seconds": 2.0, "min_digits": 1, "max_digits": 2, "classes": 10} | changes)


def test_the_projects_sample_has_six_speakers_twenty_takes_and_sound():
    held = sources.recordings(config())
    assert held.speakers.tolist() == ["george", "jackson", "lucas", "nicolas", "theo", "yweweler"]
    assert (held.counts == 20).all()
    assert held.lengths.sum() == len(held.samples) == 4_194_913
    assert config().user_files() == {}
    for number in range(0, 1200, 7):
        assert 0.01 < np.abs(held.sound(number)).max() <= 1


def test_a_folder_of_fsdd_is_read_in_the_order_of_names(fsdd_folder):
    for place in (fsdd_folder, fsdd_folder / "recordings"):
        held = sources.recordings(config(path=str(place)))
        assert held.speakers.tolist() == ["ann", "ben", "cy"]
        assert (held.counts == 2).all()
        number = held.first[1, 7] + 1
        assert held.samples[held.starts[number]] == 1072
        assert held.lengths[number] == 157


def test_audiomnist_is_resampled_and_its_speakers_stand_in_the_authors_order(audiomnist_folder):
    held = sources.recordings(config(source="audiomnist", path=str(audiomnist_folder)))
    assert len(held.speakers) == 60
    assert (held.counts == 1).all()
    assert set(held.lengths) == {200}
    middle = held.samples[held.starts + 100]  # far from the ends a constant stays what it is
    expected = 100 * np.array([int(held.speakers[s]) for s in held.speaker]) + held.digit
    assert np.abs(middle - expected).max() <= 1 + 0.002 * expected.max()
    assert sources.n_test_speakers(config(source="audiomnist")) == 9


def test_audiomnist_is_looked_for_in_the_folder_of_data(audiomnist_folder, tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "AudioMNIST").symlink_to(audiomnist_folder)
    assert len(sources.recordings(config(source="audiomnist")).lengths) == 600


@pytest.mark.shared
def test_the_speakers_are_permuted_as_the_authors_do(shared_arrays):
    theirs = shared_arrays("sparling_audio_sequence")["speaker_file_of_logical"]
    assert [int(name) for name in AUDIOMNIST.order(set())] == theirs.tolist()


def test_resampling_keeps_a_tone_and_removes_what_cannot_be_heard():
    time = np.arange(48000) / 48000
    low, high = (np.rint(10000 * np.sin(2 * np.pi * f * time)).astype(np.int16) for f in (500, 5000))
    kept = resampled(low, 48000)
    assert kept.dtype == np.int16
    expected = 10000 * np.sin(2 * np.pi * 500 * np.arange(8000) / 8000)
    assert np.abs(kept - expected)[100:-100].max() < 30
    assert np.abs(resampled(high, 48000).astype(int))[100:-100].max() < 100
    assert resampled(low, 8000) is low


def test_a_run_is_known_by_what_the_recordings_hold(fsdd_folder, tmp_path, write_wav):
    def content():
        sources._gathered.cache_clear()
        return digest(config(path=str(fsdd_folder)).user_files()["path"])

    before = content()
    moved = tmp_path / "elsewhere"
    fsdd_folder.rename(moved)
    moved.rename(fsdd_folder)
    (fsdd_folder / "recordings" / "notes.txt").write_text("not a recording")
    (fsdd_folder / "recordings" / "0_ann_0.wav").touch()
    assert content() == before
    write_wav(fsdd_folder / "recordings" / "0_ann_0.wav", value=5)
    assert content() != before


def _truncated(path):
    path.write_bytes(path.read_bytes()[:-7])


def _no_wav(path):
    path.write_text("this is no sound")


def _empty(path):
    path.write_bytes(b"")


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (_truncated, "is truncated: its header gives 154 samples, it holds 150; download this file again, or move it"),
        (
            _no_wav,
            "is not a wav file of integers, or damaged: file does not start with RIFF id; download this file again, or",
        ),
        (_no_wav, "or convert it, for example: sox 4_ben_1.wav -r 8000 -c 1 -b 16 -e signed-integer NEW.wav"),
        (_empty, "is empty (0 bytes); download this file again, or move it out of the folder"),
        ({"rate": 16000}, "has 16000 samples per second, not 8000: convert it, for example: sox 4_ben_1.wav -r 8000 "),
        ({"channels": 2}, "has 2 channels, not one: convert it, for example: sox 4_ben_1.wav -r 8000 -c 1 "),
        ({"width": 1}, "has samples of 8 bits, not 16: convert it, for example: sox 4_ben_1.wav -r 8000 -c 1 -b 16 "),
        ({"samples": 0}, "holds no sound: its length is zero; download this file again, or"),
        ({"value": 0}, "is silent: all of its samples are 0; download this file again, or"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(fsdd_folder, write_wav, spoil, reason):
    path = fsdd_folder / "recordings" / "4_ben_1.wav"
    if isinstance(spoil, dict):
        write_wav(path, **spoil)
    else:
        spoil(path)
    for _ in range(2):  # nothing half read is kept
        with pytest.raises(InputError) as caught:
            sources.recordings(config(path=str(fsdd_folder)))
        assert str(path) in str(caught.value)
        assert reason in str(caught.value)
        assert "data.path" in caught.value.keys
    assert config(path=str(fsdd_folder)).user_files() == {}


def test_audiomnist_at_another_rate_is_refused(audiomnist_folder, write_wav):
    path = audiomnist_folder / "data" / "07" / "3_07_0.wav"
    write_wav(path, rate=8000)
    with pytest.raises(
        InputError, match=r"3_07_0.wav has 8000 samples per second, not 48000: .*sox 3_07_0.wav -r 48000 "
    ):
        read_folder(audiomnist_folder, AUDIOMNIST)


def test_a_missing_speaker_of_audiomnist_is_named(audiomnist_folder):
    (audiomnist_folder / "data" / "22").rename(audiomnist_folder / "22")
    with pytest.raises(InputError, match=r"no folder of speaker 22: .*data/22 is missing"):
        sources.recordings(config(source="audiomnist", path=str(audiomnist_folder)))


def test_a_digit_that_a_speaker_never_says_is_named(fsdd_folder):
    for path in (fsdd_folder / "recordings").glob("6_cy_*.wav"):
        path.unlink()
    with pytest.raises(InputError, match="no recording of digit 6 by speaker cy"):
        read_folder(fsdd_folder, FSDD)


def test_folders_without_recordings_say_so(tmp_path, audiomnist_folder):
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        sources.recordings(config(path=str(tmp_path / "nowhere")))
    (tmp_path / "other").mkdir()
    with pytest.raises(InputError, match=r"no wav file in .*other: write data.path=FOLDER with the recordings of FSDD"):
        sources.recordings(config(path=str(tmp_path / "other")))
    with pytest.raises(InputError, match=r"no AudioMNIST in .*\n  git clone"):
        sources.recordings(config(source="audiomnist"))


def test_a_file_that_may_not_be_read_is_named(fsdd_folder):
    with pytest.raises(InputError, match=r"gone.wav cannot be read: No such file"):
        read_wav(fsdd_folder / "gone.wav", 8000)


def test_a_damaged_wav_file_is_refused_or_read_but_nothing_else(fsdd_folder):
    path = fsdd_folder / "recordings" / "4_ben_1.wav"
    content, draw = path.read_bytes(), random.Random(0)
    for _ in range(500):
        spoilt = bytearray(content)
        for _ in range(draw.randint(1, 4)):
            spoilt[draw.randrange(60)] = draw.randrange(256)  # the header and a few samples
        path.write_bytes(spoilt[: draw.choice([len(spoilt), draw.randrange(len(spoilt))])])
        try:
            assert read_wav(path, 8000).any()
        except InputError as error:
            assert str(path) in str(error)  # noqa: PT017


def test_a_speaker_may_have_any_name_without_an_underscore(fsdd_folder):
    for path in (fsdd_folder / "recordings").glob("*_cy_*.wav"):
        path.rename(path.with_name(path.name.replace("_cy_", "_Cy-2_")))
    assert sources.recordings(config(path=str(fsdd_folder))).speakers.tolist() == ["Cy-2", "ann", "ben"]


@pytest.mark.parametrize(
    "name", ["3_mary_ann_1.wav", "3_ann.wav", "take 3.wav", "3_ann_1.WAV", "33_ann_1.wav", "3_ann_20240131.wav"]
)
def test_a_wav_file_with_another_name_is_refused_since_its_speaker_would_vanish(fsdd_folder, write_wav, name):
    write_wav(fsdd_folder / "recordings" / name)
    with pytest.raises(InputError) as caught:
        sources.recordings(config(path=str(fsdd_folder)))
    assert f"{fsdd_folder / 'recordings' / name} is not named {{digit}}_{{speaker}}_{{take}}.wav" in str(caught.value)
    assert "rename all such wav files, or move them away; " in str(caught.value)
    write_wav(fsdd_folder / "recordings" / "zz.wav")
    with pytest.raises(InputError, match=r"recordings has 2$"):
        sources.recordings(config(path=str(fsdd_folder)))


def test_hidden_files_are_no_recordings(fsdd_folder):
    (fsdd_folder / "recordings" / "._3_ann_1.wav").write_text("what macOS notes about 3_ann_1.wav")
    assert len(sources.recordings(config(path=str(fsdd_folder))).lengths) == 60


@pytest.mark.parametrize("name", ["61/0_61_0.wav", "backup/3_07_0.wav"])
def test_a_further_folder_of_audiomnist_is_refused(audiomnist_folder, write_wav, name):
    path = audiomnist_folder / "data" / name
    write_wav(path, rate=48000)
    with pytest.raises(InputError) as caught:
        sources.recordings(config(source="audiomnist", path=str(audiomnist_folder)))
    text = f"{path.parent} is not a speaker of AudioMNIST, with speakers 01 to 60: move this folder out of "
    text += str(path.parents[1])
    assert text in str(caught.value)


def test_a_recording_of_audiomnist_in_another_speakers_folder_is_refused(audiomnist_folder, write_wav):
    write_wav(audiomnist_folder / "data" / "07" / "3_08_1.wav", rate=48000)
    with pytest.raises(InputError, match=r"data/07/3_08_1.wav is not named \{digit\}_\{speaker\}_\{take\}.wav"):
        sources.recordings(config(source="audiomnist", path=str(audiomnist_folder)))


def test_folders_without_recordings_are_kept_apart(audiomnist_folder):
    (audiomnist_folder / "data" / "audioMNIST_meta.txt").write_text("{}")
    (audiomnist_folder / "data" / "notes").mkdir()
    assert len(sources.recordings(config(source="audiomnist", path=str(audiomnist_folder))).lengths) == 600


def _cut(content):
    return content[:-100]


def _flipped(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :]


@pytest.mark.parametrize("spoil", [_cut, _flipped, lambda _: b"", lambda _: b"this is no npz file"])
def test_a_damaged_file_of_gathered_recordings_is_made_anew(fsdd_folder, spoil):
    chosen = config(path=str(fsdd_folder))
    path = sources.gathered_file(chosen)
    content = path.read_bytes()
    path.write_bytes(spoil(content))
    for held in (sources._gathered, sources._held):
        held.cache_clear()
    with pytest.warns(UserWarning, match=f"{path} is damaged: it is created again"):
        assert chosen.user_files() == {"path": path}  # before its content names a run
    assert path.read_bytes() == content
    with warnings.catch_warnings(action="error"):
        assert len(sources.recordings(chosen).lengths) == 60


def test_a_damaged_sample_of_the_project_says_how_to_get_it_back(tmp_path):
    (tmp_path / "sample.npz").write_bytes(b"no npz file")
    with pytest.raises(InputError, match=r"sample.npz is damaged: restore it \(git checkout -- .*sample.npz\)"):
        Recordings.load(tmp_path / "sample.npz")
