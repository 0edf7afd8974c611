import io

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sparseid.methods.sparling.sparse_layer import SparseLayer, entries_above, kth_smallest

KINDS = {
    "mt": {"thresholds": "per_channel"},
    "st": {"thresholds": "single"},
    "accmot": {"thresholds": "per_channel", "accumulate_motifs": 10},
}


def batches(arrays):
    sizes = arrays["batch_shapes"].prod(axis=1)
    parts = np.split(arrays["x_flat"], np.cumsum(sizes)[:-1])
    return [torch.from_numpy(part.reshape(shape)) for part, shape in zip(parts, arrays["batch_shapes"], strict=True)]


def stream(layer, arrays, prefix):
    """Run the stream through the layer; return its outputs, thresholds and waiting rows after each batch."""
    outputs, thresholds, rows = [], [], []
    for x, density in zip(batches(arrays), arrays["density"], strict=True):
        layer.density = float(density)
        outputs.append(layer(x).detach())
        thresholds.append(layer.threshold.clone())
        rows.append(layer.rows_waiting)
    return outputs, torch.stack(thresholds).numpy(), rows


@pytest.mark.parametrize("dims", ["1d", "2d"])
@pytest.mark.parametrize("kind", KINDS)
def test_layer_equals_the_peer(fixture_arrays, dims, kind):
    arrays = fixture_arrays(f"sparling_sparse_layer_{dims}")
    layer = SparseLayer(3, 0.5, batch_norm="none", **KINDS[kind])
    outputs, thresholds, rows = stream(layer, arrays, kind)
    np.testing.assert_allclose(thresholds, arrays[f"{kind}_thresholds"], atol=1e-6, rtol=0)
    np.testing.assert_array_equal(rows, arrays[f"{kind}_rows_in_buffer_after"])
    flat = torch.cat([output.flatten() for output in outputs]).numpy()
    np.testing.assert_allclose(flat, arrays[f"{kind}_train_out_flat"], atol=5e-6, rtol=0)

    layer.eval()
    x = torch.from_numpy(arrays["eval_x"])
    np.testing.assert_allclose(layer(x), arrays[f"{kind}_eval_out"], atol=5e-6, rtol=0)
    np.testing.assert_allclose(layer.above_threshold(x), arrays[f"{kind}_eval_out_disable_relu"], atol=5e-6, rtol=0)
    np.testing.assert_allclose(layer.threshold, arrays[f"{kind}_eval_threshold_after"], atol=1e-6, rtol=0)


@pytest.mark.parametrize("dims", ["1d", "2d"])
@pytest.mark.parametrize("kind", KINDS)
def test_gradient_equals_the_peer(fixture_arrays, dims, kind):
    arrays = fixture_arrays(f"sparling_sparse_layer_{dims}")
    layer = SparseLayer(3, 0.5, batch_norm="none", **KINDS[kind])
    *earlier, last = zip(batches(arrays), arrays["density"], strict=True)
    for x, density in earlier:
        layer.density = float(density)
        layer(x)
    layer.density = float(last[1])
    x = last[0].requires_grad_()
    (torch.from_numpy(arrays[f"{kind}_last_batch_loss_weight"]) * layer(x)).sum().backward()
    np.testing.assert_array_equal(x.grad, arrays[f"{kind}_last_batch_grad_x"])
    assert not layer.threshold.requires_grad


@pytest.mark.parametrize("dims", ["1d", "2d"])
@pytest.mark.parametrize("norm", ["affine", "plain"])
@pytest.mark.parametrize("kind", KINDS)
def test_layer_with_batch_norm_equals_the_peer(fixture_arrays, dims, norm, kind):
    arrays = fixture_arrays(f"sparling_sparse_layer_bn_{dims}")
    prefix = f"{kind}_{norm}"
    if f"{prefix}_thresholds" not in arrays:
        pytest.skip("the peer's arrays have no single threshold without affine parameters")
    layer = SparseLayer(3, 0.5, batch_norm=norm, **KINDS[kind])
    if norm == "affine":
        layer.norm.weight.data = torch.from_numpy(arrays[f"{prefix}_bn_weight"])
        layer.norm.bias.data = torch.from_numpy(arrays[f"{prefix}_bn_bias"])
    outputs, thresholds, rows = stream(layer, arrays, prefix)
    np.testing.assert_allclose(thresholds, arrays[f"{prefix}_thresholds"], atol=5e-6, rtol=0)
    np.testing.assert_array_equal(rows, arrays[f"{prefix}_rows_in_buffer_after"])
    np.testing.assert_allclose(layer.norm.running_mean, arrays[f"{prefix}_bn_running_mean"][-1], atol=3e-6, rtol=0)
    np.testing.assert_allclose(layer.norm.running_var, arrays[f"{prefix}_bn_running_var"][-1], atol=3e-6, rtol=0)

    expected = arrays[f"{prefix}_train_out_flat"]
    start = 0
    for number, output in enumerate(outputs):
        ours = output.transpose(1, 2) if dims == "1d" else output  # the peer returns (N, L, C) in one dimension
        theirs = expected[start : start + output.numel()]
        start += output.numel()
        # batch 5 is constant: its zero variance multiplies rounding errors of the mean by 316
        np.testing.assert_allclose(ours.reshape(-1), theirs, atol=1e-4 if number == 5 else 5e-6, rtol=0)
    layer.eval()
    evaluated = layer(torch.from_numpy(arrays["eval_x"])).detach()
    evaluated = evaluated.transpose(1, 2) if dims == "1d" else evaluated
    np.testing.assert_allclose(evaluated, arrays[f"{prefix}_eval_out"], atol=5e-6, rtol=0)


