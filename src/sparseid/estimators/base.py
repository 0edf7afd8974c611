"""Base class of the estimators: settings in the constructor, a run of the method's experiment in `fit`.

There is no second training path: `fit` writes the checked data to a file, composes ``experiment=<method>/arrays`` with
it, and executes that run. A fitted estimator holds the files of its run; everything else is read from them.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext, redirect_stdout
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
import torch
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sparseid.config.compose import compose
from sparseid.data.module import DataModule
from sparseid.errors import InputError
from sparseid.files import replace_file, replaced_folder
from sparseid.homes import expanded
from sparseid.methods.baselines import NAMES
from sparseid.papers.rows import PREFIX, key_columns, rows_frame
from sparseid.spelling import did_you_mean, unlisted
from sparseid.text import parsed_json
from sparseid.training.run import execute
from sparseid.training.run_folder import RunFolder
from sparseid.training.seeding import restore_rng, rng_state
from sparseid.training.trained import load

RUN_FILES = ("config.yaml", "status.json", "result.json", "arrays.npz", "environment.json")
"""Files of a run that a fitted estimator keeps, next to the weights that were tested."""
DESCRIPTION = "estimator.json"
"""File of a saved estimator with its class, its settings and the names of its features."""
ARGUMENTS = {"scale": "preset", "seed": "random_state", "trainer.accelerator": "device"}
"""Settings of the run whose argument has another name than the last part of theirs."""
DEVICES = ("auto", "cpu", "gpu", "cuda")
INPUTS = "inputs"
"""Folder of the data that were fitted: a file per setting of the data set, named after it."""


class RefusedInput(InputError, ValueError):
    """Data or settings that an estimator cannot use; a ValueError, too, as scikit-learn's conventions ask."""


class RefusedKind(RefusedInput, TypeError):
    """Values that are no numbers; a TypeError, too, as scikit-learn's conventions ask."""


