"""Runs as SLURM jobs: serialized, submitted in arrays with submitit, and followed with ``squeue``."""
