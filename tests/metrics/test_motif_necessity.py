import pytest

from sparseid.metrics.motif_necessity import COUNTS, alpha, flow, placement_probability, placements


def test_placements_keep_their_distance():
    assert placements(2, 3) == [(0, 2), (0, 3), (1, 3)]
    assert placements(0, 3) == [()]
    assert placements(3, 3) == []


def test_published_placements_and_their_probabilities():
    assert [len(placements(count)) for count in COUNTS] == [84, 70, 21, 1]
    assert placement_probability(5) == pytest.approx(1 / 84)
    assert placement_probability(4) == pytest.approx(1 / 280)


def test_published_alpha_and_the_one_whose_flows_add_up():
    assert alpha() == pytest.approx(0.465, abs=5e-4)
    assert alpha("k") == pytest.approx(0.494, abs=5e-4)
    assert [flow(count, "k") for count in (4, 5, 6)] == pytest.approx([0.2262, 0.1964, 0.0714], abs=5e-5)
    with pytest.raises(ValueError, match="constant5 or k"):
        flow(4, "half")


def test_no_more_flows_than_there_is():
    for count in (1, 2, 3, 4, 5, 6, 7):
        assert 0 <= flow(count, "k") <= 1 / len(COUNTS)


@pytest.mark.shared
def test_flows_equal_the_published_notebook(shared_arrays):
    arrays = shared_arrays("sparling_alpha_necessity")
    flows = [flow(int(count)) for count in arrays["max_position_10_k"]]
    assert flows == pytest.approx(arrays["max_position_10_flow"].tolist(), abs=1e-12)
    counts = [len(placements(count)) for count in range(9)]
    assert counts == arrays["max_position_10_n_configs_0_to_8"].tolist()
    assert alpha() == pytest.approx(float(arrays["alpha_k4_5_6"]), abs=1e-12)
