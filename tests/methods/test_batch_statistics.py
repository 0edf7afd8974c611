"""Two processes with half a batch each compute what one process computes with all of it."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from sparseid.methods.batch_statistics import (
    ChannelNorm,
    largest_per_channel,
    mean_over_processes,
    processes,
    share_of_mean,
)
from sparseid.methods.sparling.sparse_layer import SparseLayer

ITEMS, CHANNELS, SIDE = 6, 3, 5


class Network(nn.Module):
    """Everything that looks at a batch as a whole, in double precision."""

    def __init__(self, layer):
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Sequential(nn.Conv2d(2, CHANNELS, 3), ChannelNorm(CHANNELS))
        self.sparse = SparseLayer(CHANNELS, **layer)
        self.double()

    def forward(self, x, weights):
        """A mean over a number of terms that differs between items, and a function of a mean over all of them.

        The terms are those where `weights` is not 0.
        """
        dense = self.first(x)
        terms = self.sparse(dense).square().sum((1, 2, 3)) * weights
        count = (weights != 0).sum()
        return share_of_mean(terms.sum() / count, count) + mean_over_processes(dense.sigmoid().mean()).log()


LAYERS = [
    {"density": 0.5},
    {"density": 0.02},
    {"density": 0.1, "thresholds": "single"},
    {"density": 0.05, "batch_norm": "plain", "accumulate_motifs": 6},
]


def train(layer, share):
    """Three steps on a share of each batch; return all parameters and buffers."""
    torch.manual_seed(1)
    batches = torch.randn(3, ITEMS, 2, SIDE, SIDE, dtype=torch.float64)
    weights = torch.tensor([1.0, 2.0, 0.0, 0.5, 3.0, 1.0], dtype=torch.float64)
    network = Network(layer)
    wrapped = DistributedDataParallel(network) if processes() > 1 else network
    optimizer = torch.optim.SGD(network.parameters(), lr=0.1)
    for batch in batches:
        optimizer.zero_grad()
        wrapped(batch[share], weights[share]).backward()
        optimizer.step()
    return {name: value for name, value in network.state_dict().items() if isinstance(value, torch.Tensor)}


def work(rank, folder):
    """Run one of two processes; its results go to a file."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", f"file://{folder}/meeting", world_size=2, rank=rank)
    results = [train(layer, slice(rank, None, 2)) for layer in LAYERS]
    z = torch.arange(24.0).reshape(2, 3, 4)
    results.append({"largest": largest_per_channel(z + rank / 2, 10)})
    torch.save(results, folder / f"{rank}.pt")
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


@pytest.fixture(scope="module")
def two_processes(tmp_path_factory):
    """Return the results of two processes, one dictionary for each layer and one more."""
    folder = tmp_path_factory.mktemp("processes")
    started = [subprocess.Popen([sys.executable, __file__, str(rank), str(folder)]) for rank in (0, 1)]
    try:
        assert [process.wait(timeout=120) for process in started] == [0, 0]
    finally:
        for process in started:
            process.kill()
    return [torch.load(folder / f"{rank}.pt", weights_only=True) for rank in (0, 1)]


@pytest.mark.parametrize("number", range(len(LAYERS)))
def test_two_processes_equal_one(two_processes, number):
    alone = train(LAYERS[number], slice(None))
    assert any(alone["sparse.threshold"] != 0)
    for rank in (0, 1):
        shared = two_processes[rank][number]
        assert shared.keys() == alone.keys()
        for name, value in alone.items():
            torch.testing.assert_close(
                shared[name], value, rtol=1e-9, atol=1e-11, msg=lambda text, n=name: f"{n} {text}"
            )


def test_largest_of_all_shares(two_processes):
    for rank in (0, 1):
        largest = two_processes[rank][-1]["largest"]
        for channel, values in enumerate(largest):
            own = torch.cat([torch.arange(4.0) + 4 * channel, torch.arange(4.0) + 4 * channel + 12])
            assert torch.equal(values, torch.cat([own, own + 0.5]).sort(descending=True).values[:10])


def test_one_process_equals_torch():
    x = torch.randn(4, 3, 5, 5)
    ours, torchs = ChannelNorm(3), nn.BatchNorm2d(3)
    assert torch.equal(ours(x), torchs(x))
    assert torch.equal(ours.running_var, torchs.running_var)
    assert share_of_mean(torch.tensor(0.5), torch.tensor(7)) == 0.5
    with pytest.raises(ValueError, match="expected"):
        ours(torch.zeros(2, 3))


if __name__ == "__main__":
    work(int(sys.argv[1]), Path(sys.argv[2]))