@pytest.mark.parametrize("kind", KINDS)
def test_sounds_of_width_one_are_sequences(kind):
    generator = torch.Generator().manual_seed(0)
    flat, wide = (SparseLayer(3, 0.1, batch_norm="plain", **KINDS[kind]) for _ in range(2))
    for _ in range(5):
        x = torch.randn(2, 3, 40, generator=generator)
        assert torch.equal(flat(x), wide(x.unsqueeze(3)).squeeze(3))
    assert torch.equal(flat.threshold, wide.threshold)


def test_rank_equals_the_peer(fixture_arrays):
    table = fixture_arrays("sparling_k_table")
    ranks = [
        int(rows) - entries_above(int(rows), 1 - sparsity)
        for rows, sparsity in zip(table["rows"], table["sparsity"], strict=True)
        if 1 - (1 - sparsity) == sparsity  # the peer is given the sparsity, we the density: only where no bit is lost
    ]
    kept = [1 - (1 - sparsity) == sparsity for sparsity in table["sparsity"]]
    assert sum(kept) > 30
    np.testing.assert_array_equal(ranks, table["k"][kept])


@settings(max_examples=60)
@given(
    items=st.integers(1, 4),
    channels=st.integers(1, 3),
    length=st.integers(1, 90),
    density=st.floats(0.001, 0.999),
    seed=st.integers(0, 99),
)
def test_kth_smallest_equals_sorting(items, channels, length, density, seed):
    z = torch.randn(items, channels, length, generator=torch.Generator().manual_seed(seed))
    rows = items * length
    rank = max(1, int(rows * (1.0 - density)))
    expected = z.transpose(0, 1).reshape(channels, rows).sort(dim=1).values[:, rank - 1]
    assert torch.equal(kth_smallest(z, density), expected)


def with_all_rows_kept(sizes, density, goal, seed):
    """Yield each batch of a stream, and the threshold that one update on all rows gathered gives."""
    generator = torch.Generator().manual_seed(seed)
    gathered, expected = [], torch.zeros(2)
    for size in sizes:
        z = torch.randn(1, 2, size, generator=generator)
        gathered.append(z)
        everything = torch.cat(gathered, dim=2)
        if everything.shape[2] * density >= goal:
            expected = kth_smallest(everything, density)
            gathered = []
        yield z, expected


@settings(max_examples=60)
@example(sizes=[17, 8, 52, 26, 59], density=0.037109375, goal=4, seed=1)
@given(
    sizes=st.lists(st.integers(1, 60) | st.integers(1, 2000), min_size=1, max_size=40),
    density=st.floats(0.003, 0.5),
    goal=st.integers(1, 30),
    seed=st.integers(0, 99),
)
def test_accumulated_update_equals_one_update_on_everything_gathered(sizes, density, goal, seed):
    layer = SparseLayer(2, density, batch_norm="none", momentum=1.0, accumulate_motifs=goal)
    for z, expected in with_all_rows_kept(sizes, density, goal, seed):
        layer(z)
        assert torch.equal(layer.threshold, expected)


def test_a_small_batch_does_not_discard_what_a_later_large_one_needs():
    generator = torch.Generator().manual_seed(0)
    parts = 10 + 10 * torch.rand(1, 1, 400, generator=generator), torch.zeros(1, 1, 1), torch.rand(1, 1, 400)
    layer = SparseLayer(1, 0.05, batch_norm="none", momentum=1.0, accumulate_motifs=21)
    for part in parts:
        layer(part)
    everything = torch.cat(parts, dim=2).flatten()
    assert layer.rows_waiting == 0
    assert (everything > layer.threshold).sum() == entries_above(801, 0.05) == 41
    assert 18 < layer.threshold < 20


def test_few_values_are_kept_of_many_rows():
    layer = SparseLayer(3, 1e-6, batch_norm="none", accumulate_motifs=10)
    for _ in range(20):
        layer(torch.randn(2, 3, 4000))
    assert layer.rows_waiting == 160_000
    assert layer.get_extra_state()["largest"].shape == (3, 1024)


def test_a_batch_beyond_what_was_kept_is_refused():
    layer = SparseLayer(1, 0.01, batch_norm="none", accumulate_motifs=100)
    for _ in range(99):
        layer(torch.randn(1, 1, 100))
    with pytest.raises(ValueError, match="only 1024 values were kept, 2100 are needed"):
        layer(torch.randn(1, 1, 200_000))


def test_published_geometry_leaves_six_of_a_hundred_thousand_above():
    assert entries_above(10 * 100 * 100, 0.5 * 0.75**32) == 6


def test_half_filled_buffer_and_density_survive_a_checkpoint():
    layer, x = SparseLayer(2, 0.25, batch_norm="none", accumulate_motifs=10), torch.randn(3, 2, 30)
    layer(x[:1])
    assert layer.rows_waiting == 30
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    twin = SparseLayer(2, 0.5, batch_norm="none", accumulate_motifs=10)
    twin.load_state_dict(torch.load(file, weights_only=True))
    assert (twin.density, twin.rows_waiting) == (0.25, 30)
    assert torch.equal(twin(x[1:]), layer(x[1:]))
    assert torch.equal(twin.threshold, layer.threshold)


@pytest.mark.parametrize(
    "wrong", [{"thresholds": "two"}, {"batch_norm": "yes"}, {"thresholds": "single", "accumulate_motifs": 5}]
)
def test_unknown_kinds_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SparseLayer(2, 0.5, **wrong)
