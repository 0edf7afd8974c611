"""Make what is missing of every artefact that has a preset, then the report (make reproduce-all).

Each artefact is one command, python run.py experiment=..., in a process of its own; the one that is finished soonest
comes first. A failure stops only what it concerns. The same command goes on where it was stopped.

Runs whose results are recorded (outputs/recorded) count as done, also where older code made them; --again-measured
makes them here.

exit code: 0 nothing failed, 1 something did, 2 nothing can be run, 130 Ctrl-C, 143 SIGTERM
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sparseid.launching.reproduce import Request, reproduce


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", help="of every command, for example hydra.launcher.partition=gpu")
    parser.add_argument("--scale", choices=["smoke", "small", "paper"], default="small", help="default: small")
    parser.add_argument("--launcher", default="local", help="local (default) or slurm")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of runs (default: outputs)")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this paper or artefact; may be repeated")
    parser.add_argument("--again-measured", action="store_true", help="make runs whose results are recorded, too")
    arguments = parser.parse_intermixed_args()
    lists = {"settings": tuple(arguments.settings), "only": tuple(arguments.only or ())}
    return reproduce(Request(**{**vars(arguments), **lists}))


if __name__ == "__main__":
    sys.exit(main())
