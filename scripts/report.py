"""Write the report of all finished runs: python scripts/report.py [--outputs FOLDER] [--scale SCALE] [--png]."""

import argparse
import sys
from pathlib import Path

from sparseid.errors import InputError
from sparseid.files import refused, share
from sparseid.printing import protect_output
from sparseid.reporting.collect import collect
from sparseid.reporting.page import build_report


def main() -> int:
    parser = argparse.ArgumentParser(description="Tables, figures and verdicts from all finished runs.")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of runs (default: outputs)")
    parser.add_argument("--scale", choices=["smoke", "small", "paper"], help="only this scale (default: all)")
    parser.add_argument("--png", action="store_true", help="also write figures as PNG files")
    arguments = parser.parse_args()
    share(arguments.outputs)
    try:
        collection = collect(arguments.outputs, arguments.scale)
        for problem in collection.problems:
            print(f"not used: {problem}")
        print(f"Report: {build_report(arguments.outputs, arguments.scale, collection, arguments.png)}")
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: the report cannot be written: {error}{refused(error, '; ')}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
