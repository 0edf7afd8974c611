"""The adaptive density within a training."""

from types import SimpleNamespace

import pytest

from sparseid.methods.sparling.callbacks import AdaptiveDensity
from sparseid.methods.sparling.schedule import DensitySchedule


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
