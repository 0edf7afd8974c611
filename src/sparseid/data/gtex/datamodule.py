"""Data module of single cells: one choice of latents, one phenotype per member of the stack."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from sparseid.data.environments import EnvironmentData, EnvironmentSplit
from sparseid.data.gtex.phenotypes import draw_phenotype, unseen_weights
from sparseid.data.gtex.prepare import Prepared, prepared, regulators_of
from sparseid.data.gtex.sources import SOURCES
from sparseid.data.tables import scaled
from sparseid.data.trees import without_environment
from sparseid.errors import InputError
from sparseid.streams import FIXED, Streams

if TYPE_CHECKING:
    from pathlib import Path

    from sparseid.data.gtex.settings import GtexSettings


PAPERS_HELD_OUT = 4
"""Types that the paper holds out in turn (Fig. 5b)."""


class HeldOut(NamedTuple):
    """A type excluded from training, and its closest type, as numbers of the full tree's types."""

    type: int
    closest: int


OTHER_CELLS = "othercells"
"""Row key ``domain`` of a file that is read as the atlas but is not the atlas."""


class GtexData(EnvironmentData):
    """Cells with simulated labels; members have the same inputs and latents, and labels of their own.

    With a held-out type the test samples are the cells of that type, and their environment is the closest one: a
    method predicts them with its weights for that one, and its test error is the error on an unseen type.

    Parameters
    ----------
    config
        Settings of cells, latents and labels.
    seeds
        One per member, for its phenotype.
    batch_size
        Training samples of a member per step.

    Attributes
    ----------
    input_genes, latent_genes
        Names of the columns of inputs and latents.
    unseen
        Name of the held-out type; None without one.
    note
        Notice for tables of results on these cells; empty for the paper's cells.
    files
        Files that were read, with the SHA-256 of their content.
    remarks
        Warnings for the run's log: these files, and the types that can be held out if there are more than in the paper.

    Raises
    ------
    InputError
        If the file or a setting cannot be used.
    """

    def __init__(self, config: GtexSettings, seeds: list[int], batch_size: int) -> None:
        self.config = config
        self.cells = cells = prepared(config)
        self.latent_genes, self.input_genes = genes_of_choice(config, cells)
        self.full_tree = tree = cells.dendrogram.tree
        train, validation, test = split_cells(cells.codes)
        self.held_out = _held_out(config, cells)
        if self.held_out:
            tree, _ = without_environment(tree, self.held_out.type, config.held_out.contract)
            unseen, closest = (cells.codes == number for number in self.held_out)
            train, validation, test = train[~unseen[train]], validation[~unseen[validation]], np.flatnonzero(unseen)
        self.scaling = train  # all seen types, whichever are trained on: labels are the same for both methods
        if self.held_out and config.held_out.train_on == "closest":
            train, validation = train[closest[train]], validation[closest[validation]]
        if len(train) < batch_size:
            text = f"{len(train)} training cells do not fill a batch of {batch_size}: lower trainer.batch_size"
            raise InputError(text, ("trainer.batch_size", "data.held_out.train_on"))
        self.splits = (train, validation, test)
        self.unseen = str(cells.types[self.held_out.type]) if self.held_out else None
        super().__init__(tree, seeds, batch_size, len(self.splits[2]))
        self.features, self.latents = len(self.input_genes), len(self.latent_genes)
        self.note = SOURCES[config.source].note_on(len(cells.types), len(cells.codes))
        if self.note and not SOURCES[config.source].note:  # comparisons exclude all other cells
            self.domain = OTHER_CELLS
        self.record_files([SOURCES[config.source].find(config.path), *_tables(config)])
        if self.held_out:
            self.remarks += _more_than_the_papers(config, cells)

    def make(self) -> tuple[EnvironmentSplit, EnvironmentSplit, EnvironmentSplit]:
        """Return the training, validation and test samples of all members."""
        x, z = self.values()
        labels = torch.from_numpy(np.stack([self.labels(z, seed) for seed in self.seeds]).astype(np.float32))
        inputs, latents, environments = torch.from_numpy(x), torch.from_numpy(z).float(), self.environments()

        def split(cells: NDArray[np.int64], with_latents: bool = False) -> EnvironmentSplit:
            shared = inputs[cells].repeat(len(self.seeds), 1, 1), labels[:, cells], environments[cells]
            return EnvironmentSplit(*shared, latents[cells].repeat(len(self.seeds), 1, 1) if with_latents else None)

        train, validation, test = self.splits
        return split(train), split(validation), split(test, with_latents=True)

    def values(self) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return inputs (cells, features) and latents (cells, latents), scaled by the training cells if configured."""
        columns = {str(name): number for number, name in enumerate(self.cells.genes)}
        x, z = (
            self.cells.expression[:, [columns[gene] for gene in genes]].astype(np.float64)
            for genes in (self.input_genes, self.latent_genes)
        )
        if self.config.standardise == "train":
            x, z = (scaled(values, self.scaling) for values in (x, z))
        return x.astype(np.float32), z

    def environments(self) -> torch.Tensor:
        """Return the environment (cells,) int64 of each cell in `tree`; that of an unseen cell is the closest one."""
        codes = self.cells.codes
        if self.held_out:
            codes = np.where(codes == self.held_out.type, self.held_out.closest, codes)
            codes = codes - (codes > self.held_out.type)  # renumber the remaining types
        return torch.from_numpy(codes)

    def labels(self, z: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
        """Return the labels (cells,) of a member."""
        config, streams = self.config, Streams(seed)
        tree, k = self.full_tree, self.latents
        weights = draw_phenotype(tree, k, config.S, config.delta_std, streams, config.z_choice).weights
        if self.held_out:
            rng = streams.numpy("gtex/unseen", config.z_choice, self.held_out.type)
            weights[self.held_out.type] = unseen_weights(weights[self.held_out.closest], config.delta_std, rng)
        noise = streams.numpy("gtex/label_noise", config.z_choice).standard_normal(len(z))
        return np.einsum("nk,nk->n", weights[self.cells.codes], z) + config.noise_std_y * noise


def genes_of_choice(config: GtexSettings, cells: Prepared) -> tuple[list[str], list[str]]:
    """Return the latent genes of a choice and the inputs: the factors of these genes.

    The choices are in a fixed random order, so that the first ones are a random sample.

    Raises
    ------
    InputError
        If there are too few candidates or choices.
    """
    candidates = list(config.z_genes or SOURCES[config.source].latents)
    choices = list(combinations(candidates, config.latents))
    if not 0 <= config.z_choice < len(choices):
        text = f"{config.latents} latents of {len(candidates)} genes can be chosen in {len(choices)} ways, "
        raise InputError(f"{text}data.z_choice={config.z_choice} is not one of them", ("data.z_choice", "data.latents"))
    order = FIXED.numpy("gtex/choices").permutation(len(choices))
    chosen = list(choices[order[config.z_choice]])
    available = [str(gene) for gene in cells.genes[len(candidates) :]]
    table = regulators_of(config)
    if table is None:
        return chosen, available
    factors = {factor for gene in chosen for factor in table[gene]}
    return chosen, [gene for gene in available if gene in factors]


def held_out_types(cells: Prepared, min_population: int, min_neighbour: int) -> list[HeldOut]:
    """Return the types that can be held out (Fig. 5b); cells are counted before the cap."""
    dendrogram, population = cells.dendrogram, cells.population
    pairs = [HeldOut(number, dendrogram.closest(number)) for number in range(len(cells.types))]
    return [p for p in pairs if population[p.type] >= min_population and population[p.closest] >= min_neighbour]


def split_cells(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the training, validation and test cells: 50, 25 and 25 % of each type, the same for every seed."""
    parts: tuple[list[NDArray[np.int64]], ...] = ([], [], [])
    for number in range(codes.max() + 1):
        cells = FIXED.numpy("gtex/split", number).permutation(np.flatnonzero(codes == number))
        train = len(cells) // 2
        for part, chosen in zip(parts, np.split(cells, [train, train + (len(cells) - train) // 2]), strict=True):
            part.append(chosen)
    train_cells, validation, test = (np.concatenate(part) for part in parts)
    return train_cells, validation, test


def _tables(config: GtexSettings) -> list[Path]:
    """Return the user-provided table of transcription factors, if it is used."""
    return [path for name, path in config.user_files().items() if name == "tf_targets"]


def _more_than_the_papers(config: GtexSettings, cells: Prepared) -> list[str]:
    found = held_out_types(cells, config.held_out.min_population, config.held_out.min_neighbour)
    if len(found) <= PAPERS_HELD_OUT:
        return []
    names = [str(cells.types[number]) for number, _ in found]
    return [
        f"{len(found)} cell types qualify for being held out, the paper has {PAPERS_HELD_OUT}: its figure takes the "
        f"first of them here, {', '.join(names[:PAPERS_HELD_OUT])}, and not {', '.join(names[PAPERS_HELD_OUT:])} "
        "(data.held_out.min_population, data.held_out.min_neighbour)"
    ]


def _held_out(config: GtexSettings, cells: Prepared) -> HeldOut | None:
    wanted = config.held_out
    if wanted.index < 0:
        return None
    found = held_out_types(cells, wanted.min_population, wanted.min_neighbour)
    if wanted.index >= len(found):
        names = ", ".join(str(cells.types[number]) for number, _ in found) or "none"
        raise InputError(
            f"data.held_out.index={wanted.index}: {len(found)} cell types have at least {wanted.min_population} cells "
            f"and a closest type of at least {wanted.min_neighbour} (from 0 on: {names})",
            ("data.held_out.index", "data.held_out.min_population", "data.held_out.min_neighbour"),
        )
    return found[wanted.index]
