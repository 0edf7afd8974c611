import numpy as np
import pytest

from sparseid.metrics.motifs import MotifCounts, motif_errors
from sparseid.metrics.randomised import BLOCK, active_entries, dense_blocks, joined, randomised


def sparse(rng, items, channels=3, positions=40, share=0.1):
    maps = rng.random((items, channels, positions))
    return np.where(rng.random(maps.shape) < share, maps, 0)


def dense(entries):
    return np.concatenate([maps for _, maps in dense_blocks(entries)])


def test_entries_and_maps_are_the_same():
    rng = np.random.default_rng(0)
    parts = [sparse(rng, items) for items in (BLOCK, 5, 70)]
    entries = joined([active_entries(maps) for maps in parts])
    assert entries.shape == (BLOCK + 75, 3, 40)
    np.testing.assert_array_equal(dense(entries), np.concatenate(parts))
    blocks = [block for block, _ in dense_blocks(entries)]
    assert (blocks[0].start, blocks[-1].stop) == (0, BLOCK + 75)


def test_every_channel_keeps_its_values_and_nothing_else():
    rng = np.random.default_rng(1)
    maps = sparse(rng, 30)
    maps[:, 2] = 0  # a dead channel
    random = dense(randomised(active_entries(maps), np.random.default_rng(2)))
    for channel in range(3):
        np.testing.assert_array_equal(np.sort(random[:, channel], axis=None), np.sort(maps[:, channel], axis=None))
    assert ((random > 0) != (maps > 0)).any()


def test_places_are_uniform_over_items_and_positions():
    maps = np.zeros((20, 1, 50))
    maps[0, 0, :20] = 1
    rng = np.random.default_rng(3)
    hits = sum(dense(randomised(active_entries(maps), rng))[:, 0] for _ in range(400))
    assert hits.sum() == 8000
    assert hits.mean(axis=1) == pytest.approx(8, rel=0.15)
    assert hits.mean(axis=0) == pytest.approx(8, rel=0.3)


def test_a_perfect_map_is_no_better_than_chance_once_randomised():
    """One kind, a site of 3 positions in 100, an activation in each: about 3 % hit when randomised."""
    items = 400
    maps = np.zeros((items, 1, 100))
    maps[:, 0, 50] = 1
    sites = np.stack([np.arange(items), np.zeros(items), np.full(items, 49), np.full(items, 52)], 1).astype(np.int64)

    def errors(of):
        counts = MotifCounts(1, 1)
        counts.add(of, sites)
        return motif_errors(counts)

    assert errors(maps) == (0, 0, 0)
    chance = errors(dense(randomised(active_entries(maps), np.random.default_rng(4))))
    assert chance.fne == pytest.approx(0.97, abs=0.02)
    assert chance.fpe == pytest.approx(0.97, abs=0.02)
