import numpy as np
import pytest
import torch

from sparseid.data.splicing.generator import CORE, SplicingLaw, window_numbers, window_scores
from sparseid.data.splicing.sites import site_rows


@pytest.fixture(scope="module")
def law():
    return SplicingLaw(200, 30, regulators=4, width=5, prevalence=0.02, reach=20)


@pytest.fixture(scope="module")
def drawn(law):
    return law.draw(300, np.random.default_rng(0))


def test_windows_are_numbered_in_base_four():
    bases = torch.tensor([[0, 1, 2, 3, 3]])
    assert window_numbers(bases, 3).tolist() == [[64, 6, 27, 47, 64]]
    assert window_numbers(bases, 2).tolist() == [[1, 6, 11, 15, 16]]


def test_scores_of_windows_are_sums_of_log_odds():
    rng = np.random.default_rng(1)
    probabilities = rng.dirichlet([1] * 4, (2, 3))
    scores = window_scores(probabilities)
    assert scores.shape == (2, 64)
    expected = sum(np.log(4 * probabilities[1, place, base]) for place, base in enumerate((2, 0, 3)))
    assert scores[1, 2 * 16 + 0 * 4 + 3] == pytest.approx(expected)


def test_sites_are_the_best_windows_and_as_many_as_asked_for(law, drawn):
    assert law.is_site.sum(axis=1).tolist() == [round(0.02 * 4**5)] * law.kinds
    scores = window_scores(law.probabilities)
    for kind in range(law.kinds):
        assert scores[kind][law.is_site[kind, :-1]].min() >= scores[kind][~law.is_site[kind, :-1]].max()
    np.testing.assert_allclose(drawn.present.float().mean((0, 1)), 0.02, atol=0.004)


def test_motifs_differ_in_information_and_overlap(law):
    information = (2 + (law.probabilities * np.log2(law.probabilities)).sum(2)).sum(1)
    assert information[CORE] > 2 * information[-1]
    np.testing.assert_allclose(law.probabilities[3, :2], law.probabilities[2, 3:], atol=1e-9)


def test_labels_are_half_of_the_core_sites_and_follow_from_motifs_and_distance(law, drawn):
    present, labels = drawn.present, drawn.labels
    for kind in range(CORE):
        spliced = labels == kind + 1
        assert not (spliced & ~present[:, :, kind]).any()
        assert 0.4 < spliced.sum() / present[:, :, kind].sum() < 0.6
    bases = drawn.inputs.argmax(1)
    number = window_numbers(bases, law.width)
    everywhere = torch.from_numpy(law.is_site)[:, number]
    item, position = (labels == 2).nonzero()[0].tolist()
    place = position + law.context
    around = everywhere[CORE:, item, place - law.reach : place + law.reach + 1].numpy()
    strength = law._margins[1, number[item, place]] + (around * law.effects[1]).sum() - law._offsets[1]
    assert strength > 0


def test_regulators_matter(law):
    """Without their effects other sites would be splice sites."""
    bases = torch.from_numpy(np.random.default_rng(3).integers(4, size=(300, 260)))
    present, strength = law._rule(bases)
    own = torch.from_numpy(law._margins)[:, window_numbers(bases, law.width)]
    for kind in range(CORE):
        chosen = present[kind]
        alone = own[kind][chosen] > own[kind][chosen].median()
        assert ((strength[kind][chosen] > 0) == alone).float().mean() < 0.9


def test_inputs_are_one_hot_and_the_law_is_fixed(law, drawn):
    assert drawn.inputs.shape == (300, 4, 260)
    assert drawn.inputs.dtype == torch.float32
    assert (drawn.inputs.sum(1) == 1).all()
    again = SplicingLaw(200, 30, regulators=4, width=5, prevalence=0.02, reach=20).draw(300, np.random.default_rng(0))
    assert torch.equal(again.labels, drawn.labels)


def test_rows_of_sites_are_ordered_and_clipped():
    present = torch.zeros(2, 30, 3, dtype=torch.bool)
    present[1, 29, 0] = present[1, 12, 2] = present[1, 12, 0] = present[0, 3, 1] = True
    assert site_rows(present, 10).tolist() == [[0, 1, 0, 14], [1, 0, 2, 23], [1, 2, 2, 23], [1, 0, 19, 30]]
