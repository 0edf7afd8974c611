import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparseid.metrics.confusion import arrange_confusion
from sparseid.metrics.motifs import (
    MotifCounts,
    boxes_in_cells,
    channel_symbols,
    match_motifs,
    match_pairs,
    motif_errors,
)

CASES = [("2d", "dc"), ("2d", "latexlike"), ("1d", "seq"), ("1d", "audiolike")]


def counts_of(maps, sites, n_symbols):
    counts = MotifCounts(n_symbols, maps.shape[1])
    counts.add(maps, sites)
    return counts


# --- against the published evaluation -------------------------------------------------------------------------------


@pytest.fixture(params=CASES, ids=lambda case: case[1])
def published(request, shared_arrays):
    dimensions, prefix = request.param
    arrays = shared_arrays(f"sparling_motif_metrics_{dimensions}")
    case = {key.removeprefix(f"{prefix}_"): value for key, value in arrays.items() if key.startswith(f"{prefix}_")}
    case["maps"] = np.zeros(case["motif_shape"], np.float32)
    case["maps"][tuple(case["motif_index"].T)] = case["motif_value"]
    case["counts"] = counts_of(case["maps"], case["sites"], int(case["n_symbols"]))
    return case


@pytest.mark.shared
def test_pairs_and_counts_equal_the_published_evaluation(published):
    pairs = match_pairs(published["maps"], published["sites"], int(published["n_symbols"]))
    np.testing.assert_array_equal(pairs.image, published["pair_image"])
    np.testing.assert_array_equal(pairs.predicted, published["pair_pred"])
    np.testing.assert_array_equal(pairs.true, published["pair_true"])
    np.testing.assert_array_equal(published["counts"].matrix, published["count_matrix"])


@pytest.mark.shared
def test_errors_equal_the_published_evaluation(published):
    one, many = (motif_errors(published["counts"], kind) for kind in ("one_to_one", "many_to_one"))
    for ours, theirs in [
        (one.fne, "fne"),
        (one.fpe, "fpe"),
        (one.ce, "ce_hungarian"),
        (many.fne, "fne_listform"),
        (many.fpe, "fpe_listform"),
        (many.ce, "ce_many_to_one"),
    ]:
        assert ours == pytest.approx(float(published[theirs]), abs=1e-12)
    hits = published["count_matrix"][:-1, :-1]
    untied = (hits == hits.max(axis=0)).sum(axis=0) == 1
    symbols = channel_symbols(published["count_matrix"], "many_to_one")
    np.testing.assert_array_equal(symbols[untied], published["channel_to_symbol_many_to_one"][untied])


@pytest.mark.shared
def test_confusion_plot_equals_the_published_arrangement(published):
    plot = arrange_confusion(published["count_matrix"])
    np.testing.assert_allclose(plot.shares, published["plot_matrix"], atol=1e-12)
    np.testing.assert_array_equal(plot.channels, published["plot_col_order"])
    totals = published["plot_row_totals"]
    np.testing.assert_allclose(plot.row_shares, totals / totals.sum(), atol=1e-12)


# --- known values ---------------------------------------------------------------------------------------------------


def test_overlapping_boxes_are_emptied_in_order():
    maps = np.zeros((1, 2, 6, 6), np.float32)
    maps[0, 0, 2, 2] = 1.0  # in both boxes
    maps[0, 1, 3, 3] = 2.0  # in both boxes, larger
    maps[0, 0, 5, 5] = 0.5  # only in the second
    first, second = [0, 0, 1, 4, 1, 4], [0, 1, 2, 6, 2, 6]
    assert match_pairs(maps, np.array([first, second]), 2).predicted.tolist() == [1, 0]
    # The other way round, the second box swallows everything and the first finds nothing.
    assert match_pairs(maps, np.array([second, first]), 2).predicted.tolist() == [1, -1]


def test_only_the_largest_activation_of_a_box_counts_and_all_active_denominator_sees_the_rest():
    maps = np.zeros((1, 3, 10), np.float32)
    maps[0, :, 4] = [0.1, 0.3, 0.2]
    maps[0, 2, 9] = 1.0
    counts = counts_of(maps, np.array([[0, 0, 3, 6]]), 2)
    assert counts.matrix.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]]
    assert motif_errors(counts).fpe == 1 / 2
    assert motif_errors(counts, fpe_denominator="all_active").fpe == 1 / 4
    assert counts.density == 4 / 30


def test_two_channels_for_one_symbol_are_confused_only_one_to_one():
    counts = MotifCounts(2, 3)
    counts.matrix[:] = [[6, 3, 0, 1], [0, 0, 5, 0], [0, 0, 0, 0]]
    assert motif_errors(counts, "one_to_one").ce == pytest.approx(3 / 14)
    assert motif_errors(counts, "many_to_one").ce == 0
    assert motif_errors(counts).fne == pytest.approx(1 / 15)
    assert channel_symbols(counts.matrix).tolist() == [0, -1, 1]
    assert channel_symbols(counts.matrix, "many_to_one").tolist() == [0, 0, 1]


def test_boxes_reaching_over_the_edge_are_clipped_and_boxes_outside_are_missed():
    maps = np.zeros((1, 1, 5, 5), np.float32)
    maps[0, 0, 0, 4] = 1.0
    sites = np.array([[0, 0, -3, 2, 3, 99], [0, 0, 7, 9, 0, 5], [0, 0, -4, -1, 0, 5], [0, 0, 2, 2, 0, 5]])
    assert match_pairs(maps, sites, 1).predicted.tolist() == [0, -1, -1, -1]


