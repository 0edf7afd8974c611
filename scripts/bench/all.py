"""Run every benchmark and print the folder of the results (make bench)."""

from __future__ import annotations

import audio_mnist_sequence
import busy
import ddl
import estimator
import generator
import image_penalties
import latent_walk
import latex_ocr
import regcl
import sae
import sparse_vae
import stack
import step
import threshold
from timing import OUT

from sparseid.printing import protect_output


def main() -> None:
    """Run them one after the other."""
    for benchmark in (
        generator,
        threshold,
        step,
        stack,
        latent_walk,
        latex_ocr,
        audio_mnist_sequence,
        regcl,
        sparse_vae,
        ddl,
        image_penalties,
        sae,
        estimator,
        busy,
    ):
        benchmark.main()
    print(f"written to {OUT}/")


if __name__ == "__main__":
    protect_output()
    main()
