"""``make data DATASETS=fashion_mnist``."""

from __future__ import annotations

from collections.abc import Iterator

from sparseid.data.fashion_mnist.files import PUBLISHED, SIZES, read_split
from sparseid.data.fashion_mnist.settings import FashionMNISTSettings


def fashion_mnist() -> Iterator[str]:
    """Download and check Fashion-MNIST (MIT)."""
    yield "fashion_mnist: about 31 MB, if not downloaded yet"
    for file in PUBLISHED.values():
        yield str(file.fetch())
    for name in SIZES:
        yield f"{name}: {len(read_split(FashionMNISTSettings(source='files'), name).images)} images"
    yield "use: data=fashion_mnist data.source=files"