def test_boxes_in_cells_keep_every_touched_cell():
    assert boxes_in_cells(np.array([[0, 3, 3, 9, 4, 8]]), stride=2).tolist() == [[0, 3, 1, 5, 2, 4]]


# --- degenerate input -----------------------------------------------------------------------------------------------


def test_a_silent_map_misses_everything_and_has_no_other_error():
    errors = motif_errors(counts_of(np.zeros((2, 3, 4)), np.array([[0, 0, 0, 2], [1, 1, 1, 3]]), 2))
    assert errors.fne == 1
    assert math.isnan(errors.fpe)
    assert math.isnan(errors.ce)


def test_no_sites_and_no_images():
    errors = motif_errors(counts_of(np.ones((1, 2, 3)), np.zeros((0, 4), int), 2))
    assert errors.fpe == 1
    assert math.isnan(errors.fne)
    empty = counts_of(np.zeros((0, 2, 3)), np.zeros((0, 4), int), 2)
    assert not empty.matrix.any()
    assert math.isnan(empty.density)


@pytest.mark.parametrize(
    ("maps", "sites", "message"),
    [
        (np.full((1, 2, 3), np.nan), [[0, 0, 0, 1]], "NaN"),
        (np.full((1, 2, 3), -1.0), [[0, 0, 0, 1]], "non-negative"),
        (np.zeros((1, 2, 3)), [[1, 0, 0, 1]], "image 1"),
        (np.zeros((1, 2, 3)), [[0, 2, 0, 1]], "symbol 2"),
        (np.zeros((1, 2, 3, 3)), [[0, 0, 0, 1]], "shape"),
    ],
)
def test_bad_input_is_refused(maps, sites, message):
    with pytest.raises(ValueError, match=message):
        match_motifs(maps, np.array(sites), 2)


def test_confusion_plot_of_nothing_is_zero():
    plot = arrange_confusion(np.zeros((3, 4), int))
    assert not plot.shares.any()
    assert plot.channels.tolist() == [0, 1, 2, -1]


# --- properties -----------------------------------------------------------------------------------------------------


@st.composite
def batches(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    images, channels, side, symbols = (draw(st.integers(1, high)) for high in (4, 4, 9, 4))
    maps = np.maximum(rng.normal(size=(images, channels, side, side)) - draw(st.floats(-1, 3)), 0)
    n_sites = draw(st.integers(0, 8))
    starts = rng.integers(-1, side, size=(n_sites, 2))
    stops = starts + rng.integers(0, 4, size=(n_sites, 2))
    boxes = np.stack([starts[:, 0], stops[:, 0], starts[:, 1], stops[:, 1]], axis=1)
    sites = np.column_stack([rng.integers(images, size=n_sites), rng.integers(symbols, size=n_sites), boxes])
    return maps, sites, symbols


@settings(max_examples=60)
@given(batches())
def test_counts_agree_with_the_pair_list_and_conserve_sites(batch):
    maps, sites, symbols = batch
    before = maps.copy()
    counts = counts_of(maps, sites, symbols)
    np.testing.assert_array_equal(maps, before)
    pairs = match_pairs(maps, sites, symbols)
    from_pairs = np.zeros_like(counts.matrix)
    np.add.at(from_pairs, (pairs.true, pairs.predicted), 1)
    np.testing.assert_array_equal(counts.matrix, from_pairs)
    np.testing.assert_array_equal(counts.matrix[:-1].sum(axis=1), np.bincount(sites[:, 1], minlength=symbols))
    assert counts.active == np.count_nonzero(maps)


@settings(max_examples=30)
@given(batches(), st.randoms(use_true_random=False))
def test_errors_do_not_depend_on_channel_order_scale_or_batching(batch, random):
    maps, sites, symbols = batch
    whole = counts_of(maps, sites, symbols)
    order = list(range(maps.shape[1]))
    random.shuffle(order)
    permuted = counts_of(3 * maps[:, order], sites, symbols)
    piecewise = MotifCounts(symbols, maps.shape[1])
    for image in range(len(maps)):
        mine = sites[sites[:, 0] == image].copy()
        mine[:, 0] = 0
        piecewise.add(maps[image : image + 1], mine)
    np.testing.assert_array_equal(whole.matrix, piecewise.matrix)
    for kind in ("one_to_one", "many_to_one"):
        np.testing.assert_allclose(motif_errors(whole, kind), motif_errors(permuted, kind), equal_nan=True)


def test_sites_of_left_out_symbols_count_as_none():
    """Three symbols, two channels: what hit the sites of symbol 0 is a false positive, its missed sites are dropped."""
    counts = MotifCounts(3, 2)
    counts.matrix[:] = [[5, 1, 7], [0, 4, 1], [2, 0, 2], [1, 0, 0]]
    counts.active, counts.entries = 20, 1000
    left = counts.without([0])
    assert left.matrix.tolist() == [[0, 0, 0], [0, 4, 1], [2, 0, 2], [6, 1, 0]]
    assert left.density == counts.density == 0.02
    assert counts.matrix[0, 0] == 5
    assert motif_errors(left) == pytest.approx((7 / 13, 3 / 9, 0))
    assert counts.without([]).matrix.tolist() == counts.matrix.tolist()
