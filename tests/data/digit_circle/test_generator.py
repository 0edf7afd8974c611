import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseid.data.digit_circle.generator import (
    DigitCircle,
    boxes_around,
    canonical_rotation,
    points_on_circle,
)
from sparseid.data.digit_circle.glyphs import read_glyphs
from sparseid.errors import InputError
from sparseid.streams import Streams

PUBLISHED = DigitCircle(read_glyphs("tall"))
IMAGES = 20_000


@pytest.fixture(scope="module")
def scenes():
    return PUBLISHED.draw_scenes(IMAGES, Streams(1).numpy("test"))


@pytest.fixture(scope="module")
def pixels(scenes):
    return PUBLISHED.draw_pixels(scenes, Streams(1).numpy("pixels"))


def distances(scenes, norm):
    used = scenes.symbols >= 0
    first, second = np.triu_indices(used.shape[1], 1)
    both = used[:, first] & used[:, second]
    return np.linalg.norm((scenes.points[:, first] - scenes.points[:, second]).astype(float), norm, axis=2)[both]


def gaps_times_count(scenes):
    turns = np.sort(scenes.angles / (2 * np.pi) % 1, axis=1)  # NaN last
    gaps = np.diff(turns, axis=1)
    around = 1 - (np.nanmax(turns, axis=1) - turns[:, 0])
    return (np.column_stack([gaps, around]) * scenes.counts[:, None])[~np.isnan(np.column_stack([gaps, around]))]


def overlapping(scenes):
    hit = np.zeros(len(scenes.symbols), bool)
    for first in range(scenes.symbols.shape[1]):
        for second in range(first):
            a, b = scenes.boxes[:, first], scenes.boxes[:, second]
            meet = (a[:, 0] < b[:, 1]) & (b[:, 0] < a[:, 1]) & (a[:, 2] < b[:, 3]) & (b[:, 2] < a[:, 3])
            hit |= meet & (scenes.symbols[:, first] >= 0) & (scenes.symbols[:, second] >= 0)
    return hit


def test_scenes_obey_the_construction(scenes):
    used = scenes.symbols >= 0
    assert scenes.radii.min() == 20
    assert scenes.radii.max() == 34
    assert set(scenes.counts) == {3, 4, 5, 6}
    on_circle = points_on_circle(scenes.centres[:, None], scenes.radii[:, None], np.nan_to_num(scenes.angles))
    assert np.abs(scenes.points - on_circle)[used].max() == 3
    np.testing.assert_array_equal(
        scenes.boxes[used], boxes_around(scenes.points[used], PUBLISHED.glyphs.shapes[scenes.symbols[used]])
    )
    assert scenes.boxes[used].min() >= 0
    assert scenes.boxes[used].max() <= 100
    assert gaps_times_count(scenes).min() >= 0.5 - 1e-9
    for row in scenes.symbols[:500]:
        assert len(set(row[row >= 0])) == (row >= 0).sum()


def test_uniform_parts_are_uniform(scenes):
    """Chi-square below its 99.9 % quantile."""
    for values, quantile in (
        (scenes.counts, 16.3),
        (scenes.radii, 36.1),
        (scenes.symbols[:, 0], 27.9),
        (scenes.symbols[:, 2], 27.9),
    ):
        counts = np.unique(values, return_counts=True)[1]
        expected = len(values) / len(counts)
        assert ((counts - expected) ** 2 / expected).sum() < quantile


def test_digits_are_drawn_as_often_as_their_weights_say():
    """The first digit is i with probability w_i / sum w; chi-square below its 99.9 % quantile."""
    uneven = dataclasses.replace(PUBLISHED, rarest=0.1)
    symbols = uneven.draw_scenes(IMAGES, Streams(3).numpy("uneven")).symbols
    weights = 0.1 ** (np.arange(10) / 9)
    expected = len(symbols) * weights / weights.sum()
    assert ((np.bincount(symbols[:, 0], minlength=10) - expected) ** 2 / expected).sum() < 27.9
    second = np.bincount(symbols[symbols[:, 0] == 0, 1], minlength=10)
    expected = second.sum() * weights[1:] / weights[1:].sum()
    assert second[0] == 0
    assert ((second[1:] - expected) ** 2 / expected).sum() < 26.1


