"""Sparling as an estimator of images or sounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sparseid.data.audio_mnist_sequence.times import HOP, RATE
from sparseid.data.labelled_inputs.datamodule import inputs_of
from sparseid.data.labelled_inputs.items import arrays_of, checked_values, items_of_arrays
from sparseid.data.labelled_inputs.media import read_media
from sparseid.data.paths import unusable
from sparseid.estimators.base import Estimator, RefusedInput, npz, refusals
from sparseid.homes import expanded
from sparseid.methods.sparling.perturbation import are_marks, radius_in_cells
from sparseid.metrics.edit_distance import cut_at_end, edit_distances
from sparseid.spelling import did_you_mean
from sparseid.text import visible

AT_ONCE = 256
"""Items that are decoded together."""

Labels = Sequence[str | Sequence[str]]
"""A label per item: tokens separated by spaces, or a list of them."""


class Sparling(Estimator):
    """Motifs of images or sounds, learned from sequences of tokens alone, and the sequences that they predict.

    Inputs are an array of images (n, height, width) or (n, height, width, 1 or 3), bytes or numbers in [0, 1]; an array
    of sounds (n, samples) int16 at 8,000 Hz; or a list of paths of images (png, jpg) or of sounds (wav).

    Parameters
    ----------
    channels
        Number of kinds of motifs; None for one per token.
    preset, max_samples, random_state, device, outputs, progress, settings
        As for :class:`~sparseid.estimators.base.Estimator`; there is no early stop: the schedule of the density ends
        the training, and the weights of the last density that it reached are used.

    Attributes
    ----------
    tokens_
        Tokens of the labels, sorted.
    channel_tokens_
        Token of each channel of a motif map, the one whose number in labels follows the channel's activations most
        closely; empty for none.
    baselines_
        DataFrame: the errors, in percent, of answering with the most frequent label.
    rows_, model_
        As for :class:`~sparseid.SparseVAE`; errors are those of a fifth of the items, which training does not see.

    Examples
    --------
    >>> images = np.random.default_rng(0).random((60, 16, 16))
    >>> model = Sparling(preset="smoke", max_samples=64).fit(images, ["cat dog", "dog"] * 30)
    >>> model.transform(images).shape, len(model.predict(images))
    ((60, 2, 8, 8), 60)
    """

    experiment = "sparling/arrays"
    data = "images and labels"

    def __init__(
        self,
        channels: int | None = None,
        *,
        preset: str = "small",
        max_samples: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        device: str = "auto",
        outputs: str | None = None,
        progress: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(preset, max_samples, None, random_state, device, outputs, progress, settings)
        self.channels = channels

    def _own_settings(self) -> dict[str, Any]:
        return {"method.encoder.channels": self.channels}

    def _checkpoint(self, folder: Path) -> str:
        reached = visible((folder / "checkpoints" / "milestones").glob("density-*.ckpt"))
        return f"milestones/{reached[-1].stem}" if reached else "last"

    def fit(self, images: Any, labels: Labels) -> Self:
        """Train on images or sounds.

        Parameters
        ----------
        images
            Array or list of paths.
        labels
            The tokens of each item, in order.
        """
        with refusals():
            kind, values, names = read_inputs(images)
            arrays = arrays_of(kind, values, joined(labels, len(values)), names)
            items_of_arrays(arrays)  # checks them
        return self._fit({"path.npz": npz(**arrays)})

    def _set_attributes(self, arrays: Mapping[str, np.ndarray], data: Any, inputs: Mapping[str, Path]) -> None:
        self.tokens_: list[str] = list(data.token_names)
        self.channel_tokens_ = [self.tokens_[kind] if kind >= 0 else "" for kind in arrays["channel_kinds"]]
        self._shape: tuple[int, ...] = data.items.values.shape[1:]

    # use

    def transform(self, images: Any) -> NDArray[np.float32]:
        """Return the motif maps (n, channels, height, width) of images or sounds, mostly zero.

        Sounds have a width of 1; those shorter than the training data's end in silence.
        """
        check_is_fitted(self)
        with refusals():
            return self.model_.transform(inputs_of(self._fitting(images)).numpy())

    def motifs(self, images: Any) -> pd.DataFrame:
        """Return the motifs of images or sounds: the largest activations of their neighbourhood.

        Returns
        -------
        DataFrame
            A row per motif: item, from 0; token, that of its channel; x and y, the centre in pixels (of sounds time, in
            seconds); strength, the activation; channel.
        """
        maps = torch.from_numpy(self.transform(images))
        stride = self._module.encoder.stride
        item, channel, row, column = are_marks(maps, radius_in_cells(stride)).nonzero(as_tuple=True)
        y, x = ((cell.numpy() + 0.5) * stride - 0.5 for cell in (row, column))
        place = {"time": y * HOP / RATE} if len(self._shape) == 1 else {"x": x, "y": y}
        found = {
            "item": item.numpy(),
            "token": [self.channel_tokens_[number] for number in channel],
            **place,
            "strength": maps[item, channel, row, column].numpy(),
            "channel": channel.numpy(),
        }
        return pd.DataFrame(found).sort_values(["item", *place], ignore_index=True)

    def predict(self, images: Any) -> list[list[str]]:
        """Return the tokens of each image or sound, in order."""
        maps = torch.from_numpy(self.transform(images))
        end = self._module.domain.vocabulary - 1
        with torch.inference_mode():
            tokens = [row for part in maps.split(AT_ONCE) for row in cut_at_end(self._module.decode(part).numpy(), end)]
        return [[self.tokens_[token] if token < len(self.tokens_) else "?" for token in row] for row in tokens]

    def score(self, images: Any, labels: Labels) -> float:
        """Return 1 - the end-to-end error: the mean edit distance of labels and predictions, relative to the longer."""
        predicted = self.predict(images)
        with refusals():
            known = [text.split() for text in joined(labels, len(predicted))]
        for number, label in enumerate(known):
            if unknown := [token for token in label if token not in self.tokens_]:
                hint = did_you_mean(unknown[0], self.tokens_) or f"tokens: {', '.join(self.tokens_[:10])}"
                raise RefusedInput(f"label {number}: no label of fit has the token {unknown[0]!r}; {hint}")
        numbers = {token: number for number, token in enumerate({token for of in known + predicted for token in of})}
        pairs = ([[numbers[token] for token in label] for label in of] for of in (known, predicted))
        return 1 - float(edit_distances(*pairs).mean())

    @property
    def _module(self) -> Any:
        return self.model_.module

    def _fitting(self, images: Any) -> NDArray[Any]:
        """Return new images or sounds in the size of the training data."""
        kind, values, _ = read_inputs(images)
        values = checked_values(kind, values)
        if len(self._shape) == 1 and kind == "sounds" and values.shape[1] <= self._shape[0]:
            return np.pad(values, ((0, 0), (0, self._shape[0] - values.shape[1])))
        if values.ndim == 4 and self._shape == (*values.shape[1:3], 3):
            values = np.broadcast_to(values, (len(values), *self._shape))
        if values.shape[1:] != self._shape:
            given = described(values.shape[1:])
            raise RefusedInput(f"the model was trained on {described(self._shape)}, these are {given}")
        return values

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: inputs have three or four dimensions, and labels are needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.three_d_array = False, True
        tags.target_tags.required = True
        return tags


def read_inputs(images: Any) -> tuple[str, NDArray[Any], list[str]]:
    """Return ``images`` or ``sounds``, their values and their names, of an array or of the files of paths."""
    if isinstance(images, str | Path):
        raise RefusedInput(f"{images} is one path: pass an array of images, or a list of paths")
    if not hasattr(images, "__len__"):
        raise RefusedInput(f"images is a {type(images).__name__}: pass an array of images, or a list of paths")
    if not len(images) or not isinstance(next(iter(images)), str | Path):
        try:
            masked = np.ma.asarray(images)  # also of a list of masked arrays
        except ValueError as error:
            raise RefusedInput(f"{other_size(images)}: crop, pad or resize the images to one size") from error
        if np.ma.is_masked(masked):
            place = ", ".join(str(part) for part in np.argwhere(np.ma.getmaskarray(masked))[0])
            raise RefusedInput(f"the value at [{place}] is masked, and so missing: fill it, or leave the item out")
        values: NDArray[Any] = masked.data
        kind = "sounds" if values.ndim == 2 else "images"
        return kind, values, [str(number) for number in range(len(values))]
    files = {str(path): Path(expanded(path)) for path in images}
    if len(files) < len(images):
        raise RefusedInput("a path occurs twice: pass each image once")
    for name, file in files.items():
        if reason := unusable(file):
            raise RefusedInput(f"{name} {reason}")
    kind, values = read_media(files)
    return kind, values, list(files)


def other_size(images: Sequence[Any]) -> str:
    """Return which of several images or sounds has another shape than the first one, or rows of several lengths."""
    first: tuple[int, ...] | None = None
    for item, image in enumerate(images):
        try:
            shape = np.shape(image)
        except ValueError:
            return f"item {item} has rows of several lengths"
        first = shape if first is None else first
        if shape != first:
            return f"item {item} is of shape {shape}, item 0 of shape {first}"
    return "the images are not of one size"


def joined(labels: Labels, items: int) -> list[str]:
    """Return labels as tokens separated by spaces.

    Raises
    ------
    InputError
        If there are not as many as items, or a token is empty, no text, has spaces, or ends with a NUL character.
    """
    if isinstance(labels, str) or not hasattr(labels, "__len__"):
        raise RefusedInput(f"labels is a {type(labels).__name__}: pass a list of labels, one per item")
    if len(labels) != items:
        raise RefusedInput(f"there are {len(labels)} labels for {items} items")
    texts = []
    for number, label in enumerate(labels):
        try:
            tokens = label.split() if isinstance(label, str) else list(label)
        except TypeError as error:
            raise RefusedInput(f"label {number} is {label!r}: a label is a text, or a list of tokens") from error
        if wrong := [token for token in tokens if not isinstance(token, str) or token.strip("\0").split() != [token]]:
            raise RefusedInput(f"label {number}: {wrong[0]!r} is no token, a text without spaces or NUL characters")
        texts.append(" ".join(tokens))
    return texts


def described(shape: tuple[int, ...]) -> str:
    """Return the shape of one image or sound in words."""
    if len(shape) == 1:
        return f"sounds of {shape[0] / RATE:.4g} s"
    height, width, channels = shape
    return f"images of {width} x {height} pixels (width x height) and {channels} channel{'s' if channels > 1 else ''}"
