"""The command line: compose and check all runs, make them, report them.

Nothing here imports torch; the run itself does (`sparseid.launching.one_run`).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sparseid.config.search_path import CONFIGS, config_folders, with_config_dir
from sparseid.errors import ConfigError, InputError
from sparseid.files import refused
from sparseid.homes import expanded
from sparseid.launching.component_help import component_pages
from sparseid.launching.help import help_page

if TYPE_CHECKING:
    from sparseid.config.sweep import Plan

USAGES = {"show": "RUN|FOLDER|all [--csv] [outputs=FOLDER]", "export": "RUN FOLDER [outputs=FOLDER]"}
"""First word of a command about finished runs -> what follows it."""


def main(argv: Sequence[str] | None = None, configs: Path = CONFIGS) -> int:
    """Execute the command line.

    Parameters
    ----------
    argv
        The arguments; those of the process if None.
    configs
        Our folder of YAML files.

    Returns
    -------
    int
        0 if every run is done, 1 if a run failed, 2 if the configuration cannot be run, 130 if it was interrupted.
    """
    try:
        arguments = _parser().parse_intermixed_args(argv)
        command, *words = arguments.overrides or [""]
        if command in USAGES and not arguments.help:
            return _of_finished(command, words, arguments.csv)
        if arguments.csv:
            raise ConfigError("--csv belongs to show", source="command line", hint="python run.py show all --csv")
        overrides = [_home_expanded(text) for text in arguments.overrides]
        overrides += ["hydra.mode=MULTIRUN"] if arguments.multirun else []
        if arguments.config_dir is not None:
            overrides = with_config_dir(overrides, arguments.config_dir)
        if arguments.help:
            folders = config_folders(configs, overrides)
            print(component_pages(overrides, folders) or help_page(folders), end="")
            return 0
        return _run(overrides, arguments.cfg, arguments.skip_recorded, configs)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except PermissionError as error:
        print(f"error: {error}{refused(error, '; ')}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\ninterrupted; the same command continues", file=sys.stderr)
        return 130


def _run(overrides: list[str], show: bool, skip_recorded: bool, configs: Path) -> int:
    from sparseid.config.sweep import plan  # imports Hydra, which the help page does not need

    planned = plan(overrides, configs)
    if not show:
        from sparseid.launching.one_run import check_outputs
        from sparseid.papers.presets import save_planned_runs

        for outputs in dict.fromkeys(trial.run.outputs for trial in planned.trials):
            check_outputs(outputs)
        save_planned_runs(planned, overrides, configs)
    if skip_recorded:
        from sparseid.launching.recorded import without_recorded

        planned = without_recorded(planned)
        if not planned.trials:
            print("all results are recorded")
            return 0
    if show:
        _show(planned)
        return 0
    from sparseid.launching.launch import launch, summarise

    return summarise(planned, launch(planned, configs))


def _of_finished(command: str, words: list[str], as_csv: bool) -> int:
    """Execute a command about finished runs; words with ``=`` are settings, of which only the folder of runs counts."""
    from sparseid.launching.show import export, show
    from sparseid.training.errors import RunError

    usage = f"python run.py {command} {USAGES[command]}"
    names = [word for word in words if "=" not in word or Path(word).exists()]
    outputs = "outputs"
    for word in words:
        key, _, value = word.partition("=")
        if word not in names and key != "outputs":
            raise ConfigError(f"{command} has no setting {key}", source=f"command line: {word}", hint=usage)
        outputs = value if word not in names else outputs
    if not names or (command == "export" and (as_csv or len(names) != 2)):
        raise ConfigError(f"{command} needs other arguments", source=f"command line: {' '.join(words)}", hint=usage)
    folder = Path(expanded(outputs))
    try:
        return show(names, folder, as_csv) if command == "show" else export(names[0], Path(names[1]), folder)
    except RunError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _show(planned: Plan) -> None:
    """Print the (first) configuration of a plan as YAML, after the folder of every run as a comment."""
    from omegaconf import OmegaConf

    from sparseid.config.identity import run_directory

    lines = [f"# {run_directory(trial.run)}" for trial in planned.trials]
    if planned.swept:
        runs = f"{len(planned.trials)} runs over {', '.join(planned.swept)}"
        lines.insert(0, f"# {runs}; the first one's configuration follows:")
    lines.append(OmegaConf.to_yaml(OmegaConf.structured(planned.trials[0].run)))
    print("\n".join(lines), end="")  # at once, for a reader that closes the pipe early, such as head


def _home_expanded(override: str) -> str:
    """Replace a ``~`` or ``~user`` at the beginning of a value by the home folder; shells do not, in ``KEY=~/x``."""
    home = r"(?<==)(['\"]?)(~[\w.-]*)(?=/|$|\1$)"
    return re.sub(home, lambda found: found[1] + expanded(found[2]), override, count=1)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(message, source="command line", hint="python run.py --help lists the options")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="run.py", add_help=False, allow_abbrev=False)
    parser.add_argument("overrides", nargs="*")
    parser.add_argument("--help", "-h", action="store_true")
    parser.add_argument("--cfg", "-c", choices=["job"])
    parser.add_argument("--config-dir", "-cd")
    parser.add_argument("--multirun", "-m", action="store_true")
    parser.add_argument("--skip-recorded", action="store_true")
    parser.add_argument("--csv", action="store_true")
    return parser
