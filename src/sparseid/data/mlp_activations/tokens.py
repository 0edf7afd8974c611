"""Numbers of the tokens of a text, cached."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparseid.data.cache import cached_arrays, digest
from sparseid.data.mlp_activations.model_files import VOCABULARY, ModelFiles
from sparseid.data.mlp_activations.settings import MLPActivationsSettings
from sparseid.data.mlp_activations.texts import parts, text_files
from sparseid.errors import InputError

KEYS = ("data.tokens", "data.held_out", "data.text")
VERSION = 1
"""Of this module's results; another one makes cached results anew."""


class Tokens(NamedTuple):
    """Tokens of a text.

    Attributes
    ----------
    ids
        (tokens,) int32.
    before, after
        Numbers of special tokens that the model expects before and after each sequence.
    """

    ids: NDArray[np.int32]
    before: NDArray[np.int32]
    after: NDArray[np.int32]

    def surrounded(self, sequences: NDArray[np.int32]) -> NDArray[np.int64]:
        """Return sequences (sequences, context) with the special tokens around each."""
        around = [np.tile(special, (len(sequences), 1)) for special in (self.before, self.after)]
        return np.concatenate([around[0], sequences, around[1]], axis=1).astype(np.int64)

    def of_text(self, context: int) -> slice:
        """Return the places of the `context` tokens of the text in a surrounded sequence."""
        return slice(len(self.before), len(self.before) + context)


def tokens_of(settings: MLPActivationsSettings, model: ModelFiles) -> Tokens:
    """Return as many tokens of the text as all sequences need.

    Raises
    ------
    InputError
        If the text has fewer, or a token has no vector in the model.
    """
    files = text_files(settings)
    needed = settings.sequences * settings.context
    tokenizer = None if model.folder is None else model.folder / "tokenizer.json"
    depends_on = {
        "version": VERSION,
        "tokenizer": None if tokenizer is None else digest(tokenizer),
        "text": [digest(path) for path in files.values()],
        "tokens": needed,
    }

    def create() -> dict[str, NDArray[np.int32]]:
        encode, before, after = _tokenizer(model)
        found, count = [], 0
        for part in parts(files.values()):
            found.append(np.asarray(encode(part), dtype=np.int32))
            count += len(found[-1])
            if count >= needed:
                break
        else:
            text = f"{settings.text} has {count} tokens, and {needed} are needed: lower data.tokens or data.held_out"
            raise InputError(text, KEYS)
        special = {"before": np.asarray(before, np.int32), "after": np.asarray(after, np.int32)}
        return {"ids": np.concatenate(found)[:needed], **special}

    tokens = Tokens(**cached_arrays("mlp_activations", depends_on, create))
    if (last := int(np.concatenate(tokens).max())) >= model.vocabulary:
        text = f"{tokenizer} gives a token of {settings.text} the number {last}, and the model has {model.vocabulary}"
        raise InputError(f"{text} ({VOCABULARY}): take the tokenizer of this model, or enlarge its embedding", KEYS)
    return tokens


def _tokenizer(model: ModelFiles) -> tuple[Callable[[str], list[int]], list[int], list[int]]:
    """Return the function from text to token numbers, and the special tokens before and after a sequence."""
    if model.folder is None:
        return lambda text: list(text.encode()), [], []
    from tokenizers import Tokenizer

    path = model.folder / "tokenizer.json"
    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:  # tokenizers raises plain exceptions
        raise InputError(f"{path} cannot be read as a tokenizer ({error}): copy it again", ("data.model",)) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    whole = tokenizer.encode("a")
    ordinary = [place for place, special in enumerate(whole.special_tokens_mask) if not special]
    if not ordinary:
        raise InputError(f"{path} makes no token of a letter: it does not belong to this model", ("data.model",))
    before, after = whole.ids[: ordinary[0]], whole.ids[ordinary[-1] + 1 :]
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids, before, after
