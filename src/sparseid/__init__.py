"""sparseid: five papers about sparsity and identifiability, reproduced from one command each."""

__version__ = "0.1.0"
