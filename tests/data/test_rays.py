"""Rays against solids, at points that can be computed by hand."""

import numpy as np
import pytest

from sparseid.data.rays import box, camera, capsule, cylinder, lambert, nearest, polyhedron, sphere

ORIGIN = np.array([0.0, 0.0, 5.0])
RAYS = np.array([[0.0, 0.0, -1.0], [0.6, 0.0, -0.8], [0.0, 0.0, 1.0]]).T  # ahead, past it, away


def hit(hits):
    return hits.distance.tolist(), hits.normal[:, 0].tolist()


def test_a_sphere_is_hit_in_front():
    assert hit(sphere(ORIGIN, RAYS, (0, 0, 0), 2.0)) == ([3, np.inf, np.inf], [0, 0, 1])


def test_a_box_is_hit_on_the_face_towards_the_camera():
    assert hit(box(ORIGIN, RAYS, (-1, -1, -1), (1, 1, 2))) == ([3, np.inf, np.inf], [0, 0, 1])


def test_a_ray_along_a_face_hits_only_inside():
    along = np.array([[0.0], [0.0], [-1.0]])
    for x, expected in ((0.5, 3.0), (1.5, np.inf)):
        assert box(np.array([x, 0.0, 5.0]), along, (-1, -1, -1), (1, 1, 2)).distance[0] == expected


@pytest.mark.parametrize(("axis", "expected"), [(0, 4.0), (1, 4.0), (2, 2.0)])
def test_a_cylinder_is_hit_on_its_side_or_its_end(axis, expected):
    start = -np.eye(3)[axis] * 3
    assert hit(cylinder(ORIGIN, RAYS, start, axis, 6.0, 1.0)) == ([expected, np.inf, np.inf], [0, 0, 1])


def test_a_cylinder_is_seen_from_above_at_its_upper_end():
    origin = np.array([0.0, 5.0, 0.2])
    down = np.array([[0.0], [-1.0], [0.0]])
    found = cylinder(origin, down, (0, 0, 0), 1, 2.0, 1.0)
    assert hit(found) == ([3.0], [0, 1, 0])
    assert cylinder(origin + np.array([0, 0, 1]), down, (0, 0, 0), 1, 2.0, 1.0).distance[0] == np.inf


def test_a_capsule_has_round_ends():
    origin = np.array([0.0, 5.0, 0.0])
    found = capsule(origin, np.array([[0.0], [-1.0], [0.0]]), (0, 1, 0), 1, 2.0, 0.5)
    assert hit(found) == ([1.5], [0, 1, 0])


def test_a_slanted_face():
    normals = np.array([[0, 2**-0.5, 2**-0.5], [0, 0, -1.0]])
    assert polyhedron(ORIGIN, RAYS, normals, np.array([2**0.5, 1.0])).distance[0] == pytest.approx(3)


def test_the_first_of_several_solids_is_seen():
    hits, which = nearest([sphere(ORIGIN, RAYS, (0, 0, 0), 1.0), sphere(ORIGIN, RAYS, (0, 0, 1.5), 0.5)])
    assert (hits.distance[0], which[0]) == (3.0, 1)


def test_a_camera_looks_at_its_target_with_up_above_and_right_on_the_right():
    rays = camera((0, 0, 5), (0, 0, 0), 90, 4).reshape(3, 4, 4, 4)
    assert np.allclose(np.linalg.norm(rays, axis=0), 1)
    mean = rays.mean(axis=(1, 2, 3))
    assert np.allclose(mean[:2], 0)
    assert mean[2] < 0
    assert (rays[1, 0] > 0).all()
    assert (rays[0, :, 3] > 0).all()
    corner = rays[:, 0, 3]
    assert np.allclose(sorted(-corner[0] / corner[2]), [5 / 8, 5 / 8, 7 / 8, 7 / 8])


def test_brightness_is_full_towards_the_light_and_ambient_away_from_it():
    normals = np.array([[0, 1.0, 0], [0, -1.0, 0], [1.0, 0, 0]]).T
    assert lambert(normals, (0, 2, 0), 0.3) == pytest.approx([1, 0.3, 0.3])
