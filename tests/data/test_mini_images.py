"""Images that a run draws: all factors are visible, and they are the same everywhere."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from sparseid.data.cars3d.mini import mini_cars
from sparseid.data.mpi3d.mini import MiniMPI
from sparseid.data.mpi3d.settings import FACTORS as MPI
from sparseid.data.shapes3d.mini import MiniShapes
from sparseid.data.shapes3d.settings import FACTORS as SHAPES

REDUCED = {
    "shapes3d": (MiniShapes, (5, 5, 5, 4, 4, 5)),
    "cars3d": (mini_cars, (2, 6, 3)),
    "mpi3d": (MiniMPI, (4, 4, 2, 3, 3, 8, 8)),
}


@pytest.fixture(scope="module")
def complete():
    """All levels of the factors, but fewer cars."""
    return {
        "shapes3d": MiniShapes(tuple(SHAPES.values()), 32),
        "cars3d": mini_cars((4, 24, 3), 32),
        "mpi3d": MiniMPI(tuple(MPI.values()), 32),
    }


@pytest.fixture(scope="module")
def reduced():
    return {name: make(levels, 32) for name, (make, levels) in REDUCED.items()}


@pytest.mark.parametrize("name", REDUCED)
def test_images_have_the_shape_of_the_papers(reduced, name):
    images = reduced[name]
    assert images.grid.sizes == REDUCED[name][1]
    seen = images.observations(images.grid.sample(7, np.random.default_rng(0)))
    assert (seen.shape, seen.dtype) == ((7, 32, 32, 3), np.uint8)


@pytest.mark.parametrize("name", REDUCED)
def test_every_level_of_every_factor_is_another_image(complete, name):
    images = complete[name]
    for combination in images.grid.sample(4, np.random.default_rng(1)):
        for factor, levels in enumerate(images.grid.sizes):
            seen = images.observations(images.grid.traversal(combination, factor))
            assert len({image.tobytes() for image in seen}) == levels, (combination, factor)


@pytest.mark.parametrize("name", REDUCED)
def test_all_combinations_are_different_images(reduced, name):
    images = reduced[name]
    factors = images.grid.at(np.random.default_rng(2).permutation(len(images.grid))[:1000])
    seen = {hashlib.sha256(image.tobytes()).digest() for image in images.observations(factors)}
    assert len(seen) == len(factors)


@pytest.mark.parametrize("name", REDUCED)
def test_an_image_does_not_depend_on_the_others_of_its_batch(reduced, name):
    images = reduced[name]
    factors = images.grid.sample(9, np.random.default_rng(3))
    assert (images.observations(factors)[4] == images.observations(factors[4:5])[0]).all()


DIGEST = """
import hashlib, numpy as np
from sparseid.data.cars3d.mini import mini_cars
from sparseid.data.mpi3d.mini import MiniMPI
from sparseid.data.shapes3d.mini import MiniShapes
found = hashlib.sha256()
for make, levels in ((MiniShapes, (3, 3, 3, 2, 4, 3)), (mini_cars, (2, 6, 3)), (MiniMPI, (4, 4, 2, 3, 3, 8, 8))):
    images = make(levels, 32)
    found.update(images.observations(images.grid.sample(64, np.random.default_rng(0))).tobytes())
digest = found.hexdigest()
"""


def test_another_process_draws_the_same_images():
    here = {}
    exec(DIGEST, here)
    command = [sys.executable, "-c", DIGEST + "print(digest)"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == here["digest"]
