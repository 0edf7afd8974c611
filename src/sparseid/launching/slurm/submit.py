"""Runs in job arrays, submitted to SLURM with submitit."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import submitit
from submitit.core.utils import FailedSubmissionError, UncompletedJobError

from sparseid.config.identity import run_directory, run_name
from sparseid.config.parents import parent_run
from sparseid.config.schema import RunConfig, run_config_text
from sparseid.errors import ConfigError
from sparseid.launching.slurm.job import SerializedJob, status_folder
from sparseid.launching.slurm.queue import compact
from sparseid.launching.slurm.settings import SlurmSettings
from sparseid.training.errors import RunError
from sparseid.training.preemption import slurm_job
from sparseid.training.processes import environment_without_group
from sparseid.training.run_folder import RunFolder

CPUS_PER_TASK = 2
"""CPUs per process of a run if neither trainer.threads nor the user sets them."""

LONGEST_NAME = 128
"""Characters of a job's name."""

EXPORT = "SBATCH_EXPORT"
"""Variable by which a site lets jobs begin without the environment of their submitter."""

OF_A_JOB = ("SLURM_", "SLURMD_", "SRUN_")
"""Beginnings of the names of the variables that SLURM sets in a job, or takes defaults from."""

OF_THE_CLUSTER = ("SLURM_CONF", "SLURM_CLUSTERS", "SLURM_JWT")
"""Variables with such a name that say which cluster it is, and who asks."""

SAME_NAME = (
    *("partition", "qos", "account", "comment", "constraint", "exclude", "gres", "nodes"),
    *("cpus_per_gpu", "gpus_per_task", "mem_per_gpu", "mem_per_cpu", "signal_delay_s", "stderr_to_stdout"),
)
"""Settings with the same name in submitit."""


