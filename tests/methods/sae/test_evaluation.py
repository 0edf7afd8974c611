import pytest
import torch

from sparseid.data.mlp_activations.language_model import NextTokenLosses
from sparseid.methods.sae.codes import Active, Codes
from sparseid.methods.sae.evaluation import CodeTotals, JacobianTotals, PartResult, measure


def totals(parts=1):
    """Two tokens of features 0 and 2 of 4; the second has a zero activation of feature 1."""
    made = CodeTotals(4, 2, torch.device("cpu"))
    targets, reconstructions = torch.tensor([[1.0, 0], [3, 0]]), torch.tensor([[1.5, 0], [3, 0]])
    values = [((0, 0), (0, 2), (1.0, 2.0)), ((1, 1), (1, 2), (0.0, 1.0))]
    if parts == 2:
        for token, (_, features, activations) in enumerate(values):
            active = Active(torch.tensor([0, 0]), torch.tensor(features))
            made.add(targets[[token]], reconstructions[[token]], Codes(active, torch.tensor(activations), (1, 4)))
        return made
    tokens, features, activations = (torch.tensor(part).flatten() for part in zip(*values, strict=True))
    made.add(targets, reconstructions, Codes(Active(tokens, features), activations, (2, 4)))
    return made


@pytest.mark.parametrize("parts", [1, 2])
def test_totals_of_known_codes_do_not_depend_on_batches(parts):
    made = totals(parts)
    assert made.fired.tolist() == [1, 0, 2, 0]
    assert (made.dead, made.l0) == (2, 1.5)
    assert made.explained_variance == pytest.approx(1 - 0.25 / 2)


def test_tokens_that_are_all_equal_have_no_variance():
    made = CodeTotals(2, 1, torch.device("cpu"))
    made.add(
        torch.ones(3, 1), torch.ones(3, 1), Codes(Active(torch.arange(3), torch.zeros(3).long()), torch.ones(3), (3, 2))
    )
    assert made.explained_variance is None
    assert {m.metric: m.value for m in measure({"input": PartResult(made, 0)}, None)}["explained_variance"] is None


def test_entries_of_jacobians_are_counted_by_size():
    made = JacobianTotals()
    made.add(torch.tensor([[[0.005, -0.02], [0.01, 1.0]]]))
    made.add(torch.zeros(1, 2, 2))
    assert made.entries == 8
    assert made.above == 25
    assert made.mean == pytest.approx(1.035 / 8)


def test_counts_are_summed_over_both_codes_and_other_numbers_averaged():
    found = measure({"input": PartResult(totals(), 3), "output": PartResult(totals(2), 1)}, None)
    whole = {m.metric: m.value for m in found if not m.keys}
    assert whole == {
        "dead_features": 4,
        "dead_share": 50,
        "dead_in_training": 4,
        "explained_variance": pytest.approx(0.875),
        "l0": 1.5,
    }
    of_output = {m.metric: m.value for m in found if m.keys == {"part": "output"}}
    assert of_output["dead_in_training"] == 1
    assert {m.n for m in found} == {2}


def test_the_loss_recovered_is_a_row_where_tokens_are_predicted():
    losses = NextTokenLosses(plain=3.0, replaced=3.5, without=5.0, predictions=30)
    row = measure({"input": PartResult(totals(), 0)}, None, losses)[-1]
    assert (row.metric, row.value, row.unit, row.n, row.keys) == ("loss_recovered", 75, "percent", 30, {})
