"""The command line of sparseid: ``python run.py --help``."""

import sys

from sparseid.launching.main import main
from sparseid.printing import protect_output

if __name__ == "__main__":
    protect_output()
    sys.exit(main())
