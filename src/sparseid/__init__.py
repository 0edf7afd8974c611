"""sparseid: five papers about sparsity and identifiability, reproduced from one command each."""

import time

__version__ = "0.1.0"

STARTED = time.time()
"""Time at which this process began to import the package: files changed later are not the code that it runs."""
