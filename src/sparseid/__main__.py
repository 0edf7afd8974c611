"""The command line of sparseid from any folder: ``python -m sparseid --help``, also called ``sparseid``."""

from __future__ import annotations

import sys

from sparseid.launching.main import main
from sparseid.printing import protect_output


def run() -> int:
    """Execute the command line of this process and return its exit code."""
    protect_output()
    return main()


if __name__ == "__main__":
    sys.exit(run())
