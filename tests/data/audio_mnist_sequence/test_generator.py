from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseid.data.audio_mnist_sequence.generator import ClipDistribution, draw_starts
from sparseid.data.audio_mnist_sequence.recordings import FULL_SCALE, Recording, Recordings
from sparseid.data.audio_mnist_sequence.times import BANDS, HOP, RATE, WINDOW, frame_spans, frames_of

SPEAKERS = np.array([0, 2])


def voices(speakers=3, takes=2, longest=900, seed=0):
    """Recordings of constants: sample value 1000 s + 100 d + t + 1 for speaker s, digit d and take t."""
    rng = np.random.default_rng(seed)
    made = [
        Recording(s, d, t, np.full(rng.integers(200, longest), 1000 * s + 100 * d + t + 1, np.int16))
        for s in range(speakers)
        for d in range(10)
        for t in range(takes)
    ]
    return Recordings.of(reversed(made), [f"s{s}" for s in range(speakers)])


def law(**changes):
    return ClipDistribution(voices(), **{"samples": 8000, "min_digits": 2, "max_digits": 5} | changes)


def test_published_times():
    assert (RATE, WINDOW, HOP, BANDS) == (8000, 375, 187, 64)
    assert frames_of(15 * RATE) == 642


def test_recordings_are_found_by_speaker_and_digit():
    held = voices()
    assert (held.counts == 2).all()
    for number in (0, 17, 59):
        value = 1000 * held.speaker[number] + 100 * held.digit[number] + held.take[number] + 1
        assert set(held.sound(number)) == {np.float32(value / FULL_SCALE)}
        assert held.first[held.speaker[number], held.digit[number]] + held.take[number] == number


def test_a_file_of_recordings_holds_them_all_and_is_always_the_same(tmp_path):
    held = voices()
    held.save(tmp_path / "a.npz")
    voices().save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    read = Recordings.load(tmp_path / "a.npz")
    for name in Recordings.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(read, name), getattr(held, name))


@settings(max_examples=40)
@given(seed=st.integers(0, 999), seconds=st.sampled_from([5000, 6000, 20000]))
def test_recordings_follow_each_other_inside_the_clip(seed, seconds):
    clips = law(samples=seconds).draw_clips(20, SPEAKERS, np.random.default_rng(seed))
    used = clips.digits >= 0
    assert (np.diff(used.astype(int), axis=1) <= 0).all()
    assert set(used.sum(axis=1)) <= {2, 3, 4, 5}
    for starts, lengths, k in zip(clips.starts, clips.lengths, used.sum(axis=1), strict=True):
        ends = starts[:k] + lengths[:k]
        assert (starts[1:k] >= ends[:-1]).all()
        assert starts[0] >= 0
        assert ends[-1] <= seconds
    held = voices()
    chosen = clips.recordings[used]
    np.testing.assert_array_equal(held.digit[chosen], clips.digits[used])
    np.testing.assert_array_equal(held.lengths[chosen], clips.lengths[used])
    assert set(held.speaker[chosen]) <= set(SPEAKERS)


def test_all_ways_to_place_recordings_are_equally_likely():
    """Lengths 2, 3 and 1 in 10 samples: the 35 ways to split 4 free samples before, between and behind them."""
    draws = 35_000
    lengths = np.tile([2, 3, 1, 0], (draws, 1))
    starts = draw_starts(lengths, lengths > 0, 10, np.random.default_rng(0))[:, :3]
    allowed = [(a, b + 2, c + 5) for a, b, c in combinations_with_replacement(range(5), 3)]
    seen, counts = np.unique(starts, axis=0, return_counts=True)
    assert sorted(map(tuple, seen.tolist())) == sorted(allowed)
    assert ((counts - 1000) ** 2 / 1000).sum() < 71  # chi-square of 34 degrees of freedom, p = 0.0002


def test_recordings_that_fill_the_clip_have_one_place_each():
    lengths = np.array([[4, 3, 3]])
    starts = draw_starts(lengths, lengths > 0, 10, np.random.default_rng(0))
    assert starts.tolist() == [[0, 4, 7]]


def test_counts_digits_speakers_and_takes_are_uniform():
    clips = law().draw_clips(4000, SPEAKERS, np.random.default_rng(1))
    used = clips.digits >= 0
    counts = np.bincount(used.sum(axis=1), minlength=6)[2:]
    assert abs(counts - 1000).max() < 4 * np.sqrt(750)
    n = used.sum()
    for values, kinds in ((clips.digits[used], 10), (clips.recordings[used] % 2, 2)):
        assert abs(np.bincount(values) - n / kinds).max() < 4 * np.sqrt(n / kinds)
    speakers = np.bincount(voices().speaker[clips.recordings[used]], minlength=3)
    assert speakers[1] == 0
    assert abs(speakers[0] - n / 2) < 4 * np.sqrt(n / 4)
    several = voices().speaker[clips.recordings[:, 0]] != voices().speaker[clips.recordings[:, 1]]
    assert several.mean() == pytest.approx(0.5, abs=0.04)  # the speaker may change inside a clip


