"""Settings of DigitCircle; values of the paper are in ``configs/``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparseid.errors import InputError
from sparseid.settings import Keys, MotifSettings, Run, SettingsError, setting

PUBLISHED_NOISE = 0.05
"""Published flip probability of every pixel."""


@dataclass
class DigitCircleSettings(MotifSettings):
    """DigitCircle images: noisy digits on a circle, labelled counter-clockwise from the smallest."""

    name: str = "digit_circle"
    glyphs: str = setting(
        "Glyph set: tall (12-row boxes, the published statistics), compact (9x7 boxes) or a path to a glyph file.",
        file=True,
    )
    canvas: int = setting("Side of an image, in pixels.", spatial=True)
    classes: int = setting("Digits 0 to classes-1 occur.")
    min_digits: int = setting("Minimum number of digits per image; the number is uniform.", at_least=1)
    max_digits: int = setting("Maximum number of digits per image.")
    min_radius: int = setting("Minimum radius of the circle, in pixels; the radius is a uniform integer.", at_least=0)
    max_radius: int = setting("Maximum radius of the circle, in pixels.")
    margin: int = setting("Distance of the circle from the edge, in pixels; at least jitter + half a glyph box.")
    jitter: int = setting("Maximum shift of a digit per axis, in pixels; the shift is a uniform integer.", at_least=0)
    min_gap: float = setting(
        "Minimum angular gap as a fraction of 1/k, k the number of digits.",
        at_least=0,
        at_most=0.9,
        because="larger gaps are hardly ever drawn",
    )
    pre_noise: float = setting(
        "Probability of ink in a background pixel, as a multiple of the mean fraction of ink in a glyph box."
    )
    post_noise: float = setting(
        "Flip probability of every pixel after the digits are drawn.",
        at_least=0,
        at_most=1,
        because="it is a probability",
    )
    rarest: float = setting(
        "Weight of the last digit in the draw, relative to the first, with geometric weights between; 1 (published) "
        "draws all digits equally often.",
        default=1.0,
        at_least=0.001,
        at_most=1,
        because="it is a weight relative to 1",
    )

    loads = "sparseid.data.digit_circle.datamodule:DigitCircleData"

    @property
    def spatial(self) -> tuple[int, int]:
        """Height and width of the images, in pixels."""
        return self.canvas, self.canvas

    def errors(self, run: Run) -> Iterator[SettingsError]:
        """Yield errors of the glyphs and the geometry."""
        from sparseid.data.digit_circle.generator import distribution  # NumPy

        try:
            distribution(self)
        except InputError as error:
            # without keys: an error in the glyph file
            yield SettingsError(error.keys or ("data.glyphs",), str(error))

    def row_keys(self) -> Keys:
        """Add differences from the published images: noise and frequency of digits."""
        noise: Keys = {} if self.post_noise == PUBLISHED_NOISE else {"post_noise": self.post_noise}
        rarest: Keys = {} if self.rarest == 1 else {"rarest": self.rarest}
        return super().row_keys() | noise | rarest
