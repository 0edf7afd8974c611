"""Record results of finished runs in git: add their rows to outputs/recorded/<paper>.csv and runs.csv (make record)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sparseid.errors import InputError
from sparseid.papers.presets import artefact_recipes
from sparseid.papers.recorded import RECORDED, record
from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import rows_frame
from sparseid.printing import protect_output
from sparseid.reporting.collect import rows_with_seconds
from sparseid.training.errors import RunError
from sparseid.training.rows import Row
from sparseid.training.run_folder import RunFolder


def why_not(rows: list[Row], folder: Path) -> str | None:
    """Return why the rows of a run should not be recorded; None if they should."""
    if RunFolder(folder).state != "done":
        return "not done"
    if not rows:
        return "no rows"
    if any(row.dirty for row in rows):
        return "made with uncommitted changes"
    first = rows[0]
    of_paper = [name for name, artefact in ARTEFACTS.items() if artefact.paper == first.paper]
    if not any(first.recipe in artefact_recipes(name, first.scale, folder.parents[2]) for name in of_paper):
        return "settings match no preset"
    return None


def main() -> int:
    """Record what can be recorded and say what cannot, and why."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scale", help="smoke, small or paper")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of runs")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="folder of recorded results")
    arguments = parser.parse_args()
    results = sorted(arguments.outputs.glob(f"{arguments.scale}/*/*/result.json"))
    if not results:
        print(f"no finished run under {arguments.outputs / arguments.scale}", file=sys.stderr)
        return 2
    found: list[Row] = []
    for result in results:
        try:
            rows = rows_with_seconds(RunFolder(result.parent))
            reason = why_not(rows, result.parent)
        except (RunError, InputError) as error:
            reason = str(error)
        if reason:
            print(f"not recorded  {result.parent.name}: {reason}")
        else:
            print(f"recorded      {rows[0].run}: {len(rows)} rows of commit {rows[0].commit[:8]}")
            found += rows
    try:
        if found:
            record(rows_frame(found), arguments.recorded)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
