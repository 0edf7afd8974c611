"""Trials as SLURM jobs, submitted with submitit: left out where done, frozen, sent in arrays, followed by ``squeue``."""
