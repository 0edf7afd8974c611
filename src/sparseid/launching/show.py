"""``--cfg job``: the configuration that would be run."""

from __future__ import annotations

from omegaconf import OmegaConf

from sparseid.config.identity import run_directory
from sparseid.config.sweep import Plan


def show_plan(planned: Plan) -> str:
    """Return the YAML of a plan's (first) configuration, with every run's folder as a comment before it."""
    lines = [f"# {run_directory(cell.run)}" for cell in planned.cells]
    if planned.swept:
        lines.insert(
            0, f"# {len(planned.cells)} runs over {', '.join(planned.swept)}; the first one's configuration follows:"
        )
    return "\n".join([*lines, OmegaConf.to_yaml(OmegaConf.structured(planned.cells[0].run))])
