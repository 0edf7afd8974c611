"""Write the report of whatever has finished: python scripts/report.py [--outputs FOLDER] [--scale SCALE]."""

import argparse
from pathlib import Path

from sparseid.reporting.collect import collect
from sparseid.reporting.page import build_report


def main() -> None:
    parser = argparse.ArgumentParser(description="Tables, figures and verdicts from whatever has finished.")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of runs (default: outputs)")
    parser.add_argument("--scale", choices=["smoke", "small", "paper"], help="only this scale (default: all)")
    arguments = parser.parse_args()
    collection = collect(arguments.outputs, arguments.scale)
    for problem in collection.problems:
        print(f"not used: {problem}")
    print(f"Report: {build_report(arguments.outputs, arguments.scale, collection)}")


if __name__ == "__main__":
    main()