def test_geometry_has_the_published_statistics(scenes, shared_arrays):
    stats = shared_arrays("sparling_digitcircle_stats")
    assert distances(scenes, 2).mean() == pytest.approx(float(stats["centre_distance_mean"]), abs=0.6)
    levels = stats["quantile_levels"][1:-1]
    np.testing.assert_allclose(
        np.quantile(distances(scenes, 2), levels), stats["centre_distance_quantiles"][1:-1], atol=1.5
    )
    np.testing.assert_allclose(
        np.quantile(gaps_times_count(scenes), levels), stats["gap_times_count_quantiles"][1:-1], atol=0.03
    )
    np.testing.assert_allclose(scenes.centres.mean(axis=0), stats["center_mean"], atol=0.6)
    np.testing.assert_allclose(scenes.centres.std(axis=0), stats["center_std"], atol=0.4)
    assert overlapping(scenes).mean() == pytest.approx(float(stats["overlap_image_fraction"]), abs=4 * 0.003)
    offset = np.linalg.norm(scenes.points - scenes.centres[:, None], axis=2) - scenes.radii[:, None]
    assert offset[scenes.symbols >= 0].std() == pytest.approx(float(stats["radial_jitter_std"]), abs=0.03)
    first = np.bincount(scenes.labels[:, 0], minlength=10) / IMAGES
    theirs = stats["first_symbol_histogram"] / stats["first_symbol_histogram"].sum()
    np.testing.assert_allclose(first, theirs, atol=4 * np.sqrt(0.25 / 5000))


def test_pixels_have_the_published_statistics(scenes, pixels, shared_arrays):
    stats = shared_arrays("sparling_digitcircle_stats")
    ink = pixels.mean(axis=(1, 2))
    assert ink.mean() == pytest.approx(float(stats["ink_mean"]), abs=4e-4)
    assert ink.std() == pytest.approx(float(stats["ink_std"]), abs=2e-4)
    np.testing.assert_allclose(pixels.mean(axis=(0, 2)), stats["row_ink_profile"], atol=0.012)
    np.testing.assert_allclose(pixels.mean(axis=(0, 1)), stats["col_ink_profile"], atol=0.012)


def test_noise_probabilities_outside_and_inside_boxes(scenes, pixels):
    inside = np.zeros(pixels.shape, bool)
    clean = ~overlapping(scenes)
    for image, _, top, bottom, left, right in scenes.sites:
        inside[image, top:bottom, left:right] = True
    outside = 0.12519 * 0.95 + (1 - 0.12519) * 0.05
    count = (~inside).sum()
    assert pixels[~inside].mean() == pytest.approx(outside, abs=5 * np.sqrt(outside / count))
    for symbol in range(10):
        flipped = [
            pixels[image, top:bottom, left:right] ^ PUBLISHED.glyphs.bitmaps[symbol]
            for image, site_symbol, top, bottom, left, right in scenes.sites[:30_000]
            if site_symbol == symbol and clean[image]
        ]
        count = len(flipped) * flipped[0].size
        assert np.mean(flipped) == pytest.approx(0.05, abs=5 * np.sqrt(0.05 / count))


def test_later_glyphs_cover_earlier_ones():
    crowded = DigitCircle(read_glyphs("compact"), 40, 3, 3, 2, 2, 12, 1, 0.5, 0.0, 0.0)
    scenes = crowded.draw_scenes(200, Streams(2).numpy("test"))
    pixels = crowded.draw_pixels(scenes, Streams(2).numpy("pixels"))
    for image in range(200):
        expected = np.zeros((40, 40), bool)
        for symbol, (top, bottom, left, right) in zip(scenes.symbols[image], scenes.boxes[image], strict=True):
            expected[top:bottom, left:right] = crowded.glyphs.bitmaps[symbol]
        np.testing.assert_array_equal(pixels[image], expected)


