"""List every run of every artefact of the papers: its state, commit and remaining time.

python scripts/plan.py [--scale S] [--outputs F] [--runs] [--json]     all artefacts at a scale
python scripts/plan.py experiment=sparling/fig3 seed=range(20)          the runs of this command
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from sparseid.errors import InputError
from sparseid.launching.plan import plan_artefacts, plan_command
from sparseid.launching.plan_view import as_json, print_workload
from sparseid.printing import protect_output


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("overrides", nargs="*", help="plan the command python run.py OVERRIDES instead")
    parser.add_argument("--scale", choices=["smoke", "small", "paper"], help="default: small")
    parser.add_argument("--outputs", type=Path, help="folder of runs (default: outputs)")
    parser.add_argument("--only", action="append", metavar="NAME", help="only this paper or artefact; may be repeated")
    parser.add_argument("--runs", action="store_true", help="also list each run of long sweeps")
    parser.add_argument("--json", action="store_true", help="everything as JSON")
    arguments = parser.parse_intermixed_args()
    options = [f"{name}={value}" for name in ("scale", "outputs") if (value := getattr(arguments, name)) is not None]
    try:
        if arguments.overrides and arguments.only:
            parser.error("--only is about all artefacts of a scale: leave it out where a command is planned")
        if arguments.overrides:
            workload = plan_command([*options, *arguments.overrides])
        else:
            outputs = arguments.outputs or Path("outputs")
            workload = plan_artefacts(arguments.scale or "small", outputs, only=arguments.only or ())
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if arguments.json:
        print(json.dumps(as_json(workload), indent=2))
    else:
        print_workload(workload, arguments.runs)
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
