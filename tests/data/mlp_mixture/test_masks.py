import numpy as np
import pytest

from sparseid.data.mlp_mixture.masks import circulant, group_members, grouped, mask_of, random_mask
from sparseid.data.mlp_mixture.settings import NAMED
from sparseid.errors import InputError
from sparseid.masks import perfect_matching, regions, sufficiently_diverse


@pytest.mark.parametrize(
    ("mask", "rows"),
    [
        ("identity", ["100", "010", "001"]),
        ("circulant", ["110", "011", "101"]),
        ("lower_triangular", ["100", "110", "111"]),
        ("ones_minus_identity", ["011", "101", "110"]),
        ("dense", ["111", "111", "111"]),
        ("dense_minus_edge", ["011", "111", "111"]),
    ],
)
def test_families_and_how_often_a_row_is_observed(mixture_config, mask, rows):
    for outputs in (1, 2):
        found = mask_of(mixture_config(mask=mask, outputs_per_row=outputs), seed=0)
        assert ["".join(map(str, row)) for row in found.astype(int)] == [row for row in rows for _ in range(outputs)]


@pytest.mark.parametrize(("latents", "band"), [(5, 1), (5, 3), (6, 4)])
def test_a_circulant_mask_reads_as_many_everywhere(latents, band):
    mask = circulant(latents, band)
    assert set(mask.sum(axis=0)) == set(mask.sum(axis=1)) == {band}
    assert sufficiently_diverse(mask)


@pytest.mark.parametrize("latents", [2, 3, 5, 9])
def test_random_masks_are_diverse_and_a_seeds_own(latents):
    masks = [random_mask(latents, seed) for seed in range(5)]
    for mask in masks:
        assert sufficiently_diverse(mask)
        assert perfect_matching(mask) is not None
    assert all(np.array_equal(random_mask(latents, seed), mask) for seed, mask in enumerate(masks))
    assert len({mask.tobytes() for mask in masks}) > 1


@pytest.mark.parametrize(
    ("latents", "groups", "blocks"),
    [(3, "12-23", [[0], [1], [2]]), (4, "123-234", [[0], [1, 2], [3]]), (5, "123-345", [[0, 1], [2], [3, 4]])],
)
def test_two_groups_have_the_three_regions_of_figure_4(mixture_config, latents, groups, blocks):
    mask = mask_of(mixture_config(latents=latents, mask="groups", groups=groups), seed=0)
    assert mask.shape == (2 * latents, latents)
    assert regions(mask) == blocks
    assert perfect_matching(mask) is not None
    first, second = group_members(groups, latents)
    for rows, members in ((mask[:latents], first), (mask[latents:], second)):
        assert all(np.flatnonzero(row).tolist() == members for row in rows)


def test_the_first_group_has_one_more_of_an_odd_number_of_observations():
    assert grouped("12-23", 3, 3).sum(axis=0).tolist() == [2, 3, 1]


@pytest.mark.parametrize("groups", ["", "12", "12-", "12-2-3", "1,2-3", "12-24", "01-23", "12-²3"])
def test_groups_that_name_no_latents(groups):
    with pytest.raises(InputError) as error:
        group_members(groups, 3)
    assert "data.groups" in error.value.keys


def test_a_file_is_a_mask(mixture_config, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("1,0,1\n0,1,0\n1,1,1\n0,0,1\n")
    for outputs in (1, 2):  # whatever a named mask would have
        config = mixture_config(mask=str(path), outputs_per_row=outputs)
        assert mask_of(config, 0).astype(int).tolist() == [[1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 0, 1]]
    with pytest.raises(InputError, match="of 3 latents"):
        mask_of(mixture_config(mask=str(path), latents=4), 0)


def test_every_name_has_a_mask(mixture_config):
    for name in NAMED:
        groups = {"groups": "12-23"} if name == "groups" else {}
        assert mask_of(mixture_config(mask=name, **groups), 0).shape == (6, 3)
