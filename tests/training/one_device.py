"""A run's module and data on the device ``meta``, which has shapes but no values.

An operation that needs a value (``.item()``, ``.tolist()``, ``bool(tensor)``, a selection by a mask) has none there, as
it would have to wait for a GPU. A mode of dispatch finds those that mix devices, some of which ``meta`` lets pass.
"""

import functools
import types
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest import mock

import torch
from pytorch_lightning.core.optimizer import LightningOptimizer
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from sparseid.config.schema import RunConfig
from sparseid.data.module import StackedData
from sparseid.training.build import build_data, build_module
from sparseid.training.seeding import seed_everything

META = torch.device("meta")
WALKED = ("sparseid", "torch", "diffusers", "FrEIA", "toy")
"""Packages whose objects may hold tensors."""


class OneDevice(TorchDispatchMode):
    """Refuses operations on tensors of two devices, except copies; scalars may be anywhere, as on a GPU."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor) and leaf.dim()]
        if len({tensor.device for tensor in tensors}) > 1 and "copy" not in func.name():
            raise RuntimeError(f"{func.name()}: tensors of {', '.join(sorted({str(t.device) for t in tensors}))}")
        return func(*args, **(kwargs or {}))


def to_meta(value: Any, seen: dict[int, Any] | None = None) -> Any:
    """Return what `value` becomes on ``meta``; objects and containers that can be changed are changed in place."""
    seen = {} if seen is None else seen
    if id(value) in seen:
        return seen[id(value)][0]
    if isinstance(value, torch.device):
        return META
    new = value
    if isinstance(value, torch.nn.Parameter):
        new = torch.nn.Parameter(value.to(META), value.requires_grad)
    elif isinstance(value, torch.Tensor):
        new = value.to(META)
    elif isinstance(value, tuple):
        parts = [to_meta(part, seen) for part in value]
        new = type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    seen[id(value)] = new, value  # the value, too: another one may not get its id
    if isinstance(value, torch.nn.Module):
        value.to(META)
    if isinstance(value, dict):
        for key, part in list(value.items()):
            if (moved := to_meta(part, seen)) is not part:
                value[key] = moved
    elif isinstance(value, list):
        value[:] = [to_meta(part, seen) for part in value]
    elif isinstance(value, types.MethodType):
        to_meta(value.__self__, seen)
    elif isinstance(value, functools.partial):
        to_meta([value.func, *value.args, *value.keywords.values()], seen)
    elif isinstance(value, types.FunctionType):
        for cell in value.__closure__ or ():
            cell.cell_contents = to_meta(cell.cell_contents, seen)
    elif hasattr(value, "__dict__") and type(value).__module__.split(".")[0] in WALKED and not isinstance(value, type):
        for name, part in list(vars(value).items()):
            if (moved := to_meta(part, seen)) is not part:
                object.__setattr__(value, name, moved)  # frozen dataclasses, too
    return new


class OnMeta:
    """Module and data of a run on ``meta``, with the parts of a trainer that their hooks read."""

    def __init__(self, run: RunConfig) -> None:
        seed_everything(0)
        self.data = build_data(run)
        self.module = build_module(run, self.data)
        self.data.setup("fit")
        to_meta([self.module, self.data] if isinstance(self.data, StackedData) else [self.module])
        steps = run.trainer.max_samples // run.trainer.batch_size
        strategy = SimpleNamespace(root_device=META, _lightning_optimizers=[], _optimizers=[])
        strategy.backward = lambda loss, optimizer, *args, **kwargs: loss.backward(*args, **kwargs)
        self.trainer = SimpleNamespace(
            datamodule=self.data,
            strategy=strategy,
            optimizers=[],
            global_step=steps // 2,  # within every warm-up and ramp
            max_steps=steps,
            current_epoch=0,
            world_size=1,
            global_rank=0,
        )
        self.data.trainer = self.trainer  # type: ignore[assignment]
        self.module._trainer = self.trainer  # type: ignore[assignment]
        self.module.log = self.module.log_dict = lambda *args, **kwargs: None  # type: ignore[method-assign, assignment]

    def optimizers(self) -> list[torch.optim.Optimizer]:
        """Return the optimisers, without their fused kernels, which ``meta`` does not have."""
        supported = "torch.optim.optimizer._get_fused_kernels_supported_devices"
        with mock.patch(supported, return_value=["meta"]):
            made: Any = self.module.configure_optimizers()
        listed = [
            part["optimizer"] if isinstance(part, dict) else part
            for part in (made if isinstance(made, list | tuple) else [made])
        ]
        for group in (group for optimizer in listed for group in optimizer.param_groups):
            group["fused"] = None
        return listed

    def batch(self, loader: Any) -> Any:
        """Return the first batch of a loader, moved as in a run; None without any."""
        batch = next(iter(loader), None)
        return None if batch is None else self.data.transfer_batch_to_device(batch, META, 0)

    def train(self) -> None:
        """Make one training step."""
        self.trainer.optimizers = self.optimizers()
        wrapped = [LightningOptimizer(optimizer) for optimizer in self.trainer.optimizers]
        for optimizer in wrapped:
            optimizer._strategy = SimpleNamespace(optimizer_step=lambda opt, closure, **kwargs: (closure(), opt.step()))
        self.trainer.strategy._lightning_optimizers = wrapped
        for hook in ("on_fit_start", "on_train_start", "on_train_epoch_start"):
            getattr(self.module, hook)()
        batch = self.batch(self.data.train_dataloader())
        with OneDevice():
            loss = self.module.training_step(batch, 0)
            if self.module.automatic_optimization:
                loss.backward()
                for optimizer in self.trainer.optimizers:
                    optimizer.step()

    def validate(self) -> None:
        """Make one validation step, if the run has any."""
        self.step("validation", self.data.val_dataloader)

    def test(self) -> None:
        """Make one test step."""
        self.data.test_items = self.data.test_items or 8
        self.step("test", self.data.test_dataloader)

    def step(self, name: str, loader: Callable[[], Any]) -> None:
        """Make the step of a loop after the hooks at its start."""
        with torch.no_grad():
            getattr(self.module, f"on_{name}_start")()
            getattr(self.module, f"on_{name}_epoch_start")()
            batch = self.batch(loader())
            if batch is None:
                return
            with OneDevice():
                getattr(self.module, f"{name}_step")(batch, 0)
