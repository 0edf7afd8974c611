"""Mini MPI3D: an arm that turns about two axes and carries an object, of the factors of MPI3D.

Joints are projected by one of three cameras. What is drawn in the image is flat: thick lines, and the object's outline;
the share of a pixel that they cover follows from its distance from their edge. So no image has to be stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparseid.data.factors import FactorGrid, FactorImages, Images
from sparseid.data.mpi3d.settings import FACTORS
from sparseid.data.rays import unit

Values = NDArray[np.float32]

COLOURS = ((0.1, 0.75, 0.2), (0.85, 0.12, 0.1), (0.15, 0.35, 0.95), (0.65, 0.42, 0.2))
"""Of objects: green, red, blue, brown."""
BACKGROUNDS = ((0.45, 0.15, 0.6), (0.18, 0.55, 0.4), (0.98, 0.5, 0.42))
"""Of the strip at the back: purple, sea green, salmon."""
SIZES = (0.18, 0.29)
"""Radii of objects; lengths are those of the scene, in which the arm is `ARM` long."""
CAMERAS = ((0.0, 1.9, 2.3), (0.0, 0.35, 3.0), (0.0, -0.75, 2.9))
"""Places of the cameras: top, centre, bottom."""
TARGET, FIELD = (0.0, -0.2, 0.0), 44.0
"""Point in the middle of the images, and field of view in degrees."""
FOOT, SHOULDER, ARM = np.array([0.0, -0.85, 0.0]), np.array([0.0, -0.3, 0.0]), 0.75
HORIZONTAL, VERTICAL = (-70.0, 70.0), (-12.0, 60.0)
"""Smallest and largest angle of each axis, in degrees; levels are spaced evenly."""
POST_WIDTH, ARM_WIDTH = 0.11, 0.06
"""Half widths of post and arm."""
POST_COLOUR, ARM_COLOUR = (0.45, 0.45, 0.48), (0.72, 0.72, 0.75)
ROOM, GROUND = (0.1, 0.1, 0.12), (0.25, 0.24, 0.23)
STRIP = ((0.0, -0.85, -0.9), (0.0, -0.35, -0.9))
"""Points on the lower and the upper edge of the strip."""
SHADED = 0.45
"""Decrease of an object's brightness towards the lower right."""


class MiniMPI(FactorImages):
    """Images of the mini MPI3D.

    Parameters
    ----------
    levels
        Number of levels of each factor. Angles are spaced evenly between their extremes; of colours, shapes (cone,
        cube, hexagonal prism, sphere), sizes, cameras and backgrounds the first are used.
    side
        Height and width of the images, in pixels.
    """

    def __init__(self, levels: Sequence[int], side: int) -> None:
        super().__init__(FactorGrid(tuple(FACTORS), tuple(levels)), side)
        self._turns, self._lifts = (
            np.radians(np.linspace(*extremes, own))
            for extremes, own in zip((HORIZONTAL, VERTICAL), levels[-2:], strict=True)
        )
        self._cameras = [_Camera.at(place, side) for place in CAMERAS]
        self._empty = np.stack([[_empty(camera, colour, side) for colour in BACKGROUNDS] for camera in self._cameras])

    def observations(self, factors: ArrayLike) -> Images:
        """Return the images of combinations, drawn anew."""
        colour, shape, size, camera, background, horizontal, vertical = np.asarray(factors).T
        turn, lift = self._turns[horizontal], self._lifts[vertical]
        tip = SHOULDER + ARM * np.stack([np.cos(lift) * np.sin(turn), np.sin(lift), np.cos(lift) * np.cos(turn)], 1)
        centre, scale = self._projected(camera, tip)
        shoulder, at_shoulder = self._projected(camera, np.broadcast_to(SHOULDER, tip.shape))
        foot, at_foot = self._projected(camera, np.broadcast_to(FOOT, tip.shape))
        grid = np.arange(self.side, dtype=np.float32)
        x, y = (grid - centre[:, axis, None] for axis in (0, 1))
        radius = scale * np.array(SIZES, np.float32)[size]
        post = _line(grid, foot, shoulder, np.float32(POST_WIDTH / 2) * (at_foot + at_shoulder))
        arm = _line(grid, shoulder, centre, np.float32(ARM_WIDTH / 2) * (at_shoulder + scale))
        thing = _outline(x, y, radius, shape)
        behind = 1 - thing  # the arm covers the post, and the object both
        beyond = behind * (1 - arm)
        light = 1 - SHADED * np.clip(0.5 + ((x[:, None] + y[..., None]) * (0.35 / radius[:, None, None])), 0, 1)
        weights = np.stack([beyond * post, behind * arm, thing * light], axis=-1).reshape(len(tip), -1, 3)
        colours = np.empty((len(tip), 3, 3), np.float32)
        colours[:, 0], colours[:, 1], colours[:, 2] = POST_COLOUR, ARM_COLOUR, np.array(COLOURS)[colour]
        images = (weights @ (255 * colours)).reshape(len(tip), self.side, self.side, 3)
        images += 255 * self._empty[camera, background][:, :, None] * (beyond * (1 - post))[..., None]
        return (images + np.float32(0.5)).astype(np.uint8)

    def _projected(self, camera: NDArray[np.int64], points: NDArray[np.float64]) -> tuple[Values, Values]:
        """Return the places (items, 2) of points in pixels, and the pixels (items,) of a unit of length there."""
        places, scales = zip(*[own.project(points) for own in self._cameras], strict=True)
        items = np.arange(len(points))
        return np.stack(places)[camera, items], np.stack(scales)[camera, items]


