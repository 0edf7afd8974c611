"""Mini Shapes3D: an object in a corner of a room, of the same factors as Shapes3D.

Scale, shape and orientation make the geometry. Its rays are cast once; a pixel is then the sum over floor, walls and
object of the part's share, times its brightness, times its colour.
"""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparseid.data.factors import FactorGrid, FactorImages, Images
from sparseid.data.rays import (
    Array,
    Hits,
    box,
    camera,
    capsule,
    cylinder,
    lambert,
    nearest,
    pixels_near,
    polyhedron,
    sphere,
)
from sparseid.data.shapes3d.settings import FACTORS

PARTS = 3
"""Floor, walls, object: those with a hue of their own, in the order of the factors."""
SCALES, ANGLES = (0.75, 1.25), (-30.0, 30.0)
"""Smallest and largest scale and orientation; levels are spaced evenly (those of Shapes3D)."""
DISTANCE, HEIGHT, FIELD = 4.6, 2.0, 34.0
"""Distance of the camera from the object's axis, its height, and its field of view in degrees."""
TARGET = (0.0, 0.65, 0.0)
CORNER = np.sqrt(0.5)
WALLS = (np.array([CORNER, 0.0, CORNER]), np.array([-CORNER, 0.0, CORNER]))
"""Normals of the walls, which point into the room."""
WALL_DISTANCE = 1.5
AROUND = ((0.0, 0.7, 0.0), 1.15)
"""Centre and radius of a sphere that contains every object."""
LIGHT, AMBIENT = (-0.5, 1.6, 1.0), 0.45
UP = (0.0, 1.0, 0.0)


class MiniShapes(FactorImages):
    """Images of the mini Shapes3D.

    Parameters
    ----------
    levels
        Number of levels of each factor. Hues are spaced evenly on the circle, scales and orientations between their
        extremes; shapes are the first of cube, cylinder, sphere and pill.
    side
        Height and width of the images, in pixels.

    Attributes
    ----------
    weights
        (scales, shapes, orientations, pixels, parts) float32: brightness of each part in each pixel, times its share
        of the pixel.
    """

    def __init__(self, levels: Sequence[int], side: int) -> None:
        super().__init__(FactorGrid(tuple(FACTORS), tuple(levels)), side)
        scales, shapes, angles = levels[PARTS:]
        self.weights = np.empty((scales, shapes, angles, side * side, PARTS), np.float32)
        for number, angle in enumerate(np.linspace(*ANGLES, angles).tolist()):
            view = _View(angle, side)
            for place, scale in enumerate(np.linspace(*SCALES, scales).tolist()):
                for shape in range(shapes):
                    self.weights[place, shape, number] = view.weights(scale, shape)
        self._hues = [_hues(number) for number in levels[:PARTS]]

    def observations(self, factors: ArrayLike) -> Images:
        """Return the images of combinations: the parts' weights times their colours."""
        levels = np.asarray(factors)
        colours = np.stack([hues[levels[:, part]] for part, hues in enumerate(self._hues)], axis=1)
        weights = self.weights[tuple(levels[:, PARTS:].T)]
        images = weights @ (255 * colours) + np.float32(0.5)
        return images.astype(np.uint8).reshape(len(levels), self.side, self.side, self.channels)


def _hues(number: int) -> NDArray[np.float32]:
    """Return saturated colours (number, 3) in [0, 1]; the hue 1, which equals 0, is left out."""
    return np.array([colorsys.hsv_to_rgb(hue / number, 1, 1) for hue in range(number)], np.float32)


class _View:
    """The empty room as the camera sees it at an orientation, and objects in it."""

    def __init__(self, angle: float, side: int) -> None:
        turn = np.radians(angle)
        self.origin = np.array([DISTANCE * np.sin(turn), HEIGHT, DISTANCE * np.cos(turn)])
        rays = camera(self.origin, TARGET, FIELD, side)
        floor = _plane(self.origin, rays, np.array(UP), 0.0)
        room, which = nearest([floor, *(_plane(self.origin, rays, normal, -WALL_DISTANCE) for normal in WALLS)])
        part, brightness = np.minimum(which, 1), lambert(room.normal, LIGHT, AMBIENT)
        self.empty = _shares(part, brightness)
        self.near = pixels_near(self.origin, rays, *AROUND)
        self.rays, self.part, self.brightness = (
            rays[:, self.near],
            np.minimum(which, 1)[self.near],
            brightness[self.near],
        )

    def weights(self, scale: float, shape: int) -> Array:
        """Return share times brightness (pixels, parts) of each part."""
        hits = _object(self.origin, self.rays, scale, shape)
        hit = np.isfinite(hits.distance)  # nothing is in front of the object
        brightness = np.where(hit, lambert(hits.normal, LIGHT, AMBIENT), self.brightness)
        weights = self.empty.copy()
        weights[self.near] = _shares(np.where(hit, 2, self.part), brightness)
        return weights


def _shares(part: NDArray[np.int64], brightness: Array) -> Array:
    """Return the mean brightness (pixels, parts) of each part over the rays (pixels, rays) of a pixel."""
    return np.stack([np.where(part == own, brightness, 0).mean(axis=1) for own in range(PARTS)], axis=1)


def _object(origin: Array, rays: Array, scale: float, shape: int) -> Hits:
    """Return the hits of the object, which stands on the floor."""
    if shape == 0:
        half = 0.48 * scale
        return box(origin, rays, (-half, 0, -half), (half, 2 * half, half))
    if shape == 1:
        return cylinder(origin, rays, (0, 0, 0), 1, 1.05 * scale, 0.5 * scale)
    if shape == 2:
        return sphere(origin, rays, (0, 0.58 * scale, 0), 0.58 * scale)
    return capsule(origin, rays, (0, 0.36 * scale, 0), 1, 0.68 * scale, 0.36 * scale)


def _plane(origin: Array, rays: Array, normal: Array, offset: float) -> Hits:
    """Return the hits of the plane ``normal @ x = offset``, seen from its normal's side."""
    return polyhedron(origin, rays, normal[None], np.array([offset]))
