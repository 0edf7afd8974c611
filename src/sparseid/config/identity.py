"""Which run a configuration asks for: what changes its numbers, its hash, its keys in a table and its folder."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

from sparseid.config import data_sets
from sparseid.config.audio_mnist_sequence import AudioMNISTSequenceConfig
from sparseid.config.ddl import DDLConfig
from sparseid.config.gtex import GtexConfig
from sparseid.config.latent_walk import ArraysConfig, LatentWalkConfig
from sparseid.config.latex_ocr import LatexOcrConfig
from sparseid.config.mlp_mixture import MLPMixtureConfig
from sparseid.config.movielens import MovielensConfig
from sparseid.config.peerread import PeerreadConfig, PeerreadShiftConfig
from sparseid.config.regcl import RegCLConfig
from sparseid.config.schema import (
    DigitCircleConfig,
    RunConfig,
    SparlingConfig,
    TBRConfig,
    TreeSimulationConfig,
)
from sparseid.config.seven_features import SevenFeaturesConfig
from sparseid.config.sparse_vae import SparseVAEConfig
from sparseid.config.zeisel import ZeiselConfig

HASH_LENGTH = 8
"""Hex digits of a run's hash."""

LISTED_SEEDS = 5
"""More seeds than these are not written into a run's name, unless they are consecutive."""


def semantic_settings(cfg: RunConfig) -> dict[str, Any]:
    """Return what changes the numbers of a run, as nested plain values.

    These are ``method``, ``data``, ``seed`` and the trainer fields whose metadata say so; not where the run writes,
    what logs it, which preset asked for it, nor the devices it runs on. A field at its schema's default is left out, so
    that a later version may add fields without making every earlier run a different one. The seeds of a stack take the
    place of the seed. A file counts by its content, whether it is named or found where the user has placed it.
    """
    return recipe_settings(cfg) | ({"seeds": list(cfg.seeds)} if cfg.seeds else {"seed": cfg.seed})


def recipe_settings(cfg: RunConfig) -> dict[str, Any]:
    """Return the semantic settings that all seeds of a cell share: those of `semantic_settings` without the seed."""
    marked = {field.name for field in dataclasses.fields(cfg.trainer) if field.metadata.get("semantic")}
    trainer = _beyond_defaults(cfg.trainer)
    return {
        "method": _beyond_defaults(cfg.method) | {"name": cfg.method.name},
        "data": _beyond_defaults(cfg.data) | {"name": cfg.data.name} | _placed_files(cfg.data),
        "trainer": {name: value for name, value in trainer.items() if name in marked},
    }


def recipe_hash(cfg: RunConfig) -> str:
    """Return the hash of `recipe_settings`: rows with the same one differ in their seed only."""
    return settings_hash(recipe_settings(cfg))


def run_hash(cfg: RunConfig) -> str:
    """Return 8 hex digits of the SHA-256 of the semantic settings, however these are spelt."""
    return settings_hash(semantic_settings(cfg))


def settings_hash(settings: dict[str, Any]) -> str:
    """Return the hash of nested plain values, whatever the order of keys and whether whole numbers are int or float.

    Raises
    ------
    ValueError
        If a number is NaN or infinite.
    """
    text = json.dumps(_canonical(settings), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]


