"""Commands about finished runs: ``show RUN|FOLDER|all [--csv]`` and ``export RUN FOLDER``."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from sparseid.errors import InputError
from sparseid.homes import expanded
from sparseid.spelling import did_you_mean
from sparseid.training.run_folder import RunFolder

ALL = "all"
_LISTED = 6
"""Most runs that an error lists."""


def show(names: Sequence[str], outputs: Path, as_csv: bool = False) -> int:
    """Print the table of finished runs, that of a single one as at its end; return the exit code.

    Parameters
    ----------
    names
        Names of runs or unique beginnings of them, folders of runs or folders above them, or ``all``.
    outputs
        The folder of runs.
    as_csv
        Whether to print CSV, one number per line, in place of tables.

    Raises
    ------
    InputError
        If a name fits no run or several, or the run that it fits has not finished.
    RunError
        If the rows of a run cannot be read.
    """
    single = len(names) == 1 and names[0] != ALL
    folders = list(dict.fromkeys(folder for name in names for folder in find_runs(name, outputs)))
    states = {folder: RunFolder(folder).state for folder in folders}
    done = [folder for folder, state in states.items() if state == "done"]
    if single and len(folders) == 1 and not done:
        raise _unfinished(folders[0])
    if as_csv:
        from sparseid.reporting.runs_table import csv_text, runs_tables

        print(csv_text(runs_tables(done)), end="")  # at once, for a reader that closes the pipe early, such as head
    else:
        from sparseid.reporting.summary import show_run, show_runs

        if single and len(folders) == 1:
            print(done[0])
            show_run(done[0])
        else:
            show_runs(done)
    for folder in folders:
        if states[folder] != "done":
            print(f"not finished: {folder} ({states[folder]})", file=sys.stderr)
    return 0


def export(name: str, target: Path, outputs: Path) -> int:
    """Write the numbers and arrays of one finished run into a folder; return the exit code.

    Parameters
    ----------
    name
        Name of the run, a unique beginning of it, or its folder.
    target
        The folder, which may exist; files of the same names are replaced.
    outputs
        The folder of runs.

    Raises
    ------
    InputError
        If the name fits no run or several, the run has not finished, or the folder cannot be written.
    RunError
        If the results of the run are damaged.
    """
    folders = find_runs(name, outputs)
    if len(folders) > 1:
        raise InputError(f"export takes one run, {name} stands for {len(folders)}")
    if RunFolder(folders[0]).state != "done":
        raise _unfinished(folders[0])
    from sparseid.reporting.export import export_run

    target = Path(expanded(target))
    try:
        written = export_run(folders[0], target)
    except OSError as error:
        raise InputError(f"cannot write to {target}: {error.strerror or error}; name another folder") from error
    print("\n".join(str(target / file) for file in written))
    return 0


def _unfinished(folder: Path) -> InputError:
    run = RunFolder(folder)
    text = f"{folder} holds no finished run (state: {run.state})"
    return InputError(f"{text}: {run.message}" if run.message else text)


def find_runs(name: str, outputs: Path) -> list[Path]:
    """Return the run folders that a name stands for: one, or all below a folder.

    Raises
    ------
    InputError
        If there is none, or several runs begin with it.
    """
    from sparseid.reporting.collect import run_folders

    if name == ALL:
        if not (found := run_folders(outputs)):
            raise InputError(f"{outputs} holds no run; outputs=FOLDER names another folder of runs")
        return found
    folder = Path(expanded(name))
    if (folder / "status.json").is_file():
        return [folder]
    known = {path.name: path for path in run_folders(outputs)}
    if name in known:
        return [known[name]]
    if folder.is_dir():
        below = [path.parent for path in folder.rglob("status.json") if not _unseen(path.relative_to(folder).parts)]
        if not below:
            raise InputError(f"{folder} holds no run: name the folder of a run, outputs/<scale>/<paper>/<run>")
        return sorted(below)
    begin = sorted(run for run in known if run.startswith(name))
    if len(begin) == 1:
        return [known[begin[0]]]
    if begin:
        more = [f"and {len(begin) - _LISTED} more"] if len(begin) > _LISTED else []
        raise InputError("\n  ".join([f"{len(begin)} runs begin with {name}:", *begin[:_LISTED], *more]))
    hint = (
        did_you_mean(name, [*known, ALL])
        or f"python run.py show {ALL} lists those of {outputs}; outputs=FOLDER names another"
    )
    raise InputError(f"no run and no folder is called {name}\n  {hint}")


def _unseen(parts: Sequence[str]) -> bool:
    """Return whether a path leads into a hidden folder or a repetition that is not done."""
    return any(part.startswith(".") or part == "remake" for part in parts)
