"""Mini Cars3D: cars of two boxes and four wheels, of the factors of Cars3D."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cars3d.resizing import resized
from sparseid.data.cars3d.settings import FACTORS
from sparseid.data.factors import FactorGrid, Images, StoredImages
from sparseid.data.rays import Array, Hits, box, camera, cylinder, lambert, nearest, pixels_near, polyhedron, unit
from sparseid.streams import FIXED

ELEVATIONS = (5.0, 45.0)
"""Lowest and highest elevation of the camera, in degrees; levels are spaced evenly."""
DISTANCE, FIELD = 12.0, 26.0
"""Distance of the camera from the middle of the car, and its field of view in degrees."""
TARGET = np.array([0.0, 0.7, 0.0])
AROUND = 3.0
"""Radius of a sphere around `TARGET` that contains every car."""
AMBIENT = 0.5
GLASS, TYRE, HUB = (0.16, 0.2, 0.27), (0.1, 0.1, 0.1), (0.6, 0.6, 0.62)
FRONT_LIGHT, REAR_LIGHT = (1.0, 0.95, 0.7), (0.75, 0.05, 0.05)


def mini_cars(levels: Sequence[int], side: int, upsampled_from: int = 0) -> StoredImages:
    """Return the images of all combinations of elevation, azimuth and model.

    Parameters
    ----------
    levels
        Number of levels of each factor. Elevations are spaced evenly between their extremes, azimuths on the circle;
        model i is the same whatever their number.
    side
        Height and width of the images, in pixels.
    upsampled_from
        Height and width at which they are drawn, if they are then upsampled; 0 for `side`.
    """
    elevations, azimuths, models = levels
    drawn = upsampled_from or side
    cars = [_Car(number) for number in range(models)]
    images = np.empty((elevations, azimuths, models, side, side, 3), np.uint8)
    angles = np.linspace(*ELEVATIONS, elevations).tolist()
    for elevation, azimuth in np.ndindex(elevations, azimuths // 2 + 1):
        view = _View(angles[elevation], 360 * azimuth / azimuths, drawn)
        seen = resized(np.stack([view.image(car) for car in cars]), side)
        images[elevation, -azimuth] = seen[:, :, ::-1]  # cars and light have a left and a right side that are equal
        images[elevation, azimuth] = seen
    return StoredImages(FactorGrid(tuple(FACTORS), tuple(levels)), images.reshape(-1, side, side, 3))


class _Car:
    """Proportions and colour of a model; lengths are along x (the front), y (up) and z."""

    def __init__(self, number: int) -> None:
        rng = FIXED.numpy("cars3d/mini", number)
        length, width = rng.uniform(3.4, 4.7), rng.uniform(1.6, 2.0)
        radius, clearance = rng.uniform(0.3, 0.42), rng.uniform(0.2, 0.35)
        waist = clearance + rng.uniform(0.45, 0.8)
        self.low, self.high = np.array([-length / 2, clearance, -width / 2]), np.array([length / 2, waist, width / 2])
        cabin, height = rng.uniform(0.4, 0.62) * length, rng.uniform(0.4, 0.75)
        rear = -length / 2 + rng.uniform(0.02, 0.25) * length
        slants = rng.uniform((0.3, 0.0, 0.1), (1.1, 0.9, 0.3))  # of windscreen, rear window and sides, per height
        front, back, beside = unit(np.array([np.ones(3), slants, np.zeros(3)])).T
        self.cabin_normals = np.array(
            [front, back * (-1, 1, 1), (0, 1, 0), (0, -1, 0), *(beside[[2, 1, 0]] * (1, 1, sign) for sign in (-1, 1))]
        )
        corners = np.array(
            [
                (rear + cabin, waist, 0),
                (rear, waist, 0),
                (0, waist + height, 0),
                (0, waist - 0.05, 0),
                *((0, waist, sign * width * 0.48) for sign in (-1, 1)),
            ]
        )
        self.cabin_offsets = (self.cabin_normals * corners).sum(axis=1)
        self.bounds = (self.low * (1, 0, 1) - np.array([0, 0, 0.15]), self.high + np.array([0, height, 0.15]))
        self.radius = radius
        axles = np.array([-1, 1]) * (length / 2 - radius - rng.uniform(0.2, 0.5))
        self.wheels = [(x, radius, side * width / 2 - 0.11 + 0.02 * side) for x in axles for side in (-1, 1)]
        hue, dark = number * 0.381966 % 1, number % 3
        self.paint = np.array(colorsys.hsv_to_rgb(hue, (0.85, 0.55, 0.9)[dark], (0.95, 0.85, 0.6)[dark]))

    def hits(self, origin: Array, rays: Array) -> tuple[Hits, NDArray[np.int64]]:
        """Return the first hits, and the number of the part: body, cabin, wheels."""
        wheels = [cylinder(origin, rays, centre, 2, 0.22, self.radius) for centre in self.wheels]
        body = box(origin, rays, self.low, self.high)
        cabin = polyhedron(origin, rays, self.cabin_normals, self.cabin_offsets)
        hits, which = nearest([body, cabin, *wheels])
        return hits, np.minimum(which, 2)

    def colours(self, part: NDArray[np.int64], points: Array, normal: Array) -> Array:
        """Return the colours (3, rays) of points (3, rays) on the surface."""
        colours = np.repeat(self.paint[:, None], len(part), axis=1)

        def paint(where: NDArray[np.bool_], colour: Sequence[float]) -> None:
            colours[:, where] = np.array(colour)[:, None]

        paint((part == 1) & (normal[1] < 0.99), GLASS)  # all but the roof
        lights = (part == 0) & (abs(points[2]) > 0.55 * self.high[2]) & (points[1] > self.high[1] - 0.3)
        paint(lights & (normal[0] > 0.9), FRONT_LIGHT)
        paint(lights & (normal[0] < -0.9), REAR_LIGHT)
        paint(part == 2, TYRE)
        across = np.minimum.reduce([np.hypot(points[0] - x, points[1] - y) for x, y, _ in self.wheels])
        paint((part == 2) & (across < 0.55 * self.radius), HUB)
        return colours


class _View:
    """The rays of a camera that may meet a car."""

    def __init__(self, elevation: float, azimuth: float, side: int) -> None:
        up, around = np.radians(elevation), np.radians(azimuth)
        towards = np.array([np.cos(up) * np.cos(around), np.sin(up), np.cos(up) * np.sin(around)])
        self.side, self.origin = side, TARGET + DISTANCE * towards
        rays = camera(self.origin, TARGET, FIELD, side)
        self.near = pixels_near(self.origin, rays, TARGET, AROUND)
        self.rays = rays[:, self.near]
        self.light = towards + np.array([0, 0.9, 0])

    def image(self, car: _Car) -> Images:
        """Return the image (side, side, 3) of a car on white."""
        rays = self.rays.reshape(3, -1)
        hit = np.flatnonzero(np.isfinite(box(self.origin, rays, *car.bounds).distance))
        hits, part = car.hits(self.origin, rays[:, hit])
        found = np.isfinite(hits.distance)
        hit, distance, normal = hit[found], hits.distance[found], hits.normal[:, found]
        points = self.origin[:, None] + distance * rays[:, hit]
        seen = np.ones_like(rays)
        seen[:, hit] = car.colours(part[found], points, normal) * lambert(normal, self.light, AMBIENT)
        image = np.ones((self.side**2, 3))
        image[self.near] = seen.reshape(self.rays.shape).mean(axis=2).T
        return (255 * image + 0.5).astype(np.uint8).reshape(self.side, self.side, 3)
