"""Run what is missing for every artefact with a preset, then write the report (make reproduce-all).

Each artefact is one command, python run.py experiment=..., in a separate process; the shortest comes first. A failure
stops only what depends on it. The same command resumes where it was stopped.

Runs with recorded results (outputs/recorded) count as done, even if older code produced them; --again-recorded repeats
them here.

exit code: 0 nothing failed, 1 something did, 2 nothing can be run, 130 Ctrl-C, 143 SIGTERM
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sparseid.launching.reproduce import Request, reproduce
from sparseid.printing import protect_output


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="*", help="settings of all commands, e.g. hydra.launcher.partition=gpu")
    parser.add_argument("--scale", choices=["smoke", "small", "paper"], default="small", help="default: small")
    parser.add_argument("--launcher", default="local", help="local (default) or slurm")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of runs (default: outputs)")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this paper or artefact; may be repeated")
    parser.add_argument("--again-recorded", action="store_true", help="repeat runs with recorded results as well")
    arguments = parser.parse_intermixed_args()
    lists = {"settings": tuple(arguments.settings), "only": tuple(arguments.only or ())}
    return reproduce(Request(**{**vars(arguments), **lists}))


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
