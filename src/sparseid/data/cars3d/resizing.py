"""Sizes of images, as Pillow makes them."""

from __future__ import annotations

import numpy as np

from sparseid.data.factors import Images


def resized(images: Images, side: int) -> Images:
    """Return images (items, height, width, 3) of another height and width: LANCZOS, or bilinear to larger ones.

    The filter for smaller images is that of the thumbnails which other code makes of Cars3D; the one for larger images
    is our choice.
    """
    if images.shape[1] == side:
        return images
    from PIL import Image

    method = Image.Resampling.LANCZOS if side < images.shape[1] else Image.Resampling.BILINEAR
    return np.stack([np.asarray(Image.fromarray(image).resize((side, side), method)) for image in images])