class _Camera(NamedTuple):
    """A camera: its place, its axes (right, down, forward) as rows, and the focal length and middle in pixels."""

    place: NDArray[np.float64]
    axes: NDArray[np.float64]
    focal: float
    middle: float

    @classmethod
    def at(cls, place: ArrayLike, side: int) -> _Camera:
        """Return the camera at a place that looks at `TARGET`."""
        forward = unit(np.subtract(TARGET, place))
        right = unit(np.cross(forward, (0.0, 1.0, 0.0)))
        focal = side / 2 / np.tan(np.radians(FIELD / 2))
        return cls(
            np.asarray(place, float), np.stack([right, np.cross(forward, right), forward]), focal, (side - 1) / 2
        )

    def project(self, points: ArrayLike) -> tuple[Values, Values]:
        """Return the places (..., 2) of points (..., 3) in pixels, and the pixels of a unit of length there."""
        seen = (np.asarray(points) - self.place) @ self.axes.T
        scale = self.focal / seen[..., 2]
        return (self.middle + seen[..., :2] * scale[..., None]).astype(np.float32), scale.astype(np.float32)


def _empty(camera: _Camera, strip: ArrayLike, side: int) -> Values:
    """Return the colour (rows, 3) of each row behind the arm: the room, a strip at its back, and the ground."""
    (_, low), (_, high) = camera.project(STRIP)[0]
    rows = np.arange(side, dtype=np.float32)[:, None]
    below_high, below_low = _covered(high - rows), _covered(low - rows)
    room, middle, ground = (np.array(colour, np.float32) for colour in (ROOM, strip, GROUND))
    return room + below_high * (middle - room) + below_low * (ground - middle)


def _covered(distance: Values) -> Values:
    """Return the share of a pixel inside of an edge, by its centre's distance from it (negative inside)."""
    return np.clip(np.float32(0.5) - distance, 0, 1)


def _line(grid: Values, start: Values, end: Values, width: Values) -> Values:
    """Return the shares (items, rows, columns) of the pixels on lines between points (items, 2) of half a width."""
    along = end - start
    length = np.maximum((along * along).sum(1), np.float32(1e-6))[:, None]
    x, y = grid - start[:, :1], grid - start[:, 1:]
    place = np.clip((x * along[:, :1] / length)[:, None] + (y * along[:, 1:] / length)[..., None], 0, 1)
    across, down = x[:, None] - place * along[:, 0, None, None], y[..., None] - place * along[:, 1, None, None]
    return _covered(np.sqrt(across * across + down * down) - width[:, None, None])


def _outline(x: Values, y: Values, radius: Values, shape: NDArray[np.int64]) -> Values:
    """Return the shares (items, rows, columns) of the pixels in outlines around 0 of a radius (items,).

    Parameters
    ----------
    x, y
        (items, columns) and (items, rows): pixels relative to the object.
    radius, shape
        (items,) of each object.
    """
    edges = _EDGES[shape]
    distance = np.full((len(x), y.shape[1], x.shape[1]), -np.inf, np.float32)
    for number in range(edges.shape[1]):
        right, down, offset = edges[:, number].T
        ahead = (right[:, None] * x)[:, None] + (down[:, None] * y - (offset * radius)[:, None])[..., None]
        np.maximum(distance, ahead, out=distance)
    ball = shape == 3
    distance[ball] = np.sqrt((x[ball] ** 2)[:, None] + (y[ball] ** 2)[..., None]) - radius[ball, None, None]
    return _covered(distance)


def _polygon(*corners: tuple[float, float]) -> list[tuple[float, float, float]]:
    """Return the edges of a polygon with clockwise corners (right, down): outer normal, and distance from 0."""
    edges = []
    for (x, y), (next_x, next_y) in zip(corners, corners[1:] + corners[:1], strict=True):
        length = np.hypot(next_x - x, next_y - y)
        normal = ((next_y - y) / length, (x - next_x) / length)
        edges.append((*normal, normal[0] * x + normal[1] * y))
    return edges


_SHAPES = [
    _polygon((0.0, -1.1), (0.95, 0.8), (-0.95, 0.8)),
    _polygon((0.75, -0.75), (0.75, 0.75), (-0.75, 0.75), (-0.75, -0.75)),
    _polygon((0.0, -1.15), (0.65, -0.75), (0.65, 0.75), (0.0, 1.15), (-0.65, 0.75), (-0.65, -0.75)),
]
"""Cone, cube and hexagonal prism seen from the side: triangle, square, a tall hexagon; of radius 1, about."""
_EDGES = np.array([(shape * 6)[:6] for shape in (*_SHAPES, _SHAPES[0])], np.float32)
"""(shapes, 6, 3): edges, repeated where there are fewer; those of the sphere are not used."""
