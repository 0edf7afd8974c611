"""The command line of sparseid: ``python run.py --help``."""

import sys

from sparseid.__main__ import run

if __name__ == "__main__":
    sys.exit(run())
