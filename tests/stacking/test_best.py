import math

import torch

from sparseid.stacking.best import BestState, EarlyStop

CURVES = torch.tensor([[3.0, 2.0, 2.5, 2.4, 1.0], [3.0, 2.9, 2.8, 2.7, 2.6], [math.nan, 1.0, math.nan, 2.0, 3.0]]).T
"""Validation values of three members: one that stops before it improves again, one that always does, one with NaN."""


def test_every_member_stops_on_its_own_curve():
    stop = EarlyStop(3, patience=2)
    improved = [stop.update(values).tolist() for values in CURVES]
    assert improved == [
        [True, True, False],
        [True, True, True],
        [False, True, False],
        [False, True, False],
        [False, True, False],  # the first has waited twice: 1.0 comes too late
    ]
    assert stop.best.tolist() == torch.tensor([2.0, 2.6, 1.0]).tolist()
    assert stop.stopped.tolist() == [True, False, True]


def test_without_patience_nobody_stops_and_small_steps_do_not_count():
    stop = EarlyStop(1, patience=0, least=0.5)
    assert [stop.update(torch.tensor([value])).item() for value in (3.0, 2.6, 2.4, 2.0)] == [True, False, True, False]
    assert not stop.stopped.any()


def test_the_state_goes_on_after_a_resume():
    stop, again = EarlyStop(3, patience=2), EarlyStop(3, patience=2)
    for values in CURVES[:3]:
        stop.update(values)
    again.load_state_dict(stop.state_dict())
    assert [again.update(values).tolist() for values in CURVES[3:]] == [stop.update(v).tolist() for v in CURVES[3:]]


def test_each_member_keeps_its_own_best_tensors():
    tensors = {"layer.weight": torch.zeros(2, 3), "scale": torch.zeros(2)}
    best = BestState(tensors)
    for step, improved in enumerate([[True, True], [False, True], [True, False]], start=1):
        tensors = {name: torch.full_like(tensor, step) for name, tensor in tensors.items()}
        best.keep(torch.tensor(improved), tensors)
    kept = best.tensors()
    assert kept["layer.weight"].tolist() == [[3.0] * 3, [2.0] * 3]
    assert kept["scale"].tolist() == [3.0, 2.0]
    other = BestState({name: torch.zeros_like(tensor) for name, tensor in tensors.items()})
    other.load_state_dict(best.state_dict())
    assert torch.equal(other.tensors()["layer.weight"], kept["layer.weight"])