def split(runs: Sequence[int], longest: int) -> list[Sequence[int]]:
    """Split runs into as few arrays as possible, evenly.

    Examples
    --------
    >>> [len(array) for array in split(range(40), 15)]
    [14, 13, 13]
    """
    count = -(-len(runs) // longest)
    return [runs[number::count] for number in range(count)]


def resources(run: RunConfig, settings: SlurmSettings) -> dict[str, Any]:
    """Return the resources of a run's job that the user does not set, with the names of sbatch."""
    trainer = run.trainer
    by_default = trainer.devices if trainer.accelerator == "gpu" and not _requests_gpus(settings) else None
    return {
        "ntasks_per_node": settings.tasks_per_node or trainer.devices,
        "cpus_per_task": settings.cpus_per_task or trainer.threads or CPUS_PER_TASK,
        "gpus_per_node": by_default if settings.gpus_per_node is None else settings.gpus_per_node,
    }


def refuse_tasks(runs: Sequence[RunConfig], settings: SlurmSettings) -> None:
    """Compare the tasks of a job with the processes of its run, before anything is submitted.

    Raises
    ------
    ConfigError
        If a job has neither one task nor one per device, or several nodes.
    """
    tasks = settings.tasks_per_node
    for devices in dict.fromkeys(run.trainer.devices for run in runs):
        if settings.nodes != 1:
            problem = f"hydra.launcher.nodes={settings.nodes}, but a run uses one node"
            raise ConfigError(problem, hint="omit hydra.launcher.nodes")
        if tasks not in (None, 1, devices):
            problem = f"hydra.launcher.tasks_per_node={tasks}, but a run has {devices} (trainer.devices={devices})"
            hint = f"omit hydra.launcher.tasks_per_node, or set trainer=ddp trainer.devices={tasks}"
            raise ConfigError(problem, hint=hint)


def _requests_gpus(settings: SlurmSettings) -> bool:
    other = any("gpu" in f"{key}={value}" for key, value in settings.additional_parameters.items())
    return bool(settings.gres or settings.gpus_per_task or settings.gpus_per_node is not None or other)


class Submission:
    """Submission of runs to SLURM with submitit, with the settings of ``hydra.launcher``."""

    def __init__(self, settings: SlurmSettings) -> None:
        self.settings = settings
        self.refused = ""
        """Message of sbatch when it refused an array; then nothing more is submitted."""

    def send(self, runs: Sequence[RunConfig], queued: Mapping[str, str] | None = None) -> dict[str, str]:
        """Submit runs in arrays; return the job of each by the run's name and write it into the run's folder.

        Runs that start from the weights of others among them, or of those whose jobs are `queued` (by name), are in
        separate arrays that wait for these.
        """
        if not _requests_gpus(self.settings) and any(run.trainer.accelerator == "auto" for run in runs):
            print("no GPU is requested: set trainer.accelerator=gpu or hydra.launcher.gpus_per_node=1", flush=True)
        sources = {run_name(run): run_name(source) for run in runs if (source := parent_run(run)) is not None}
        pending = {*(queued or {}), *map(run_name, runs)}
        later = [run for run in runs if sources.get(run_name(run)) in pending]
        jobs = self._send([run for run in runs if sources.get(run_name(run)) not in pending])
        if later and not self.refused:
            known = {**(queued or {}), **jobs}
            first = {known[sources[run_name(run)]] for run in later}
            # the limit of concurrent jobs includes all of them
            first |= {job.partition("_")[0] for job in jobs.values()} if self.settings.max_in_flight else set()
            jobs |= self._send(later, sorted(first))
        if jobs:
            print(f"{len(jobs)} submitted as job {', '.join(compact(jobs.values()))}", flush=True)
            print(f"Output:  {self.settings.submitit_folder}/", flush=True)
        return jobs

    def _send(self, runs: Sequence[RunConfig], first: Sequence[str] = ()) -> dict[str, str]:
        """Submit runs that begin after the jobs `first` have ended; return the job of each by the run's name."""
        needs = [resources(run, self.settings) for run in runs]
        distinct = [need for number, need in enumerate(needs) if need not in needs[:number]]
        groups = [[number for number, need in enumerate(needs) if need == one] for one in distinct]
        jobs: dict[str, str] = {}
        before = list(first)
        for array in (part for group in groups for part in split(group, self.settings.max_array)):
            members = [runs[number] for number in array]
            ids = self._send_array(members, needs[array[0]], ":".join(["afterany", *before]) if before else None)
            if not ids:
                break
            if self.settings.max_in_flight:  # sbatch limits the jobs of one array: the next one waits for its end
                before = [*first, ids[0].partition("_")[0]]
            for run, job in zip(members, ids, strict=True):
                _write_job(run, job)
                jobs[run_name(run)] = job
        return jobs

    def _send_array(self, runs: Sequence[RunConfig], needs: dict[str, Any], dependency: str | None) -> list[str]:
        """Submit one array; return the job ids in the order of `runs`, none if sbatch refuses."""
        executor = submitit.SlurmExecutor(self.settings.submitit_folder, max_num_timeout=self.settings.max_num_timeout)
        at_once = min(self.settings.max_in_flight or len(runs), len(runs), self.settings.array_parallelism)
        executor.update_parameters(**self._parameters(needs), array_parallelism=at_once, dependency=dependency)
        jobs = [SerializedJob(run_config_text(run), run_directory(run)) for run in runs]
        try:
            with _environment_of_jobs(), executor.batch():
                sent = [executor.submit(job) for job in jobs]
        except (UncompletedJobError, FailedSubmissionError) as error:
            lines = [line for line in str(error).splitlines() if line.startswith("sbatch: ")] or [str(error)]
            self.refused = lines[-1].removeprefix("sbatch: ").removeprefix("error: ")
            return []
        return [job.job_id for job in sent]

    def _parameters(self, needs: dict[str, Any]) -> dict[str, Any]:
        """Return the settings with the names of sbatch."""
        settings = self.settings
        others = {key.replace("-", "_"): value for key, value in settings.additional_parameters.items()}
        cpus = others.get("cpus_per_task", needs["cpus_per_task"])
        return {
            **{name: getattr(settings, name) for name in SAME_NAME},
            **needs,
            "job_name": settings.name[:LONGEST_NAME],
            "mem": None if settings.mem_gb is None else f"{settings.mem_gb}GB",
            "setup": [f"export OMP_NUM_THREADS={cpus}", *(settings.setup or [])],
            # since SLURM 22.05 srun does not inherit the CPUs from sbatch, nor any variable with SLURM_EXPORT_ENV=NONE
            "srun_args": [f"--cpus-per-task={cpus}", "--export=ALL"],
            "time": settings.timeout_min,
            "wckey": None,  # submitit's own is refused if wckeys are enforced; additional_parameters may have one
            "additional_parameters": others,  # named as submitit names its own, which they replace
        }


@contextmanager
def _environment_of_jobs() -> Iterator[None]:
    """Let jobs have our environment (data folders, extensions), but nothing of a job or step around this process.

    Its number of tasks, its place in an array or its memory would be taken for those of the new job. ``SBATCH_EXPORT``
    forbids to pass the environment on, and takes precedence over ``additional_parameters={export: ...}``.
    """
    own = environment_without_group()
    if slurm_job():
        own = {name: own[name] for name in own if name in OF_THE_CLUSTER or not name.startswith(OF_A_JOB)}
    own.pop(EXPORT, None)
    hidden = {name: os.environ.pop(name) for name in os.environ.keys() - own.keys()}
    try:
        yield
    finally:
        os.environ.update(hidden)


def _write_job(run: RunConfig, job: str) -> None:
    """Write the job of a run into its folder, unless another process has the run at this moment."""
    try:
        with RunFolder(run_directory(run)).lock():
            status_folder(run).write_status("planned", job=job)
    except RunError:
        return
