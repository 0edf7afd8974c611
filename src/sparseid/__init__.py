"""sparseid: five papers about sparsity and identifiability, reproduced from one command each."""

import time

__version__ = "0.1.0"

STARTED = time.time()
"""When this process began to read the package: what was changed later is not the code that it runs."""
