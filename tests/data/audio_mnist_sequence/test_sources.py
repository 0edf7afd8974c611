import numpy as np
import pytest

from sparseid.config.audio_mnist_sequence import AudioMNISTSequenceConfig
from sparseid.data.audio_mnist_sequence import sources
from sparseid.data.audio_mnist_sequence.wav_folders import AUDIOMNIST, FSDD, read_folder, read_wav, resampled
from sparseid.data.places import digest
from sparseid.errors import InputError


def config(**changes):
    return AudioMNISTSequenceConfig(**{"seconds": 2.0, "min_digits": 1, "max_digits": 2, "classes": 10} | changes)


def test_the_projects_sample_has_six_speakers_twenty_takes_and_sound():
    held = sources.recordings(config())
    assert held.speakers.tolist() == ["george", "jackson", "lucas", "nicolas", "theo", "yweweler"]
    assert (held.counts == 20).all()
    assert held.lengths.sum() == len(held.samples) == 4_194_913
    assert sources.placed_files(config()) == {}
    for number in range(0, 1200, 7):
        assert 0.01 < np.abs(held.sound(number)).max() <= 1


def test_a_folder_of_fsdd_is_read_in_the_order_of_names(fsdd_folder):
    for place in (fsdd_folder, fsdd_folder / "recordings"):
        held = sources.recordings(config(path=str(place)))
        assert held.speakers.tolist() == ["ann", "ben", "cy"]
        assert (held.counts == 2).all()
        number = held.first[1, 7] + 1
        assert held.samples[held.starts[number]] == 1071
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
        return digest(sources.placed_files(config(path=str(fsdd_folder)))["path"])

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
        (_truncated, "is cut off: it promises 154 samples and holds 150"),
        (_no_wav, "is no wav file of integers, or damaged"),
        (_empty, "is no wav file of integers, or damaged: it is cut off"),
        ({"rate": 16000}, "has 16000 samples per second: recordings of this data set have 8000"),
        ({"channels": 2}, "has 2 channels"),
        ({"width": 1}, "has samples of 8 bits"),
        ({"samples": 0}, "its length is zero"),
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
    assert sources.placed_files(config(path=str(fsdd_folder))) == {}


def test_audiomnist_at_another_rate_is_refused(audiomnist_folder, write_wav):
    path = audiomnist_folder / "data" / "07" / "3_07_0.wav"
    write_wav(path, rate=8000)
    with pytest.raises(InputError, match=r"3_07_0.wav has 8000 samples per second.* have 48000"):
        read_folder(audiomnist_folder, AUDIOMNIST)


def test_a_missing_speaker_of_audiomnist_is_named(audiomnist_folder):
    (audiomnist_folder / "data" / "22").rename(audiomnist_folder / "22")
    with pytest.raises(InputError, match=r"no folder of speaker 22: .*data/22 is not there"):
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
    with pytest.raises(InputError, match=r"is named \{digit\}_\{speaker\}_\{take\}.wav: is this FSDD"):
        sources.recordings(config(path=str(tmp_path / "other")))
    with pytest.raises(InputError, match=r"no AudioMNIST in .*\n  git clone"):
        sources.recordings(config(source="audiomnist"))


def test_a_file_that_may_not_be_read_is_named(fsdd_folder):
    with pytest.raises(InputError, match=r"gone.wav cannot be read: No such file"):
        read_wav(fsdd_folder / "gone.wav", 8000)