def test_helpers_equal_the_published_code(shared_arrays):
    arrays = shared_arrays("sparling_digitcircle_helpers")
    np.testing.assert_array_equal(
        points_on_circle(arrays["center"], arrays["radius"], arrays["angle"]), arrays["point"]
    )
    np.testing.assert_array_equal(boxes_around(arrays["stamp_point"], arrays["stamp_shape"]), arrays["stamp_box"])
    np.testing.assert_array_equal(canonical_rotation(arrays["canon_in"]), arrays["canon_out"])


def test_labels_and_boxes_of_the_published_images(shared_arrays):
    truth = shared_arrays("sparling_digitcircle_truth")
    np.testing.assert_array_equal(canonical_rotation(truth["placed_symbol"]), truth["label"])
    used = truth["placed_symbol"] >= 0
    shapes = read_glyphs("tall").shapes[truth["placed_symbol"][used]]
    np.testing.assert_array_equal(boxes_around(truth["placed_point"][used], shapes), truth["placed_box"][used])
    on_circle = points_on_circle(truth["circle_center"][:, None], truth["circle_radius"][:, None], truth["angles"])
    assert np.abs(truth["placed_point"] - on_circle)[used].max() <= 3


def test_single_digits_are_centred(shared_arrays):
    stats = shared_arrays("sparling_digitcircle_stats")
    pixels, digits = PUBLISHED.draw_single(4000, 32, Streams(3).numpy("single"))
    assert pixels.mean() == pytest.approx(float(stats["single_ink_mean"]), abs=4e-3)
    assert len(pixels) == len(digits) == 4000
    mean = pixels[digits == 1].mean(axis=0)
    assert mean[16, 16] > 0.9  # the stem of the 1


def test_label_rotation_by_hand():
    rows = np.array([[3, 1, 2, -1], [5, 4, 3, 2], [0, 9, -1, -1], [-1, -1, -1, -1]])
    assert canonical_rotation(rows).tolist() == [[1, 2, 3, -1], [2, 5, 4, 3], [0, 9, -1, -1], [-1, -1, -1, -1]]


@settings(max_examples=25)
@given(
    seed=st.integers(0, 1000),
    classes=st.integers(2, 10),
    data=st.data(),
    jitter=st.integers(0, 4),
    min_gap=st.floats(0, 0.8),
)
def test_any_valid_distribution_keeps_its_promises(seed, classes, data, jitter, min_gap):
    most = data.draw(st.integers(1, classes))
    fewest = data.draw(st.integers(1, most))
    glyphs = read_glyphs("compact").first(classes)
    drawn = DigitCircle(glyphs, 64, fewest, most, 8, 12, 5 + jitter, jitter, min_gap, 0.5, 0.05)
    scenes = drawn.draw_scenes(8, Streams(seed).numpy("test"))
    pixels = drawn.draw_pixels(scenes, Streams(seed).numpy("pixels"))
    assert pixels.shape == (8, 64, 64)
    assert scenes.boxes[scenes.symbols >= 0].min() >= 0
    assert scenes.boxes[scenes.symbols >= 0].max() <= 64
    for label, placed in zip(scenes.labels, scenes.symbols, strict=True):
        known = label[label >= 0]
        assert fewest <= len(known) <= most
        assert known[0] == known.min()
        doubled = "".join(map(str, placed[placed >= 0])) * 2
        assert "".join(map(str, known)) in doubled


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"min_digits": 4, "max_digits": 3}, "min_digits exceeds data.max_digits"),
        ({"max_digits": 11}, "cannot exceed data.classes"),
        ({"margin": 8}, "jitter . half a box = 9"),
        ({"canvas": 90}, "does not fit.* 98"),
        ({"min_radius": 40}, "min_radius exceeds"),
        ({"min_gap": 1.0}, "min_gap"),
        ({"jitter": -1}, "jitter"),
        ({"pre_noise": float("nan")}, "pre_noise"),
        ({"post_noise": 1.5}, "a probability"),
        ({"rarest": 0.0}, "data.rarest must be between 0.001 and 1"),
        ({"rarest": float("nan")}, "data.rarest"),
    ],
)
def test_impossible_distributions_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        DigitCircle(PUBLISHED.glyphs, **change)
