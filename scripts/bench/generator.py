"""Images per second of the DigitCircle generator against a loop that draws one image at a time."""

from __future__ import annotations

import numpy as np
from timing import report, seconds

from sparseid.data.digit_circle.generator import DigitCircle
from sparseid.data.digit_circle.glyphs import read_glyphs
from sparseid.printing import protect_output


def draw_one(circle: DigitCircle, rng: np.random.Generator) -> tuple[np.ndarray, list[int], list[list[int]]]:
    """Draw one image step by step in the straightforward way: noise, circle, digits, noise."""
    size = circle.canvas
    image = rng.random((size, size)) < circle.pre_noise_probability
    radius = int(rng.integers(circle.min_radius, circle.max_radius + 1))
    centre = rng.integers(radius + circle.margin, size - radius - circle.margin, 2)
    count = int(rng.integers(circle.min_digits, circle.max_digits + 1))
    digits = rng.permutation(len(circle.glyphs))[:count].tolist()
    while True:
        gaps = rng.random(count)
        gaps /= gaps.sum()
        if gaps.min() >= circle.min_gap / count:
            break
    angles = 2 * np.pi * (np.cumsum(gaps) + rng.random())
    boxes = []
    for digit, angle in zip(digits, angles, strict=True):
        point = np.rint(centre + radius * np.array([np.cos(angle), np.sin(angle)])).astype(int)
        point += rng.integers(-circle.jitter, circle.jitter + 1, 2)
        bitmap = circle.glyphs.bitmaps[digit]
        top, left = point - np.array(bitmap.shape) // 2
        image[top : top + bitmap.shape[0], left : left + bitmap.shape[1]] = bitmap
        boxes.append([top, top + bitmap.shape[0], left, left + bitmap.shape[1]])
    image ^= rng.random((size, size)) < circle.post_noise
    first = digits.index(min(digits))
    return image, digits[first:] + digits[:first], boxes


def main() -> None:
    """Measure the published geometry and the small one."""
    geometries = {
        "100x100, 3-6 digits (published)": DigitCircle(read_glyphs("tall")),
        "40x40, 3-5 digits (small)": DigitCircle(read_glyphs("compact"), 40, 3, 5, 10, 12, 6, 1, 0.6),
    }
    lines, values = ["DigitCircle generator, images per second of one process"], {}
    for name, circle in geometries.items():
        rng = np.random.Generator(np.random.SFC64(0))

        def batch(circle: DigitCircle = circle, rng: np.random.Generator = rng) -> None:
            circle.draw_pixels(circle.draw_scenes(500, rng), rng)

        def loop(circle: DigitCircle = circle, rng: np.random.Generator = rng) -> None:
            for _ in range(50):
                draw_one(circle, rng)

        times = seconds({"batch": batch, "loop": loop})
        batched, looped = 500 / times["batch"], 50 / times["loop"]
        lines.append(f"  {name:34s} batch {batched:9,.0f}   loop {looped:7,.0f}   ratio {batched / looped:5.1f}")
        values[name] = {"batch_per_s": batched, "loop_per_s": looped, "ratio": batched / looped}
    report("generator", lines, values)


if __name__ == "__main__":
    protect_output()
    main()
