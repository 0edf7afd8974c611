"""The help page, written from the files of ``configs/`` without composing anything."""

from __future__ import annotations

import textwrap
from pathlib import Path

from sparseid.config.choices import CONFIGS, LAUNCHER, PICKED_GROUPS, choices, description

HEAD = """\
sparseid: papers about sparsity and identifiability, each table and figure from one command.

usage: python run.py [experiment=NAME] [scale=smoke|small|paper] [KEY=VALUE ...] [--cfg job]

  python run.py                                   experiment=digitcircle scale=small
  python run.py experiment=digitcircle seed=3     one run: trains, evaluates, prints the paper's numbers beside ours
  python run.py experiment=sparling/fig3          a figure over its seeds; seed=0,1 replaces the preset's
  python run.py scale=paper trainer=ddp trainer.devices=4
  python run.py scale=smoke method.encoder.width=8,16
                                                  a comma sweeps, over every combination
  python run.py experiment=sparling/fig3 hydra/launcher=slurm hydra.launcher.partition=gpu
The same command again continues what was interrupted and skips what is done.
"""

FOOT = """\
any key of the configuration can be set: KEY=VALUE, for example method.optimizer.lr=1e-4
  seed=0              every random stream of the run derives from it
  outputs=outputs     folder of runs and reports
  force=true          make a run again that is done
  hydra.mode=RUN      one run of a preset that sweeps
  paired=[[a,b]]      the swept keys a and b advance together instead of being multiplied
  variants="['','data.canvas=48']"   the sweep as it stands, and again with other settings
  hydra.launcher.jobs=2       local: runs at once (0: one per GPU, without GPUs one per core)
  hydra.launcher.wait=false   return at once; the runs go on in the background, or on the cluster

  --cfg job           print the configuration that would be run, and run nothing
  --skip-measured     skip runs whose results are recorded in git
  --help              this page

exit code: 0 done, 1 a run failed, 2 the configuration cannot be run, 130 interrupted (143 by SIGTERM); both go on
"""


def help_page(configs: Path = CONFIGS, width: int = 120) -> str:
    """Return the help page: what this is, common commands, every choice of every group with its first comment line."""
    parts = [HEAD]
    for group in (*PICKED_GROUPS, LAUNCHER):
        names = choices(group, configs)
        column = max(map(len, names), default=0) + 2
        lines = [
            textwrap.fill(
                description(group, name, configs),
                width,
                initial_indent=f"  {name:<{column}}",
                subsequent_indent=" " * (column + 2),
            )
            for name in names
        ]
        parts.append("\n".join([f"{group}=", *lines, ""]))
    return "\n".join([*parts, FOOT]).rstrip() + "\n"
