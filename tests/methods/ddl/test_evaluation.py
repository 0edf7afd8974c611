from dataclasses import replace

import numpy as np
import pytest
import torch

from sparseid.methods.ddl.evaluation import Evaluated, block_scores, measure, transition_of

GENERATOR = np.random.default_rng(0)
TRUTH = GENERATOR.standard_normal((400, 3))
MASK = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])


def member_with(codes, groups=None, mask=MASK):
    """A member whose decoder has the given structure exactly."""
    latents = codes.shape[1]
    return Evaluated(
        seeds=[7],
        codes=codes[None],
        truth=TRUTH[None],
        errors=np.full((1, len(codes)), 0.25),
        dependence=mask[None].astype(float),
        transition=np.eye(latents)[None],
        mask=mask[None],
        groups=groups,
    )


def values(measurements):
    return {(row.metric, row.keys.get("score")): row.value for row in measurements}


def test_a_perfect_member():
    found = values(measure(member_with(np.tanh(TRUTH))))
    assert found["mcc", None] > 0.95
    assert found["mcc_spearman", None] == pytest.approx(1)
    assert found["reconstruction", None] == 0.25
    assert (found["structure_f1", None], found["structure_shd", None]) == (1, 0)
    assert found["forbidden", None] == 0
    assert not any(score for _, score in found)


def test_sizes_of_the_jacobian_count_latents_as_they_are_and_by_their_spread():
    found = values(measure(member_with(TRUTH * [2.0, 3.0, 0.5])))
    spread = TRUTH.std(axis=0)
    assert found["jacobian_l1", None] == pytest.approx(6)
    assert found["jacobian_l1_normalised", None] == pytest.approx(2 * spread @ [2.0, 3.0, 0.5])


def test_a_forbidden_entry_is_measured_in_spreads_of_both_latents():
    """T = d z / d z' with z' twice as wide and z half as wide: the entry counts four times."""
    entry = np.eye(3)
    entry[0, 1] = 0.01
    found = replace(member_with(2 * TRUTH), transition=entry[None], truth=0.5 * TRUTH[None])
    spread = TRUTH.std(axis=0)
    assert values(measure(found))["forbidden", None] == pytest.approx(0.01 * 4 * spread[1] / spread[0])


def test_what_is_undefined_is_empty():
    dense = values(measure(member_with(TRUTH, mask=np.ones((3, 3)))))
    assert dense["forbidden", None] is None  # a dense structure forbids nothing
    assert dense["mcc", None] == pytest.approx(1)
    broken = TRUTH.copy()
    broken[5, 1] = np.nan
    lost = values(measure(member_with(broken, groups=([0, 1], [1, 2]))))
    assert set(lost.values()) == {None}
    assert len(lost) == 8 + 5


def test_blocks_that_are_separated_have_scores_near_zero_whatever_is_mixed_within():
    """K reads latents 1 to 3, V 3 and 4: one is shared; 1 and 2 may be mixed. Learned latents come in any order."""
    truth = GENERATOR.standard_normal((600, 4))
    codes = np.stack([truth[:, 3] ** 3, truth[:, 0] + truth[:, 1], -truth[:, 2], truth[:, 0] - truth[:, 1]], axis=1)
    scores = block_scores(codes, truth, [0, 1, 2], [2, 3])
    assert scores.pop("ref") > 0.95
    assert list(scores) == ["int", "symdiff", "comp_a", "comp_b"]
    assert max(scores.values()) < 0.1

    entangled = codes + 0.8 * np.roll(codes, 1, axis=1)
    assert max(list(block_scores(entangled, truth, [0, 1, 2], [2, 3]).values())[:4]) > 0.2


def test_each_score_sees_the_mixture_that_it_is_about():
    truth = GENERATOR.standard_normal((600, 3))  # K reads 1 and 2, V 2 and 3

    def scores(*mixed):
        codes = truth.copy()
        for into, other in mixed:
            codes[:, into] = truth[:, into] + 0.7 * truth[:, other]
        return {name for name, r2 in block_scores(codes, truth, [0, 1], [1, 2]).items() if r2 > 0.1}

    assert scores() == {"ref"}
    assert scores((0, 1)) == {"ref", "int"}  # a learned latent of K alone knows the shared one
    assert scores((1, 2)) == {"ref", "symdiff"}  # the shared one knows that of V alone
    assert scores((2, 0)) == {"ref", "comp_a"}  # that of V alone knows that of K alone
    assert scores((0, 2)) == {"ref", "comp_b"}


def test_a_block_that_is_empty_has_no_score():
    scores = block_scores(TRUTH, TRUTH, [0, 1, 2], [1, 2])  # nothing is V's alone
    assert np.isnan(scores["comp_a"])
    assert np.isnan(scores["comp_b"])
    assert scores["ref"] > 0.9
    assert scores["int"] < 0.1


def test_the_transition_is_the_derivative_of_true_by_learned_latents():
    generator = torch.Generator().manual_seed(0)
    jacobian = torch.randn(2, 5, 6, 3, generator=generator, dtype=torch.float64)
    transition = torch.randn(2, 5, 3, 3, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(transition_of(jacobian, jacobian @ transition), transition)
    learned = (jacobian @ transition).clone()
    learned[1] = torch.nan  # a member that has diverged
    found = transition_of(jacobian, learned)
    torch.testing.assert_close(found[0], transition[0])
    assert found[1].isnan().all()
