"""The DigitCircle generator (Sparling, section 5.1): scenes, then pixels, for a whole batch at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sparseid.data.bits import random_bits
from sparseid.data.digit_circle.glyphs import GlyphSet, read_glyphs
from sparseid.errors import InputError

if TYPE_CHECKING:
    from sparseid.data.digit_circle.settings import DigitCircleSettings

PAD = -1
"""Padding of unused places in label and placement arrays."""
RAREST = 1e-3
"""Minimum relative weight of a digit; rarer digits would hardly ever occur."""


@dataclass(frozen=True)
class Scenes:
    """Positions of the digits of a batch; places beyond an image's own count hold -1 (NaN for angles).

    Attributes
    ----------
    symbols
        (images, places) int64: digit at each place, in placement order (counter-clockwise on screen).
    points
        (images, places, 2) int64: row and column of each digit's centre, pixels.
    boxes
        (images, places, 4) int64: half-open glyph boxes, row start, row stop, column start, column stop.
    centres, radii, angles
        The circle: (images, 2) and (images,) in pixels, (images, places) in radians.
    """

    symbols: np.ndarray
    points: np.ndarray
    boxes: np.ndarray
    centres: np.ndarray
    radii: np.ndarray
    angles: np.ndarray

    @cached_property
    def counts(self) -> np.ndarray:
        """Digits per image, (images,)."""
        return (self.symbols != PAD).sum(axis=1)

    @cached_property
    def labels(self) -> np.ndarray:
        """Labels (images, places) int64: the placed digits, rotated so that the smallest comes first; padded by -1."""
        return canonical_rotation(self.symbols)

    @cached_property
    def sites(self) -> np.ndarray:
        """Sites (digits, 6) int64, ordered by image and place: image, symbol, half-open glyph box in pixels."""
        image, place = np.nonzero(self.symbols != PAD)
        return np.column_stack([image, self.symbols[image, place], self.boxes[image, place]])


@dataclass(frozen=True)
class DigitCircle:
    """The distribution of DigitCircle images; all lengths in pixels.

    Parameters
    ----------
    glyphs
        Digits that occur.
    canvas
        Side of the image.
    min_digits, max_digits
        Digits per image, uniform, all different.
    min_radius, max_radius
        Circle radius, uniform integer, both ends included.
    margin
        Minimum distance of the circle from the edge; at least jitter + half a glyph, so that no box leaves the image.
    jitter
        Each digit is shifted by a uniform integer in [-jitter, jitter] per axis.
    min_gap
        Angular gaps (k uniforms, normalised) are redrawn until all exceed min_gap / k turns.
    pre_noise
        Background pixels are ink with probability pre_noise x mean glyph fill.
    post_noise
        Every pixel then flips with this probability.
    rarest
        Weight of the last digit in the draw, relative to the first; those between follow geometrically.

    Raises
    ------
    InputError
        If digits, circle or noise are impossible on this canvas; its `keys` are the conflicting settings.
    """

    glyphs: GlyphSet
    canvas: int = 100
    min_digits: int = 3
    max_digits: int = 6
    min_radius: int = 20
    max_radius: int = 34
    margin: int = 15
    jitter: int = 3
    min_gap: float = 0.5
    pre_noise: float = 0.5
    post_noise: float = 0.05
    rarest: float = 1.0

    def __post_init__(self) -> None:
        for text, *fields in self._impossible():
            raise InputError(text, tuple(f"data.{name}" for name in fields))

    def _impossible(self) -> Iterator[tuple[str, ...]]:
        """Yield errors: reason and remedy, then the conflicting fields. NaN is never possible."""
        if self.min_digits < 1:
            yield "data.min_digits must be at least 1", "min_digits"
        if self.min_digits > self.max_digits:
            text = "data.min_digits exceeds data.max_digits: raise the latter or lower the former"
            yield text, "min_digits", "max_digits"
        if self.max_digits > len(self.glyphs):
            text = "the digits of an image are all different: data.max_digits cannot exceed data.classes"
            yield text, "max_digits", "classes"
        if self.min_radius < 0:
            yield "data.min_radius must be at least 0", "min_radius"
        if self.min_radius > self.max_radius:
            text = "data.min_radius exceeds data.max_radius: raise the latter or lower the former"
            yield text, "min_radius", "max_radius"
        if self.jitter < 0:
            yield "data.jitter must be at least 0", "jitter"
        reach = self.jitter + (self.glyphs.largest_side + 1) // 2
        if self.margin < reach:
            text = f"glyph boxes would leave the image: data.margin must be at least jitter + half a box = {reach}"
            yield text, "margin", "jitter", "glyphs"
        needed = 2 * (self.max_radius + self.margin)
        if self.canvas <= needed:
            text = f"the circle does not fit: data.canvas must exceed 2 x (max_radius + margin) = {needed}"
            yield text, "canvas", "max_radius", "margin"
        if not 0 <= self.min_gap <= 0.9:
            yield "data.min_gap must be between 0 and 0.9: larger gaps are hardly ever drawn", "min_gap"
        if not 0 <= self.pre_noise * self.glyphs.mean_fill <= 1:
            highest = f"{1 / self.glyphs.mean_fill:.3g}"
            text = f"data.pre_noise must be between 0 and {highest}: times the mean glyph fill it is a probability"
            yield text, "pre_noise"
        if not 0 <= self.post_noise <= 1:
            yield "data.post_noise must be between 0 and 1: it is a probability", "post_noise"
        if not RAREST <= self.rarest <= 1:
            yield f"data.rarest must be between {RAREST:g} and 1: it is a weight relative to 1", "rarest"

    @property
    def pre_noise_probability(self) -> float:
        """Probability that a background pixel is ink before the post-noise."""
        return self.pre_noise * self.glyphs.mean_fill

    @property
    def mean_digits(self) -> float:
        """Expected digits per image; divided by positions x channels it is the lowest density without errors."""
        return (self.min_digits + self.max_digits) / 2

    def draw_scenes(self, images: int, rng: np.random.Generator) -> Scenes:
        """Draw the geometry of `images` images: circle, digits, angles, points and boxes."""
        places = self.max_digits
        counts = rng.integers(self.min_digits, places + 1, images)
        radii = rng.integers(self.min_radius, self.max_radius + 1, images)
        edge = radii + self.margin
        centres = rng.integers(edge[:, None], (self.canvas - edge)[:, None], (images, 2))
        used = np.arange(places) < counts[:, None]
        symbols = np.where(used, self._draw_order(images, rng)[:, :places], PAD)

        turns = np.cumsum(self._draw_gaps(used, rng), axis=1) + rng.random((images, 1))
        angles = np.where(used, 2 * np.pi * turns, np.nan)
        points = points_on_circle(centres[:, None], radii[:, None], 2 * np.pi * turns)
        points += rng.integers(-self.jitter, self.jitter + 1, points.shape)
        boxes = boxes_around(points, self.glyphs.shapes[symbols])
        points[~used], boxes[~used] = PAD, PAD
        return Scenes(symbols, points, boxes, centres, radii, angles)

    def draw_pixels(self, scenes: Scenes, rng: np.random.Generator) -> np.ndarray:
        """Draw the images of `scenes`, shape (images, canvas, canvas), bool, True = ink.

        One random number per pixel gives both kinds of noise: outside the boxes a pixel is ink with probability
        p (1 - q) + q (1 - p) for pre-noise p and post-noise q, inside a box the glyph's pixel flips with probability q.
        """
        images, side = len(scenes.symbols), self.canvas
        p, q = self.pre_noise_probability, self.post_noise
        pixels = random_bits((images, side, side), p * (1 - q) + q * (1 - p), rng)

        place, image = np.nonzero(scenes.symbols.T != PAD)  # in placement order: later digits cover earlier ones
        symbol, box = scenes.symbols[image, place], scenes.boxes[image, place]
        offsets, ink = self._stencil
        corner = (image * side + box[:, 0]) * side + box[:, 2]
        flips = random_bits((len(symbol), ink.shape[1]), q, rng)
        # NumPy assigns in index order, so that the last value stays where boxes overlap
        pixels.reshape(-1)[corner[:, None] + offsets[symbol]] = ink[symbol] ^ flips
        return pixels

    def draw_single(self, images: int, side: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw images of one centred digit each: pixels (images, side, side) bool and digits (images,)."""
        symbols = rng.integers(0, len(self.glyphs), images)[:, None]
        points = np.full((images, 1, 2), side // 2)
        nowhere = np.zeros((images, 2))
        scenes = Scenes(
            symbols, points, boxes_around(points, self.glyphs.shapes[symbols]), nowhere, nowhere[:, 0], nowhere[:, :1]
        )
        single = DigitCircle(
            self.glyphs, side, 1, 1, 0, 0, (self.glyphs.largest_side + 1) // 2, 0, 0.0, self.pre_noise, self.post_noise
        )
        return single.draw_pixels(scenes, rng), symbols[:, 0]

    def _draw_order(self, images: int, rng: np.random.Generator) -> np.ndarray:
        """Draw a permutation of the digits per image: without replacement, in proportion to their weights.

        Sorted exponential times divided by weights have this order (Efraimidis and Spirakis, 2006). Equal weights need
        no logarithm: uniform numbers have the same order.
        """
        times = rng.random((images, len(self.glyphs)))
        if self.rarest < 1:
            times = -np.log1p(-times) / np.geomspace(1, self.rarest, len(self.glyphs))
        return times.argsort(axis=1)

    def _draw_gaps(self, used: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw k uniforms per image, normalised, until all are at least min_gap / k; unused places hold 0."""
        gaps = np.zeros(used.shape)
        smallest = self.min_gap / used.sum(axis=1)
        rejected = np.arange(len(used))
        while len(rejected):
            drawn = np.where(used[rejected], rng.random((len(rejected), used.shape[1])), 0)
            drawn /= drawn.sum(axis=1, keepdims=True)
            gaps[rejected] = drawn
            too_small = (drawn < smallest[rejected, None]) & used[rejected]
            rejected = rejected[too_small.any(axis=1)]
        return gaps

    @cached_property
    def _stencil(self) -> tuple[np.ndarray, np.ndarray]:
        """Return flat pixel offsets from the box corner, and ink, (symbols, pixels of the largest box) each.

        Smaller boxes repeat their last pixel, which is then drawn several times; the last value stays.
        """
        area = int(self.glyphs.shapes.prod(axis=1).max())
        offsets, ink = np.zeros((len(self.glyphs), area), np.int64), np.zeros((len(self.glyphs), area), bool)
        for symbol, bitmap in enumerate(self.glyphs.bitmaps):
            rows, columns = np.indices(bitmap.shape)
            padding = (0, area - bitmap.size)
            offsets[symbol] = np.pad((rows * self.canvas + columns).ravel(), padding, mode="edge")
            ink[symbol] = np.pad(bitmap.ravel(), padding, mode="edge")
        return offsets, ink


def distribution(data: DigitCircleSettings) -> DigitCircle:
    """Return the distribution that a configuration describes.

    Raises
    ------
    InputError
        If it is impossible or its glyph file cannot be used.
    """
    return DigitCircle(
        glyphs=read_glyphs(data.glyphs).first(data.classes),
        canvas=data.canvas,
        min_digits=data.min_digits,
        max_digits=data.max_digits,
        min_radius=data.min_radius,
        max_radius=data.max_radius,
        margin=data.margin,
        jitter=data.jitter,
        min_gap=data.min_gap,
        pre_noise=data.pre_noise,
        post_noise=data.post_noise,
        rarest=data.rarest,
    )


def points_on_circle(centres: np.ndarray, radii: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return round(centre + radius (cos, sin)), shape (..., 2) int64: row from the cosine, column from the sine."""
    angles = np.nan_to_num(angles)  # NaN in unused places
    direction = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    return np.rint(centres + radii[..., None] * direction).astype(np.int64)


def boxes_around(points: np.ndarray, shapes: np.ndarray) -> np.ndarray:
    """Return the half-open boxes (..., 4) of `shapes` (..., 2) whose top-left corner is point - shape // 2."""
    start = points - shapes // 2
    stop = start + shapes
    return np.stack([start[..., 0], stop[..., 0], start[..., 1], stop[..., 1]], axis=-1)


def canonical_rotation(symbols: np.ndarray) -> np.ndarray:
    """Rotate each row of distinct symbols, padded by -1 at the end, so that its smallest symbol comes first."""
    used = symbols != PAD
    counts = used.sum(axis=1, keepdims=True)
    first = np.where(used, symbols, np.iinfo(symbols.dtype).max).argmin(axis=1)[:, None]
    places = np.arange(symbols.shape[1])[None, :]
    rotated = np.take_along_axis(symbols, (first + places) % np.maximum(counts, 1), axis=1)
    return np.where(used, rotated, PAD)