def test_free_time_is_spread_evenly():
    """With k recordings the mean silence before, between and behind them is the free time / (k + 1)."""
    clips = law(min_digits=4, max_digits=4).draw_clips(4000, SPEAKERS, np.random.default_rng(2))
    starts, ends = clips.starts[:, :4], (clips.starts + clips.lengths)[:, :4]
    silences = np.column_stack([starts[:, 0], starts[:, 1:] - ends[:, :-1], 8000 - ends[:, -1]])
    expected = (8000 - clips.lengths[:, :4].sum(axis=1)).mean() / 5
    np.testing.assert_allclose(silences.mean(axis=0), expected, rtol=0.06)


def test_sound_is_the_recordings_and_cut_noise_everywhere():
    std = 0.001
    made = law(noise_std=std)
    rng = np.random.default_rng(3)
    clips = made.draw_clips(40, SPEAKERS, rng)
    sound = made.sound(clips, rng)
    assert sound.dtype == np.float32
    speech = np.zeros_like(sound)
    for clip, place in zip(*np.nonzero(clips.digits >= 0), strict=True):
        number, start = clips.recordings[clip, place], clips.starts[clip, place]
        held = made.recordings.sound(number)
        speech[clip, start : start + len(held)] = held
    noise = sound - speech
    assert np.abs(noise).max() <= std * (1 + 1e-4)
    assert noise.std() == pytest.approx(0.53956 * std, rel=0.005)  # of a normal variable cut at one sigma
    assert noise.mean() == pytest.approx(0, abs=5e-6)


def test_sites_are_spans_of_frames_in_the_order_of_labels():
    clips = law().draw_clips(6, SPEAKERS, np.random.default_rng(4))
    sites = clips.sites(8000)
    assert sites.shape == ((clips.digits >= 0).sum(), 6)
    for clip in range(6):
        mine = sites[sites[:, 0] == clip]
        assert mine[:, 1].tolist() == [digit for digit in clips.digits[clip].tolist() if digit >= 0]
        assert (np.diff(mine[:, 2]) >= 0).all()
    assert sites[:, 3].max() <= frames_of(8000)
    assert (sites[:, 4:] == [0, 1]).all()


def test_start_and_length_are_rounded_down_apart():
    # 8000 samples have 43 frames: 0.005375 frames a sample
    assert frame_spans(np.array([372, 373]), np.array([930, 931]), 8000).tolist() == [[1, 5], [2, 7]]


def test_a_single_digit_lies_in_the_middle():
    clips = law().draw_single(50, SPEAKERS, np.random.default_rng(5))
    assert clips.digits.shape == (50, 1)
    after = 8000 - clips.starts - clips.lengths
    assert np.isin(after - clips.starts, [0, 1]).all()
    short = law(samples=300)
    clips = short.draw_single(50, SPEAKERS, np.random.default_rng(5))
    assert (clips.starts + clips.lengths <= 300).all()
    assert short.sound(clips, np.random.default_rng(0)).shape == (50, 300)


@pytest.mark.shared
def test_spans_and_silences_are_those_of_the_authors(shared_arrays):
    theirs = shared_arrays("sparling_audio_sequence")
    used = theirs["digit"] >= 0
    spans = frame_spans(theirs["start_sample"][used], theirs["clip_length"][used], 120_000)
    np.testing.assert_array_equal(spans, theirs["frame_box"][used])
    assert frames_of(120_000) == theirs["spectrogram_shape"][0, 0]

    rng = np.random.default_rng(0)
    lengths = theirs["synthetic_clip_length_by_file_digit_take"]  # samples; what is said does not matter
    held = Recordings.of(
        (
            Recording(s, d, t, np.zeros(lengths[s, d, t], np.int16))
            for s in range(60)
            for d in range(10)
            for t in range(50)
        ),
        map(str, range(60)),
    )
    ours = ClipDistribution(held, 120_000)
    clips = ours.draw_clips(4000, np.arange(60), rng)
    used = clips.digits >= 0
    for k, mean in zip(range(5, 11), theirs["stat_silence_mean_by_count"], strict=True):
        mine = used.sum(axis=1) == k
        between = clips.starts[mine, 1:k] - (clips.starts + clips.lengths)[mine, : k - 1]
        assert between.mean() == pytest.approx(mean, rel=0.13)
    assert clips.starts[:, 0].mean() == pytest.approx(theirs["stat_leading_silence_mean"], rel=0.13)
    noise = ours._noise
    assert noise.std() == pytest.approx(theirs["noise_std_mean"], rel=0.01)
    assert noise.min() == pytest.approx(theirs["noise_min"], rel=0.01)
