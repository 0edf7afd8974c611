"""Items by number: clean images in blocks, made once, and each item's own noise."""

from __future__ import annotations

import math
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import torch

from sparseid.data.batch import MotifBatch
from sparseid.data.cache import cached_arrays
from sparseid.data.latex_ocr.generator import KEPT_ON_DISK, Clean, LatexOcr, noisy
from sparseid.streams import Streams

BLOCK = 512
"""Formulas rendered at once: pdflatex takes half a second to begin. A block of the paper's size is 3 MB."""


class Items:
    """The items of a stream, each a function of (the stream's seed, `name`, its number).

    Blocks of the renderers in :data:`KEPT_ON_DISK` are made ahead in a thread, and kept in the data folder under
    everything that they depend on, where several processes may make and read them.

    Parameters
    ----------
    distribution
        What is drawn.
    streams, name
        Random streams, and which of them.
    loop_size
        Formulas after which they come again in the same order, under new noise; 0 is never.
    end
        Number of the first item that nobody will ask for.
    """

    def __init__(
        self, distribution: LatexOcr, streams: Streams, name: str, loop_size: int = 0, end: float = math.inf
    ) -> None:
        self.distribution, self.streams, self.name, self.loop_size = distribution, streams, name, loop_size
        self.end = min(loop_size or math.inf, end)
        self._ahead = ThreadPoolExecutor(1) if distribution.renderer in KEPT_ON_DISK else None
        self._blocks: dict[int, Future[Clean]] = {}

    def batch(self, numbers: np.ndarray) -> MotifBatch:
        """Return the items of the given numbers."""
        source, labels, inks, sites = self.distribution, [], [], []
        for place, number in enumerate(numbers % self.loop_size if self.loop_size else numbers):
            block, row = self._block(int(number) // BLOCK), int(number) % BLOCK
            labels.append(block.labels[row])
            inks.append(block.ink[row])
            first, last = np.searchsorted(block.sites[:, 0], [row, row + 1])
            sites.append(block.sites[first:last].copy())
            sites[-1][:, 0] = place
        ink = source.pixels(np.stack(inks))
        inputs = np.empty((len(numbers), 1, source.height, source.width), np.float32)
        for place, number in enumerate(numbers):
            inputs[place, 0] = noisy(
                ink[place], source.white_flip, self.streams.numpy(f"{self.name}/noise", int(number))
            )
        return MotifBatch(
            torch.from_numpy(inputs),
            torch.from_numpy(np.stack(labels).astype(np.int64)),
            torch.from_numpy(np.concatenate(sites)),
        )

    def _block(self, number: int) -> Clean:
        """Return a block; it and its neighbours stay in memory."""
        if number not in self._blocks:
            self._blocks = {other: made for other, made in self._blocks.items() if abs(other - number) == 1}
        ahead = self._ahead is not None and (number + 1) * BLOCK < self.end
        for wanted in (number, number + 1) if ahead else (number,):
            if wanted not in self._blocks:
                self._blocks[wanted] = self._begin(wanted)
        return self._blocks[number].result()

    def _begin(self, number: int) -> Future[Clean]:
        if self._ahead:
            return self._ahead.submit(self._kept, number)
        made: Future[Clean] = Future()
        made.set_result(self._draw(number))
        return made

    def _draw(self, number: int) -> Clean:
        return self.distribution.draw_clean(BLOCK, self.streams.numpy(self.name, number))

    def _kept(self, number: int) -> Clean:
        settings = self.distribution.kept_under | {"stream": [self.streams.seed, self.name, number, BLOCK]}
        return Clean(**cached_arrays("latex_ocr", settings, lambda: self._draw(number)._asdict()))
