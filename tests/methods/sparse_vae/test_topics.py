import numpy as np
import pytest
import torch

from sparseid.methods.sparse_vae.evaluation import scores_of
from sparseid.methods.sparse_vae.topics import enrichment_measurement, topic_measurements

NAMES = list("abcdef")


@pytest.fixture
def occurs():
    """Features a, b and c, and d, e and f, occur together."""
    kind = np.random.default_rng(0).random(400) < 0.5
    return np.where(kind[:, None], np.arange(6) < 3, np.arange(6) >= 3) & (
        np.random.default_rng(1).random((400, 6)) < 0.8
    )


def test_topics_are_numbered_by_weight_named_by_their_features_and_dead_ones_left_out(occurs):
    selector = np.zeros((6, 3))
    selector[:3, 2] = [0.5, -0.9, 0.7]
    selector[3:, 0] = [2.0, 3.0, 4.0]
    selector[:, 1] = 0.009
    found = list(topic_measurements(selector, occurs, NAMES, 3, seed=4))
    named = {m.keys["topic"]: m.keys["top_features"] for m in found if m.metric == "npmi"}
    assert named == {1: "f; e; d", 2: "b; c; a"}
    assert all(m.value > 0.3 and m.n == 400 and m.seed == 4 for m in found if m.metric == "npmi")
    assert [m.keys for m in found if m.metric == "npmi_random"] == [{"topic": 1}, {"topic": 2}]
    assert list(topic_measurements(selector, occurs, NAMES, 3, seed=4)) == found


def test_kinds_that_all_features_of_a_topic_share_are_named(occurs):
    selector = np.zeros((6, 2))
    selector[:3, 0], selector[[0, 3, 5], 1] = 1.0, 0.5
    kinds = ["Action|Sci-Fi", "Sci-Fi", "Drama|Sci-Fi", "Action|Drama", "Drama", "Drama"]
    found = [m for m in topic_measurements(selector, occurs, NAMES, 3, 0, kinds) if m.metric == "npmi"]
    assert [m.keys.get("shared") for m in found] == ["Sci-Fi", None]


def test_random_features_are_less_coherent_and_differ_between_seeds(occurs):
    selector = np.random.default_rng(2).normal(size=(6, 40))
    by_seed = [
        [m.value for m in topic_measurements(selector, occurs, NAMES, 3, seed) if m.metric == "npmi_random"]
        for seed in (0, 1)
    ]
    assert by_seed[0] != by_seed[1]
    assert np.mean(by_seed) < 0.1


def test_nothing_used_and_too_few_features_make_no_topics(occurs):
    assert not list(topic_measurements(np.zeros((6, 3)), occurs, NAMES, 3, seed=0))
    assert not list(topic_measurements(np.ones((6, 3)), occurs, NAMES, 7, seed=0))


def test_processes_are_counted_once_and_genes_that_the_slab_does_not_explain_are_none():
    names = [f"Gene{number}" for number in range(40)]
    sets = {
        "first": frozenset(name.upper() for name in names[:6]),
        "last": frozenset(name.upper() for name in names[34:]),
    }
    selector = np.zeros((40, 3))
    selector[:6, 0] = selector[:6, 1] = 1.0
    selector[34:, 2] = -1.0
    found = enrichment_measurement(selector, np.ones((40, 3)), names, sets, seed=3)
    assert (found.metric, found.value, found.n, found.seed) == ("n_processes", 2.0, 40, 3)
    unlikely = np.where(np.arange(3) == 2, 0.4, 1.0) * np.ones((40, 1))
    assert enrichment_measurement(selector, unlikely, names, sets, seed=3).value == 1.0
    assert enrichment_measurement(0.009 * selector, np.ones((40, 3)), names, sets, seed=3).value == 0.0


def test_the_gap_to_the_oracle_is_what_a_rows_own_frequencies_would_save():
    counts = torch.tensor([[[2.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]])
    uniform = torch.full((1, 3, 3), 1 / 3)
    scores = scores_of(uniform, counts, gaussian=False)
    entropy = 4 * np.log(3) - (2 * np.log(2) + 2 * np.log(4))
    torch.testing.assert_close(
        scores["gap_to_oracle"][0], torch.tensor([entropy, 0, 3 * np.log(3)]).float(), atol=1e-4, rtol=0
    )
    own = counts / counts.sum(dim=-1, keepdim=True).clamp(min=1)
    assert scores_of(own, counts, gaussian=False)["gap_to_oracle"].abs().max() < 1e-6
