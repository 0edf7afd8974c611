"""Keep the rows of finished runs in git: copy them to src/sparseid/papers/<paper>/measured/ (make keep)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sparseid.errors import InputError
from sparseid.papers.presets import artefact_recipes
from sparseid.papers.registry import ARTEFACTS
from sparseid.reporting.seconds import rows_with_seconds
from sparseid.training.errors import RunError
from sparseid.training.rows import Row, write_rows
from sparseid.training.run_folder import RunFolder

PAPERS = Path(__file__).resolve().parents[1] / "src" / "sparseid" / "papers"


def why_not(rows: list[Row], folder: Path) -> str | None:
    """Return why the rows of a run should not be kept; None if they should."""
    if RunFolder(folder).state != "done":
        return "not done"
    if not rows:
        return "no rows"
    if any(row.dirty for row in rows):
        return "made with changes that no commit holds"
    first = rows[0]
    of_paper = [name for name, artefact in ARTEFACTS.items() if artefact.paper == first.paper]
    if not any(first.recipe in artefact_recipes(name, first.scale) for name in of_paper):
        return "made with settings that are no preset's"
    return None


def main() -> int:
    """Copy what can be kept and say what cannot, and why."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scale", help="smoke, small or paper")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of runs")
    parser.add_argument("--papers", type=Path, default=PAPERS, help="where the papers' folders lie")
    arguments = parser.parse_args()
    results = sorted(arguments.outputs.glob(f"{arguments.scale}/*/*/result.json"))
    if not results:
        print(f"no finished run under {arguments.outputs / arguments.scale}", file=sys.stderr)
        return 2
    for result in results:
        try:
            rows = rows_with_seconds(RunFolder(result.parent))
            reason = why_not(rows, result.parent)
        except (RunError, InputError) as error:
            reason = str(error)
        if reason:
            print(f"not kept  {result.parent.name}: {reason}")
            continue
        target = arguments.papers / rows[0].paper / "measured" / f"{arguments.scale}-{result.parent.name}.json"
        target.parent.mkdir(exist_ok=True)  # the first of its paper
        write_rows(target, rows)
        print(f"kept      {target.name}: {len(rows)} rows of commit {rows[0].commit[:8]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