def cell_keys(cfg: RunConfig) -> dict[str, str | int | float]:
    """Return the row and column keys under which the paper's tables file this run's numbers."""
    tabled = isinstance(cfg.data, MovielensConfig | PeerreadConfig)  # columns of one table
    keys: dict[str, str | int | float] = {"dataset" if tabled else "domain": cfg.data.name.replace("_", "")}
    if isinstance(cfg.method, SparlingConfig):
        keys |= _sparling_keys(cfg.method)
    elif isinstance(cfg.method, TBRConfig):
        joint = cfg.method.estimator == "joint"
        keys["method"] = cfg.method.variant if joint else f"{cfg.method.variant}_{cfg.method.estimator}"
    elif isinstance(cfg.method, SparseVAEConfig):
        keys |= _sparse_vae_keys(cfg.method, on_cells=isinstance(cfg.data, ZeiselConfig))
    elif isinstance(cfg.method, DDLConfig):
        keys |= _ddl_keys(cfg.method)
    else:
        keys["method"] = cfg.method.name
    if isinstance(cfg.method, RegCLConfig):
        training = cfg.method.training
        keys["training"] = "hybrid_contrastive" if training == "hybrid" else training
        keys["regularisation"] = "regularised" if cfg.method.penalty_weight else "none"
    if isinstance(cfg.data, AudioMNISTSequenceConfig):
        keys |= {"domain": "audiomnist", "split": "test_speakers"}
        if cfg.data.source != "audiomnist":  # never to be mistaken for the paper's data
            keys["source"] = cfg.data.source
    elif isinstance(cfg.data, TreeSimulationConfig):
        keys |= {"pi": cfg.data.pi} if cfg.data.changes == "bernoulli" else {"S": cfg.data.S}
    elif isinstance(cfg.data, GtexConfig):
        keys |= {"S": cfg.data.S, "z_choice": cfg.data.z_choice}
        if cfg.data.held_out.index >= 0:
            keys["held_out"] = cfg.data.held_out.index
        if cfg.data.source != "atlas":  # never to be mistaken for the paper's data
            keys["source"] = cfg.data.source
    elif isinstance(cfg.data, LatexOcrConfig):
        keys["domain"] = "latex_ocr"
    elif isinstance(cfg.data, DigitCircleConfig):
        keys |= _digit_circle_keys(cfg.data)
    elif isinstance(cfg.data, LatentWalkConfig):
        keys |= {"dim": cfg.data.latents, "setting": cfg.data.setting}
    elif isinstance(cfg.data, ArraysConfig):
        keys["source"] = Path(cfg.data.path).stem
    elif isinstance(cfg.data, MLPMixtureConfig):
        keys |= _mlp_mixture_keys(cfg.data)
    else:
        keys |= _feature_matrix_keys(cfg.data)
    return keys


def _sparling_keys(method: SparlingConfig) -> dict[str, str | int | float]:
    """Return the name of the variant or baseline as Sparling's tables have it, with what they vary in it."""
    sparse, schedule = method.sparse, method.schedule
    thresholds = "st" if sparse.thresholds == "single" else "mt"
    if method.training != "sparling":
        return {"method": method.training}
    if sparse.kind != "threshold":
        return {"method": sparse.kind, "lambda": sparse.penalty_weight}
    if not schedule.target_fall_per_sample:
        return {"method": "non_sparse"}
    if schedule.start_density * schedule.cut_factor**2 < schedule.min_density:  # begun at the last density or one above
        at_last = schedule.start_density * schedule.cut_factor < schedule.min_density
        return {"method": "no_annealing", "start": "final" if at_last else "penultimate"}
    return {"method": f"{'no_bn' if sparse.batch_norm == 'none' else 'sparling'}_{thresholds}"}


PUBLISHED_NOISE = 0.05
"""Share of DigitCircle's pixels that flip in the end."""


def _digit_circle_keys(data: DigitCircleConfig) -> dict[str, float]:
    """Return what is unlike the published images: their noise and how often digits occur."""
    keys = {} if data.post_noise == PUBLISHED_NOISE else {"post_noise": data.post_noise}
    return keys | ({} if data.rarest == 1 else {"rarest": data.rarest})


def _sparse_vae_keys(method: SparseVAEConfig, on_cells: bool) -> dict[str, str | int | float]:
    """Return the method's row key; a recipe that is not the one published for the data is part of its name."""
    beta = {"beta": method.beta} if method.model == "vae" and method.beta != 1 else {}
    recipe = {
        "original": method.model == "vsc" and method.vsc.variant == "original",
        "trained_inputs": method.model == "vsc" and method.vsc.train_pseudo_inputs and not on_cells,
        "untrained_inputs": method.model == "vsc" and on_cells and not method.vsc.train_pseudo_inputs,
        "kl_sum": method.kl_reduction == "sum" and method.model in ("sparse_vae", "vae"),
        "paper_prior": method.model == "sparse_vae" and method.prior.laplace_normaliser == "paper",
        "warm_up": method.model == "sparse_vae" and method.prior.warm_up > 0,
        "restarts": method.restarts > 1,
    }
    name = "beta_vae" if beta else method.model
    return {"method": "_".join([name, *(part for part, holds in recipe.items() if holds)]), **beta}


def _ddl_keys(method: DDLConfig) -> dict[str, str | int | float]:
    """Return the name of the penalty in Table 4 and its weight; an estimated Jacobian is part of the name."""
    name = "ours" if method.penalty == "dependency" else method.penalty
    return {"method": f"{name}_coordinates" if method.jacobian == "coordinates" else name, "alpha": method.alpha}


