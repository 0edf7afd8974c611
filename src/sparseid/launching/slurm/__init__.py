"""Trials as SLURM jobs: skipped if done, serialized, submitted in arrays with submitit, followed by ``squeue``."""
