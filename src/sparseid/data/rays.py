"""Ray casting of convex solids, for images that are drawn once per geometry.

All rays of an image start at its camera; y points up. Vectors of rays are arrays (3, ...), components first. A ray that
misses a solid has distance infinity. Solids are seen from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
SUPERSAMPLING = 2
"""Rays per pixel and axis."""


class Hits(NamedTuple):
    """Points at which rays meet a solid.

    Attributes
    ----------
    distance
        (...) from the origin; infinite for a miss.
    normal
        (3, ...) outer normal of unit length; arbitrary for a miss.
    """

    distance: Array
    normal: Array


def camera(position: ArrayLike, target: ArrayLike, field: float, side: int) -> Array:
    """Return unit directions (3, pixels, rays) of the rays of a square image, a few per pixel, rows from the top.

    Parameters
    ----------
    position, target
        (3,) place of the camera, and the point in the middle of its image.
    field
        Field of view, in degrees.
    side
        Height and width of the image, in pixels.
    """
    forward = unit(np.subtract(target, position))
    right = unit(np.cross(forward, (0.0, 1.0, 0.0)))
    fine = side * SUPERSAMPLING
    steps = np.tan(np.radians(field / 2)) * ((2 * np.arange(fine) + 1) / fine - 1)
    y, x = np.meshgrid(-steps, steps, indexing="ij")
    x, y = (values.reshape(side, SUPERSAMPLING, side, SUPERSAMPLING).swapaxes(1, 2) for values in (x, y))
    directions = _column(forward, x) + x * _column(right, x) + y * _column(np.cross(right, forward), x)
    return unit(directions).reshape(3, side * side, SUPERSAMPLING**2)


def unit(vectors: ArrayLike) -> Array:
    """Return vectors (3, ...) scaled to length 1."""
    values = np.asarray(vectors, float)
    return values / np.sqrt(_dot(values, values))


def lambert(normal: Array, light: ArrayLike, ambient: float) -> Array:
    """Return the brightness (...) of a matt surface: `ambient` away from the light, 1 where it faces it."""
    return ambient + (1 - ambient) * np.clip(_dot(unit(light), normal), 0, None)


def pixels_near(origin: Array, direction: Array, centre: ArrayLike, radius: float) -> NDArray[np.int64]:
    """Return the numbers of the pixels with a ray that meets a sphere, of rays (3, pixels, rays)."""
    return np.flatnonzero(np.isfinite(sphere(origin, direction, centre, radius).distance).any(axis=1))


def polyhedron(origin: Array, direction: Array, normals: Array, offsets: Array) -> Hits:
    """Return the hits of a convex polyhedron, the points x with ``normals @ x <= offsets``.

    Parameters
    ----------
    origin, direction
        (3,) and (3, ...): the rays.
    normals
        (faces, 3) outer normals of unit length.
    offsets
        (faces,) distances of the faces from the point 0.
    """
    first, last = np.full(direction.shape[1:], -np.inf), np.full(direction.shape[1:], np.inf)
    face = np.zeros(first.shape, int)
    for number, (normal, gap) in enumerate(zip(normals, offsets - normals @ origin, strict=True)):
        slope = _dot(normal, direction)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = gap / slope  # along a face: inside of it (and no bound) or outside (and no hit)
        enters = (slope < 0) & (crossing > first)
        first, face = np.where(enters, crossing, first), np.where(enters, number, face)
        last = np.where(slope > 0, np.minimum(crossing, last), last)
        if gap < 0:
            last = np.where(slope == 0, -np.inf, last)
    return Hits(np.where((first > 0) & (first < last), first, np.inf), np.moveaxis(normals[face], -1, 0))


def box(origin: Array, direction: Array, low: ArrayLike, high: ArrayLike) -> Hits:
    """Return the hits of a box with faces along the axes, from corner `low` to corner `high`."""
    return polyhedron(origin, direction, np.concatenate([np.eye(3), -np.eye(3)]), np.r_[high, np.negative(low)])


def sphere(origin: Array, direction: Array, centre: ArrayLike, radius: float) -> Hits:
    """Return the hits of a sphere."""
    start = origin - np.asarray(centre, float)
    distance = _first_root(_dot(start, direction), start @ start - radius**2)
    return Hits(distance, (_column(start, distance) + _finite(distance) * direction) / radius)


def cylinder(origin: Array, direction: Array, start: ArrayLike, axis: int, length: float, radius: float) -> Hits:
    """Return the hits of a cylinder with flat ends, from the point `start` along the axis of that number."""
    across = [other for other in range(3) if other != axis]
    from_start = origin - np.asarray(start, float)
    place, slope = from_start[across], direction[across]
    square = _dot(slope, slope)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = _first_root(_dot(place, slope) / square, (place @ place - radius**2) / square)
        height = from_start[axis] + distance * direction[axis]
        distance = np.where((height >= 0) & (height <= length), distance, np.inf)
    normal = np.zeros_like(direction)
    normal[across] = (_column(place, distance) + _finite(distance) * slope) / radius
    end, outwards = (length, 1.0) if from_start[axis] > length else (0.0, -1.0)  # the end that faces the camera
    with np.errstate(divide="ignore", invalid="ignore"):
        at_end = (end - from_start[axis]) / direction[axis]
        beside = _column(place, at_end) + at_end * slope
        hit = (at_end > 0) & (_dot(beside, beside) <= radius**2) & (direction[axis] * outwards < 0)
    normal[:, hit] = 0.0
    normal[axis, hit] = outwards
    return Hits(np.where(hit, at_end, distance), normal)


def capsule(origin: Array, direction: Array, start: ArrayLike, axis: int, length: float, radius: float) -> Hits:
    """Return the hits of a cylinder with a half sphere at either end, which are beyond its `length`."""
    ends = [np.asarray(start, float) + end * np.eye(3)[axis] for end in (0.0, length)]
    round_ends = [sphere(origin, direction, end, radius) for end in ends]
    return nearest([cylinder(origin, direction, start, axis, length, radius), *round_ends])[0]


def nearest(solids: Sequence[Hits]) -> tuple[Hits, NDArray[np.int64]]:
    """Return the first hit of every ray, and the number (...) of the solid that was hit (0 for none)."""
    distance, normal = solids[0]
    which = np.zeros(distance.shape, int)
    for number, hits in enumerate(solids[1:], start=1):
        closer = hits.distance < distance
        distance, normal = np.where(closer, hits.distance, distance), np.where(closer, hits.normal, normal)
        which[closer] = number
    return Hits(distance, normal), which


def _dot(first: Array, second: Array) -> Array:
    """Return the sums over components; each argument is (components,) or (components, ...)."""
    total: Array = sum(one * other for one, other in zip(first, second, strict=True))
    return total


def _column(vector: Array, like: Array) -> Array:
    """Return a vector (components,) in the shape (components, 1, ...) of vectors of rays (...)."""
    return vector.reshape(-1, *[1] * like.ndim)


def _finite(distance: Array) -> Array:
    return np.where(np.isfinite(distance), distance, 0.0)


def _first_root(half: Array, rest: Array | float) -> Array:
    """Return the smaller root of ``t² + 2 half t + rest``, infinite if there is none or it is not positive."""
    inside = half * half - rest
    with np.errstate(invalid="ignore"):
        root = -half - np.sqrt(inside)
    return np.where((inside >= 0) & (root > 0), root, np.inf)
