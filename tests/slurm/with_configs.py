"""``python run.py`` with another folder of YAML files: ``python with_configs.py CONFIGS OVERRIDE...``."""

import sys
from pathlib import Path

from sparseid.launching.main import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[2:], configs=Path(sys.argv[1])))
