"""The command line of sparseid: ``python run.py --help``."""

import sys

from sparseid.launching.main import main

if __name__ == "__main__":
    sys.exit(main())
