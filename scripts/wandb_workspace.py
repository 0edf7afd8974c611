"""Build a Weights & Biases dashboard of a paper: its tables next to ours, final numbers, curves and figures.

python scripts/wandb_workspace.py sparling --scale small            # saves it and prints its address
python scripts/wandb_workspace.py sparling --scale small --dry-run  # prints the dashboard instead; needs no account

The panels show the logs of the runs below --outputs (logger=wandb); the tables are those of the report.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparseid.config.identity import row_keys
from sparseid.config.schema import LoggerSettings
from sparseid.config.stored import load_run_config
from sparseid.errors import InputError
from sparseid.optional import absence
from sparseid.papers.registry import ARTEFACTS
from sparseid.printing import protect_output
from sparseid.reporting import PAGE
from sparseid.reporting.page import build_report
from sparseid.reporting.tables import metric_text
from sparseid.training.errors import RunError
from sparseid.training.loggers import FIGURES, new_points, summary_name
from sparseid.training.rows import read_rows

LOG_SCALE = ("density",)
"""Suffixes of the names of curves whose values span orders of magnitude."""


@dataclass
class Logged:
    """Names in the logs of a paper's runs: of curves, of final numbers by metric, of figures."""

    curves: set[str] = field(default_factory=set)
    finals: dict[str, set[str]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    figures: set[str] = field(default_factory=set)


def logged_by(runs: list[Path]) -> Logged:
    """Return the names logged in run folders, finished or not."""
    names = Logged()
    for folder in runs:
        if (folder / "metrics.csv").exists():
            with (folder / "metrics.csv").open("rb") as file:
                names.curves |= {name for _, values in new_points(file) for name in values} - {"samples"}
        if (folder / "result.json").exists():
            trial = row_keys(load_run_config(folder))
            for row in read_rows(folder / "result.json"):
                names.finals.setdefault(row.metric, set()).add(summary_name(row, trial))
                names.units[row.metric] = row.unit
        names.figures |= {FIGURES + path.stem for path in folder.glob("figures/*.png")}
    return names


def tables(paper: str, scale: str, outputs: Path, experiment: str | None) -> list[str]:
    """Return the report's comparison tables of a paper as Markdown, the paper's numbers next to ours."""
    chosen = [name for name, artefact in ARTEFACTS.items() if artefact.paper == paper and experiment in (None, name)]
    files = [(outputs / PAGE).parent / scale / f"{name.replace('/', '-')}.md" for name in chosen]
    return [path.read_text(encoding="utf-8") for path in files if path.exists()]


def workspace(
    paper: str, scale: str, names: Logged, texts: list[str], entity: str, project: str, experiment: str | None
) -> Any:
    """Return the dashboard as the library's Workspace: sections of panels, and the runs that they show.

    Runs are grouped by configuration (job type), so that curves and bars are means over seeds.
    """
    import wandb_workspaces.reports.v2 as panels
    import wandb_workspaces.workspaces as dashboards
    from wandb_workspaces import expr

    def bars(metric: str) -> Any:
        title = metric_text(metric, names.units[metric], paper)
        keys: list[Any] = [panels.SummaryMetric(name) for name in sorted(names.finals[metric], key=_natural)]
        return panels.BarPlot(title=title, metrics=keys, groupby="JobType", groupby_aggfunc="mean")

    sections: dict[str, list[Any]] = {
        "Paper and ours": [panels.MarkdownPanel(markdown=text, layout=panels.Layout(w=24, h=9)) for text in texts],
        "Final numbers": [bars(metric) for metric in sorted(names.finals)],
        "Curves": [
            panels.LinePlot(title=name, x="samples", y=[name], log_y=name.endswith(LOG_SCALE))
            for name in sorted(names.curves)
        ],
        "Figures": [panels.MediaBrowser(title=name, media_keys=[name]) for name in sorted(names.figures)],
    }
    filters: list[Any] = [expr.Config("paper") == paper, expr.Config("scale") == scale]
    if experiment:
        filters.append(expr.Config("experiment") == experiment)
    return dashboards.Workspace(
        entity=entity,
        project=project,
        name=", ".join(filter(None, [paper, experiment, scale])),
        sections=[dashboards.Section(name=name, panels=made, is_open=True) for name, made in sections.items() if made],
        settings=dashboards.WorkspaceSettings(x_axis="samples"),
        runset_settings=dashboards.RunsetSettings(filters=filters, groupby=[expr.Metric("JobType")]),
    )


def as_json(made: Any) -> str:
    """Return the content of `made.save()` as JSON."""
    return str(made._to_model().spec.model_dump_json(by_alias=True, exclude_none=True, indent=2))


def _natural(name: str) -> list[tuple[int, str]]:
    """Return a sort key by which steps_above=2 comes before steps_above=10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in name.replace("=", "/").split("/")]


def _default_entity() -> str:
    """Return the user's own account.

    Raises
    ------
    InputError
        If nobody is logged in, or the server does not answer.
    """
    import wandb

    try:
        wandb.login()
        return str(wandb.Api(timeout=20).default_entity)
    except Exception as error:
        raise InputError(
            f"cannot reach Weights & Biases as you: {str(error).splitlines()[0]}\n"
            "  log in with `wandb login` or WANDB_API_KEY, or print the dashboard with --dry-run"
        ) from error


def main() -> int:
    """Save or print the dashboard."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paper", choices=sorted({artefact.paper for artefact in ARTEFACTS.values()}))
    parser.add_argument("--scale", default="small", choices=["smoke", "small", "paper"], help="default: small")
    parser.add_argument("--experiment", help="only runs of this experiment, for example sparling/fig4")
    parser.add_argument("--outputs", type=Path, default=Path("outputs"), help="folder of runs (default: outputs)")
    parser.add_argument("--project", default=LoggerSettings().project, help="default: %(default)s")
    parser.add_argument("--entity", help="team or user (default: yourself)")
    parser.add_argument("--dry-run", action="store_true", help="print the dashboard as JSON and save nothing")
    arguments = parser.parse_args()
    if text := absence("wandb_workspaces", "dashboards"):
        print(f"error: {text}", file=sys.stderr)
        return 2
    try:
        runs = sorted(
            path.parent for path in arguments.outputs.glob(f"{arguments.scale}/{arguments.paper}/*/config.yaml")
        )
        if not runs:
            raise InputError(
                f"no run of {arguments.paper} at scale={arguments.scale} below {arguments.outputs}: "
                "start one with logger=wandb, whose names fill the panels"
            )
        entity = arguments.entity or ("" if arguments.dry_run else _default_entity())
        build_report(arguments.outputs, arguments.scale)
        texts = tables(arguments.paper, arguments.scale, arguments.outputs, arguments.experiment)
        made = workspace(
            arguments.paper, arguments.scale, logged_by(runs), texts, entity, arguments.project, arguments.experiment
        )
    except (InputError, RunError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    if arguments.dry_run:
        print(as_json(made))
        return 0
    try:
        made.save()
    except Exception as error:
        print(f"error: the dashboard was not saved: {error}", file=sys.stderr)
        return 1
    print(made.url)
    return 0


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
