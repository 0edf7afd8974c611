"""Training steps per second of a stack against one member and against a loop over single members, at smoke size."""

from __future__ import annotations

from collections.abc import Callable

import torch
from timing import optimiser_steps, report, seconds

from sparseid.config.compose import compose
from sparseid.data.tree_simulation.datamodule import TreeSimulationData
from sparseid.methods.tbr.module import TBRModule
from sparseid.printing import protect_output

MEMBERS = 20
SIZES: dict[str, tuple[str, ...]] = {
    "smoke": (),
    "published encoder, batch 256": ("method.hidden=[256,64]", "data.samples=400", "trainer.batch_size=256"),
}
"""Settings beyond those of scale=smoke."""


def steps_of(seeds: list[int], overrides: tuple[str, ...]) -> Callable[[], None]:
    """Return a function that makes the next optimiser step of a stack of TBR models."""
    cfg = compose(["experiment=tbr/fig4", "scale=smoke", "hydra.mode=RUN", "data.S=1", *overrides])
    data = TreeSimulationData(cfg.data, seeds, cfg.trainer.batch_size)
    data.setup()
    module = TBRModule(cfg.method, data).train()
    return optimiser_steps(module, data)


def main() -> None:
    """Measure on one CPU thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    lines, values = [f"One optimiser step of TBR, ms on one CPU thread; a stack of {MEMBERS} members"], {}
    for name, overrides in SIZES.items():
        singles = [steps_of([seed], overrides) for seed in range(MEMBERS)]

        def loop(singles: list[Callable[[], None]] = singles) -> None:
            for single in singles:
                single()

        work: dict[str, Callable[[], object]] = {
            "one member": singles[0],
            "stack": steps_of(list(range(MEMBERS)), overrides),
            "loop": loop,
        }
        times = {key: 1e3 * value for key, value in seconds(work).items()}
        cost, gain = times["stack"] / times["one member"], times["loop"] / times["stack"]
        lines.append(
            f"  {name:30s}"
            + "".join(f"{key} {ms:7.2f}   " for key, ms in times.items())
            + f"stack / one {cost:.1f}   loop / stack {gain:.1f}"
        )
        values[name] = times | {"stack_over_one": cost, "loop_over_stack": gain, "members": MEMBERS}
    report("stack", lines, values)
    torch.set_num_threads(threads)


if __name__ == "__main__":
    protect_output()
    main()