SHIFTS = {0.5: "high", 1.0: "medium", 3.0: "low"}
"""What the Sparse VAE's Table 2 calls its values of sigma_shift."""


def _feature_matrix_keys(data: Any) -> dict[str, str | int | float]:
    """Return the keys of the Sparse VAE's data sets beside their name: what is read of them is always told."""
    keys: dict[str, str | int | float] = {}
    if isinstance(data, SevenFeaturesConfig):
        keys["rho"] = data.rho
    elif isinstance(data, PeerreadShiftConfig):
        keys |= {"shift": SHIFTS.get(data.sigma_shift, "other"), "sigma_shift": data.sigma_shift}
    elif isinstance(data, MovielensConfig | PeerreadConfig):
        keys["fold"] = data.fold
    if isinstance(data, MovielensConfig | ZeiselConfig):
        keys["source"] = data.source
    elif isinstance(data, PeerreadConfig | PeerreadShiftConfig):
        keys["source"] = data.corpus.source
    return keys


DIVERSE = ("identity", "circulant", "lower_triangular", "ones_minus_identity", "random")
"""Masks that are Sufficiently Diverse (circulant ones but for those that are dense)."""


def _mlp_mixture_keys(data: MLPMixtureConfig) -> dict[str, str | int | float]:
    """Return the keys of the synthetic experiments of Diverse Dictionary Learning; a mask of a file is its name."""
    dense = data.mask == "dense" or (data.mask == "circulant" and data.band >= data.latents)
    structure = "dense" if dense else "diverse" if data.mask in DIVERSE else "other"
    keys: dict[str, str | int | float] = {"dim": data.latents, "structure": structure}
    keys["mask"] = f"circulant{data.band}" if data.mask == "circulant" else Path(data.mask).stem
    if not data.mask.endswith(".csv"):
        keys["m"] = data.outputs_per_row * data.latents
    if data.groups:
        keys["groups"] = data.groups
    return keys | {"noise": data.noise, "rho": data.rho}


def run_name(cfg: RunConfig) -> str:
    """Return the readable and unique name of a run, for example ``digitcircle-sparling_mt-seed0-1a2b3c4d``."""
    cell = [value if isinstance(value, str) else f"{key}{value}" for key, value in cell_keys(cfg).items()]
    return "-".join([*cell, seeds_text(cfg), run_hash(cfg)])


def member_seeds(cfg: RunConfig) -> list[int]:
    """Return the seeds of which a run makes rows: those of its stack, or its own."""
    return list(cfg.seeds) or [cfg.seed]


def seeds_text(cfg: RunConfig) -> str:
    """Return the seeds of a run in a few characters: ``seed3``, ``seeds0to9``, ``seeds1_4_7`` or ``12seeds``."""
    seeds = cfg.seeds
    if not seeds:
        return f"seed{cfg.seed}"
    if len(seeds) > 1 and list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"seeds{seeds[0]}to{seeds[-1]}"
    return "seeds" + "_".join(map(str, seeds)) if len(seeds) <= LISTED_SEEDS else f"{len(seeds)}seeds"


def run_directory(cfg: RunConfig) -> Path:
    """Return the folder of a run: ``<outputs>/<scale>/<paper>/<run name>``."""
    return Path(cfg.outputs) / cfg.scale / cfg.paper / run_name(cfg)


def _placed_files(data: Any) -> dict[str, str]:
    """Return the digests of the files that the user has placed for a data set, under the settings that name them."""
    files = data_sets.placed_files(data)
    if not files:
        return {}
    from sparseid.data.cache import digest

    return {name: digest(path) for name, path in files.items()}


def _beyond_defaults(node: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their default, nested ones likewise."""
    settings = {}
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        if field.metadata.get("file") and Path(value).is_file():  # what the file says counts, not where it lies
            value = hashlib.sha256(Path(value).read_bytes()).hexdigest()
        if dataclasses.is_dataclass(value):
            if inner := _beyond_defaults(value):
                settings[field.name] = inner
            continue
        factory = field.default_factory
        default = field.default if factory is dataclasses.MISSING else factory()
        if value != default:
            settings[field.name] = value
    return settings


def _canonical(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _canonical(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
