import torch

from sparseid.stacking.noise import StepNoise, random_signs

CPU = torch.device("cpu")


def test_noise_is_a_function_of_seed_and_step_in_any_order():
    shape = (1000, 30)  # two steps are drawn at a time
    noise = StepNoise([4, 1], "noise", shape)
    there = [noise.at(step, 1000, CPU).clone() for step in range(5)]
    alone = StepNoise([1], "noise", shape)
    for step in (4, 0, 3, 3):  # as after a resume
        assert torch.equal(alone.at(step, 1000, CPU)[0], there[step][1])
    drawn = torch.stack(there).flatten(0, 1)  # every step of every member is another draw
    assert len(torch.unique(drawn.flatten(1), dim=0)) == 10
    assert abs(float(drawn.mean())) < 0.01
    assert abs(float(drawn.std()) - 1) < 0.01


def test_a_smaller_batch_gets_the_first_of_the_numbers():
    noise = StepNoise([0], "noise", (4, 2))
    assert torch.equal(noise.at(3, 2, CPU), noise.at(3, 4, CPU)[:, :2])


def test_streams_of_other_names_are_others():
    first, second = (StepNoise([0], name, (4, 2)).at(0, 4, CPU) for name in ("noise", "signs"))
    assert not torch.equal(first, second)


def test_random_signs_are_fair():
    signs = StepNoise([0, 1], "signs", (500, 2, 3), random_signs).at(0, 500, CPU)
    assert signs.shape == (2, 500, 2, 3)
    assert signs.unique().tolist() == [-1.0, 1.0]
    assert abs(float(signs.mean())) < 0.05
