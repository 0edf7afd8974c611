"""The help page, generated from the files of the search path without composing anything."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from sparseid.config.choices import LAUNCHER, PICKED_GROUPS, choices, description
from sparseid.config.search_path import config_file, config_folders
from sparseid.extensions import packages

HEAD = """\
sparseid: papers about sparsity and identifiability, each table and figure from one command.

usage: python run.py [experiment=NAME] [scale=smoke|small|paper] [KEY=VALUE ...] [--cfg job]
       python run.py show RUN|FOLDER|all [--csv] [outputs=FOLDER]
       python run.py export RUN FOLDER [outputs=FOLDER]

  python run.py                                   experiment=digitcircle scale=small
  python run.py experiment=digitcircle seed=3     one run: trains, evaluates, prints the paper's numbers and ours
  python run.py experiment=sparling/fig3          a figure over its seeds; seed=0,1 replaces the preset's
  python run.py scale=paper trainer=ddp trainer.devices=4
  python run.py scale=smoke method.encoder.width=8,16
                                                  a comma sweeps, over every combination
  python run.py experiment=sparling/fig3 hydra/launcher=slurm hydra.launcher.partition=gpu
  python run.py show all                          numbers of finished runs; of one: its folder or the start of its name
  python run.py export digitcircle-sp results     its numbers, codes, maps and masks as csv, parquet and npz
The same command continues interrupted runs and skips finished ones.
"""

FOOT = """\
any key of the configuration can be set: KEY=VALUE, for example method.optimizer.lr=1e-4
  seed=0              every random stream of the run derives from it
  outputs=outputs     folder of runs and reports
  force=true          repeat finished runs
  hydra.mode=RUN      one run of a preset that sweeps
  paired=[[a,b]]      the swept keys a and b advance together instead of being combined
  variants="['','data.canvas=48']"   the sweep itself, and again with other settings
  hydra.launcher.jobs=2       local: concurrent runs (0: one per GPU, without GPUs one per core)
  hydra.launcher.wait=false   return at once; the runs continue in the background, or on the cluster

  --config-dir FOLDER look for YAML files in this folder as well
  --cfg job           print the configuration and run nothing
  --csv               of show: one number per line instead of tables
  --skip-recorded     skip runs whose results are recorded in git
  --help              this page; --help data=zeisel or --help method=tbr: its settings, their ranges and defaults

exit code: 0 done, 1 a run failed, 2 the configuration cannot be run, 130 interrupted (143 by SIGTERM)
"""


def help_page(folders: Sequence[Path] = (), width: int = 120) -> str:
    """Return the help page: common commands, and every choice of every group with its first comment line.

    Parameters
    ----------
    folders
        The search path; by default ours and those of extensions. Choices from other folders than the first are followed
        by the name of their extension, or by their folder.
    width
        Columns of the terminal.
    """
    folders = folders or config_folders()
    parts = [HEAD]
    for group in (*PICKED_GROUPS, LAUNCHER):
        names = choices(group, folders)
        column = max(map(len, names), default=0) + 2
        lines = [
            textwrap.fill(
                description(group, name, folders) + _source(group, name, folders),
                width,
                initial_indent=f"  {name:<{column}}",
                subsequent_indent=" " * (column + 2),
                break_on_hyphens=False,  # of a path
                break_long_words=False,
            )
            for name in names
        ]
        parts.append("\n".join([f"{group}=", *lines, ""]))
    return "\n".join([*parts, FOOT]).rstrip() + "\n"


def _source(group: str, choice: str, folders: Sequence[Path]) -> str:
    """Return the extension or the folder of a choice in brackets; empty if it is ours."""
    file = config_file(f"{group}/{choice}", folders)
    assert file is not None
    folder = next(folder for folder in folders if file.is_relative_to(folder))
    of_extensions = {extension.configs: extension.package for extension in packages()}
    return "" if folder == folders[0] else f" ({of_extensions.get(folder, folder)})"