class Estimator(TransformerMixin, BaseEstimator):
    """Base class of the estimators.

    Parameters
    ----------
    preset
        Sizes and number of steps: those of ``experiment=<method>/arrays`` at scale ``smoke``, ``small`` or ``paper``.
    max_samples
        Maximum number of training samples, repetitions included; None for the preset's.
    patience
        Validations without improvement after which the training ends; 0 trains to the end, None is the preset's.
    random_state
        Seed of the run; None, or a generator, draws one.
    device
        auto (a GPU if there is one), cpu or gpu (also: cuda).
    outputs
        Folder for the run, its curves and its log, which ``python run.py show`` and the report read as those of the
        command line; a run that is done there is read and not repeated. None keeps nothing on disk.
    progress
        Whether `fit` prints the progress of the run.
    settings
        Further settings of the run by their names: ``{"method.lr": 0.001, "trainer.batch_size": 32}``.
    """

    experiment: ClassVar[str]
    """Preset that is trained."""
    data: ClassVar[str] = "X"
    """Arguments of `fit` whose values are in the file of the data, for messages."""
    layout: ClassVar[str] = ""
    """Description of that file in messages, left out: an estimator writes it itself."""

    def __init__(
        self,
        preset: str = "small",
        max_samples: int | None = None,
        patience: int | None = None,
        random_state: int | np.random.RandomState | None = 0,
        device: str = "auto",
        outputs: str | None = None,
        progress: bool = False,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.preset, self.max_samples, self.patience = preset, max_samples, patience
        self.random_state, self.device = random_state, device
        self.outputs, self.progress, self.settings = outputs, progress, settings

    # fit

    def _own_settings(self) -> dict[str, Any]:
        """Return the settings of the run that a subclass has parameters for; None for those of the preset."""
        raise NotImplementedError

    def _set_attributes(self, arrays: Mapping[str, np.ndarray], data: Any, inputs: Mapping[str, Path]) -> None:
        """Set the fitted attributes of a subclass from the arrays of its run, its data module and their files."""
        raise NotImplementedError

    def _fit(self, inputs: Mapping[str, bytes]) -> Self:
        """Execute the run on data that are files, named after the settings of the data set: name -> content."""
        seed, keep = self.random_state, self.outputs
        if not isinstance(seed, int | np.integer):
            seed = int(check_random_state(seed).randint(2**31))
        with refusals(), undisturbed(), ExitStack() as stack:
            if wrong := unlisted("device", str(self.device), DEVICES):
                raise InputError(wrong)
            outputs = Path(expanded(keep or stack.enter_context(tempfile.TemporaryDirectory())))
            files = {Path(name).stem: stored(outputs / INPUTS, name, content) for name, content in inputs.items()}
            chosen = {
                "scale": self.preset,
                "seeds": [],
                "seed": seed,
                "trainer.accelerator": "gpu" if str(self.device) == "cuda" else self.device,
                "trainer.max_samples": self.max_samples,
                "trainer.early_stop.patience": self.patience,
                "outputs": str(outputs),
                **{f"data.{name}": str(file) for name, file in files.items()},
                **self._own_settings(),
                **(self.settings or {}),
            }
            words = {key: f"{key}={as_override(value)}" for key, value in chosen.items() if value is not None}
            stack.enter_context(self._about_arguments(files, words))
            run = compose([f"experiment={self.experiment}", *words.values()])
            if run.seeds:
                raise InputError("an estimator has one seed: set random_state, and leave seeds out of settings")
            with nullcontext() if self.progress else redirect_stdout(io.StringIO()):
                folder = execute(run)
            data = self._take(folder, files)
            remarks = [remark for remark in RunFolder(folder).remarks if remark not in data.remarks]
        for remark in remarks:
            warnings.warn(remark, stacklevel=3)
        return self

    @contextmanager
    def _about_arguments(self, files: Mapping[str, Path], words: Mapping[str, str]) -> Iterator[None]:
        """Raise invalid input of the run as that of arguments: in files of the data, and in overrides of settings."""
        try:
            yield
        except InputError as error:
            text = str(error).replace(self.layout, "").replace("trainer=cpu", "device=cpu")
            for name, file in files.items():
                text = re.sub(rf"\n *data\.{name} = {re.escape(str(file))} .*", "", text)
                text = text.replace(str(file), self._argument(name))
            for key, word in words.items():
                if key in (self.settings or {}):
                    text = text.replace(f"command line: {word}", "settings")
                    continue
                text = text.replace(f"  (command line: {word})", "").replace(f"\n  from: command line: {word}", "")
                text = renamed(text, key, ARGUMENTS.get(key, key.rpartition(".")[2]))
            raise InputError(text, error.keys) from error

    def _argument(self, name: str) -> str:
        """Return the words for a file of the data in messages, by its setting."""
        return self.data

    def _checkpoint(self, folder: Path) -> str:
        """Return the name of the checkpoint of a run whose weights are used."""
        return "last"

    def _take(self, folder: Path, inputs: Mapping[str, Path]) -> DataModule:
        """Read a finished run and the files of its data, set the fitted attributes, and return the data module."""
        chosen = f"checkpoints/{self._checkpoint(folder)}.ckpt"
        self._files = {name: (folder / name).read_bytes() for name in (*RUN_FILES, chosen)}
        self._files |= {f"{INPUTS}/{name}{file.suffix}": file.read_bytes() for name, file in inputs.items()}
        named = {name: str(file) for name, file in inputs.items()}
        self.model_ = load(folder, self._checkpoint(folder), named)
        run = self.model_.run
        data = run.data()
        self.rows_ = shown_rows(rows_frame(run.rows))
        of_baselines = self.rows_[self.rows_["method"].isin(list(NAMES))]
        self.baselines_ = of_baselines.pivot(index="method", columns="metric", values="value")
        self._set_attributes(run.arrays, data, inputs)
        return data

    # use

    def save(self, folder: str | Path) -> None:
        """Write the fitted estimator to a folder, without pickled objects.

        The folder has the files of the run, which :func:`sparseid.load_run` reads, too, and the data that were fitted.

        Parameters
        ----------
        folder
            A new folder, or one of an earlier `save`, which is replaced.

        Raises
        ------
        InputError
            If the folder holds anything else.
        """
        check_is_fitted(self)
        target = Path(expanded(folder))
        if target.exists() and not (target / DESCRIPTION).is_file():
            raise RefusedInput(f"{target} exists and holds no estimator: name another folder")
        target.parent.mkdir(parents=True, exist_ok=True)
        settings = self.get_params() | {"random_state": self.model_.run.config.seed}
        names = getattr(self, "feature_names_in_", None)
        described = {"estimator": type(self).__name__, "settings": settings, "feature_names_in_": names}
        with replaced_folder(target) as part:
            self._write(part)
            (part / DESCRIPTION).write_text(json.dumps(described, indent=2, default=plain) + "\n", encoding="utf-8")

    def _write(self, folder: Path) -> None:
        for name, content in self._files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read an estimator back from the folder of `save`; nothing in it is executed.

        Raises
        ------
        InputError
            If it holds no estimator of this class, or its files cannot be read.
        """
        with refusals():
            place = Path(expanded(folder))
            try:
                described = parsed_json((place / DESCRIPTION).read_text(encoding="utf-8"))
                kind, settings = described["estimator"], dict(described["settings"])
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InputError(f"{place} holds no saved estimator ({error}): name the folder of save()") from error
            if kind != cls.__name__:
                raise InputError(f"{place} holds a {kind}: read it with sparseid.{kind}.load")
            if unknown := sorted(set(settings) - set(cls._get_param_names())):
                hint = did_you_mean(unknown[0], cls._get_param_names())
                raise InputError(f"{place / DESCRIPTION}: {kind} has no setting {unknown[0]}; {hint}")
            made = cls(**settings)
            if (names := described.get("feature_names_in_")) is not None:
                made.feature_names_in_ = np.array(names, dtype=object)
            made._read(place)
        return made

    def _read(self, folder: Path) -> None:
        with undisturbed():
            self._take(folder, {file.stem: file for file in sorted((folder / INPUTS).glob("[!.]*"))})

    # scikit-learn

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the model, which is read from the files again."""
        return {name: value for name, value in super().__getstate__().items() if name != "model_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state and the model."""
        super().__setstate__(state)
        if self.__sklearn_is_fitted__():
            with tempfile.TemporaryDirectory() as place:
                self._write(Path(place))
                self._read(Path(place))

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether there is a finished run."""
        return hasattr(self, "_files")


def shown_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return results with the method and the keys that tell them apart, without what is the same for a whole run."""
    keys = [name for name in key_columns(rows) if name == f"{PREFIX}method" or rows[name].nunique(dropna=False) > 1]
    return rows[[*keys, "metric", "value", "unit", "n"]].rename(columns=lambda name: name.removeprefix(PREFIX))


def npz(**arrays: ArrayLike) -> bytes:
    """Return the content of an npz file, the same for equal arrays."""
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type]
    return file.getvalue()


def stored(folder: Path, name: str, content: bytes) -> Path:
    """Write a file under a name that its content determines, unless it is there; return it."""
    file = folder / f"{hashlib.sha256(content).hexdigest()[:16]}{Path(name).suffix}"
    if not file.exists():
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(file, lambda opened: opened.write(content))
    return file


def renamed(text: str, setting: str, argument: str) -> str:
    r"""Return a message about an argument instead of a setting; ``seed``, a word as well, is one where a line begins.

    Examples
    --------
    >>> renamed("lower data.latents\n  data.latents = 5, data.latents_too", "data.latents", "latents")
    'lower latents\n  latents = 5, data.latents_too'
    >>> renamed("seed must be at least 0: a seed of a run", "seed", "random_state")
    'random_state must be at least 0: a seed of a run'
    """
    before = r"(?<![\w.])()" if "." in setting else r"(?m)^( *)"
    return re.sub(rf"{before}{re.escape(setting)}(?!\w|\.\w)", rf"\g<1>{argument}", text)


def as_override(value: Any) -> str:
    """Return a value as it is typed in an override.

    Examples
    --------
    >>> as_override([1, 0.5]), as_override("a b"), as_override(np.float64(0.5)), as_override(True)
    ('[1, 0.5]', '"a b"', '0.5', 'true')
    """
    return json.dumps(value, ensure_ascii=False, default=plain)


def plain(value: Any) -> Any:
    """Return an array as lists, a number of NumPy as one of Python, anything else as text."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


@contextmanager
def refusals(name: str = "") -> Iterator[None]:
    """Raise invalid input as `RefusedInput`, about the argument `name`."""
    try:
        yield
    except InputError as error:
        text = str(error)
        if name and any(f" is {word}" in text for word in ("nan", "inf", "-inf")):
            name = f"Input {name} contains NaN or infinity"
        refused = RefusedKind if isinstance(error.__cause__, TypeError) else RefusedInput
        raise refused(f"{name}: {text}" if name else text, error.keys) from error


@contextmanager
def undisturbed() -> Iterator[None]:
    """Give the process back its global generators, torch's kernels and the filters of warnings."""
    state, deterministic = rng_state(), torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    try:
        with warnings.catch_warnings():
            yield
    finally:
        restore_rng(state)
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
