"""The process of one serialized job: ``python -m sparseid.launching.job FILE``.

Launchers start it. It composes nothing: presets may have changed since the run was planned.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from sparseid.errors import ConfigError
from sparseid.files import share
from sparseid.printing import protect_output

BUSY = 75
"""Exit code if another process has the run: try again later (EX_TEMPFAIL of sysexits.h)."""

WATCH_PARENT = "SPARSEID_WATCH_PARENT"
"""Environment variable of jobs that end with their parent process, which holds their standard input open."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the run of a serialized configuration; return its exit code."""
    from sparseid.config.stored import parse_run_config
    from sparseid.launching.one_run import REFUSED, make_run

    arguments = sys.argv[1:] if arguments is None else arguments
    if len(arguments) != 1:
        print("usage: python -m sparseid.launching.job FILE", file=sys.stderr)
        return REFUSED
    if os.environ.get(WATCH_PARENT):
        threading.Thread(target=_end_with_parent, daemon=True).start()
    path = Path(arguments[0])
    try:
        cfg = parse_run_config(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        print(f"error: {path}: {error}", flush=True)
        return REFUSED
    except ConfigError as error:
        print(f"error: {error}", flush=True)
        return REFUSED
    share(Path(cfg.outputs))
    outcome = make_run(cfg, page=False)
    return BUSY if outcome.busy else outcome.code


def _end_with_parent() -> None:
    """Wait until the parent closes our standard input by ending, then stop as after SIGTERM."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    protect_output()
    sys.exit(main())
