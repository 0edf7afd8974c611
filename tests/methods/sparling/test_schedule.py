from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.methods.sparling.densities import density_grid
from sparseid.methods.sparling.schedule import AdaptiveDensity, DensitySchedule


@pytest.mark.parametrize("run", ["digitcircle", "fast", "nevercut"])
def test_schedule_equals_the_peer(fixture_arrays, run):
    arrays = fixture_arrays("sparling_adaptive_updater")
    get = lambda name: arrays[f"{run}_{name}"]  # noqa: E731
    schedule = DensitySchedule(
        density=1 - float(get("start_sparsity")),
        min_density=0.0,  # the peer has no last density
        min_target=float(get("opt_minimal_threshold")),
        cut_factor=float(get("opt_information_multiplier")),
        target_fall_per_sample=float(get("opt_threshold_decrease_per_iter")),
        target=float(get("opt_initial_threshold")),
    )
    steps = zip(get("steps"), get("acc"), get("density_after"), get("threshold_after"), strict=True)
    for samples, accuracy, density, target in steps:
        schedule.check(int(samples), float(accuracy))
        assert schedule.target == pytest.approx(target, abs=1e-12)
        assert schedule.density == pytest.approx(density, rel=1e-9 if density > 1e-5 else 1e-6)


@given(start=st.floats(0.01, 1), factor=st.floats(0.1, 0.95), cuts=st.integers(0, 30))
def test_the_schedule_walks_the_grid_also_to_a_minimum_on_it(start, factor, cuts):
    minimum = start * factor**cuts
    schedule, walked = DensitySchedule(start, minimum, factor, 0.0, target=0.0), [start]
    for samples in range(1, cuts + 2):
        assert not schedule.finished
        schedule.target = 0.0  # any accuracy passes
        schedule.check(samples, 0.5)
        walked.append(schedule.density)
    assert schedule.finished
    assert walked[:-1] == pytest.approx(density_grid(start, minimum, factor))


def test_the_last_density_must_be_passed_too():
    schedule = DensitySchedule(density=0.5, min_density=0.3, cut_factor=0.75, target_fall_per_sample=0.01)
    assert not schedule.check(10, 0.9)  # target 0.9: not strictly above
    assert schedule.check(11, 0.9)
    assert (schedule.density, schedule.cuts, schedule.target, schedule.finished) == (0.375, 1, 0.9, False)
    assert schedule.check(12, 0.9)
    assert (schedule.density, schedule.cuts, schedule.finished) == (0.375, 1, True)


@given(accuracies=st.lists(st.floats(0, 1), max_size=60), start=st.floats(0.01, 1), factor=st.floats(0.1, 0.9))
def test_density_only_falls_and_stays_above_the_minimum(accuracies, start, factor):
    schedule = DensitySchedule(start, start / 50, factor, 1e-3)
    for number, accuracy in enumerate(accuracies, start=1):
        before = schedule.density
        schedule.check(10 * number, accuracy)
        assert start / 50 <= schedule.density <= before
        assert 0 <= schedule.target <= 1
    assert schedule.density == pytest.approx(start * factor**schedule.cuts)


def test_state_survives_a_checkpoint():
    schedule = DensitySchedule(0.5, 0.1, 0.75, 0.01)
    schedule.check(30, 0.8)
    twin = DensitySchedule(0.9, 0.1, 0.75, 0.01)
    twin.load_state_dict(schedule.state_dict())
    assert twin == schedule


def test_a_start_that_stays_on_the_plateau_is_given_up():
    schedule = DensitySchedule(0.5, 0.1, 0.75, 1e-4, restart_after=100, restart_below=0.5)
    for samples, accuracy, restarts in [(50, 0.1, False), (100, 0.6, False), (150, 0.4, True), (200, 0.4, False)]:
        schedule.check(samples, accuracy)
        assert schedule.restart(accuracy) == restarts
    assert (schedule.starts, schedule.started) == (2, 150)
    assert schedule.target == pytest.approx(1 - 50e-4)  # fell from 1 again since the second start
    assert schedule.check(250, 0.999)
    assert not schedule.restart(0.1), "once the density has been cut a start is never given up"


def test_target_stops_falling_at_its_minimum():
    schedule = DensitySchedule(0.5, 0.1, 0.75, 0.01, min_target=0.8)
    assert not schedule.check(1000, 0.79)
    assert schedule.target == 0.8
    assert not schedule.check(2000, 0.8)
    assert schedule.check(3000, 0.81)
    assert schedule.target == 0.81


def test_published_schedule_never_restarts():
    schedule = DensitySchedule(0.5, 0.1, 0.75, 1e-7)
    schedule.check(10**6, 0.0)
    assert not schedule.restart(0.0)


def checked(schedule, accuracy, step=10):
    """Return the module after one validation at `step` with batches of 10."""
    module = SimpleNamespace(batch_size=10, validation_accuracy=lambda: accuracy, milestone=None, progress_note="")
    trainer = SimpleNamespace(global_step=step, strategy=SimpleNamespace(broadcast=lambda x: x), should_stop=False)
    AdaptiveDensity(schedule).on_validation_epoch_end(trainer, module)
    return module, trainer


@pytest.mark.parametrize(
    ("minimum", "note"),
    [(0.05, "density 4x the minimum, exact 0.500, target 0.900"), (0.2, "exact 0.500, target 0.900")],
)
def test_progress_names_the_density_where_there_are_several(minimum, note):
    module, trainer = checked(DensitySchedule(0.2, minimum, 0.5, 1e-3), accuracy=0.5)
    assert module.progress_note == note
    assert (module.milestone, trainer.should_stop) == (None, False)


def test_weights_above_the_target_are_kept_under_the_density_in_force():
    module, trainer = checked(DensitySchedule(0.2, 0.06, 0.5, 1e-3), accuracy=0.95)
    assert (module.milestone, trainer.should_stop) == ("density-00", False)
    assert module.progress_note == "density 1.67x the minimum, exact 0.950, target 0.950"
    module, trainer = checked(DensitySchedule(0.1, 0.06, 0.5, 1e-3, cuts=1), accuracy=0.95)
    assert (module.milestone, trainer.should_stop) == ("density-01", True)
