"""Attribution maps against cebra (stored arrays) and captum."""

import numpy as np
import pytest
import torch
from captum import attr

from sparseid.metrics.attribution import attribution_auc, attribution_map, attributions, map_statistics
from sparseid.metrics.attribution.gradients import ShapDraws, gradient_shap, jacobian_by_backward
from sparseid.metrics.attribution.inverse import inverted

HEADS = ["clip", "tanh"]
METHODS = {
    "ng": "neuron_gradient",
    "fa": "feature_ablation",
    "ig": "integrated_gradients",
    "ng_inv_lsq": "inverted_jacobian",
    "ng_inv_svd": "inverted_jacobian",
}


@pytest.fixture(params=HEADS)
def stored(request, fixture_arrays, stored_encoder):
    arrays = fixture_arrays(f"regcl_attrib_{request.param}")
    return arrays, stored_encoder(arrays, request.param)


def same_auc(arrays, name, found):
    """Two neighbours that differ by rounding may change places: 2 of all pairs."""
    for rows, key in ((slice(None), "all"), (slice(*arrays["block"]), "block")):
        positives = int(arrays["gt"][rows].sum())
        pairs = positives * (arrays["gt"][rows].size - positives)
        expected = float(arrays[f"auc_{name}_{key}"])
        assert attribution_auc(found, arrays["gt"], rows) == pytest.approx(expected, abs=2 / pairs + 1e-12)


@pytest.mark.parametrize("name", METHODS)
def test_maps_and_their_auc_are_those_of_cebra(stored, name):
    arrays, encoder = stored
    expected = arrays[name]
    per_sample = attributions(encoder, arrays["x"], METHODS[name]).numpy()
    if name in ("ng", "fa", "ig"):
        np.testing.assert_allclose(per_sample, expected, atol=1e-5 * np.abs(expected).max())
    else:
        largest = np.abs(expected).max(axis=-1, keepdims=True)
        assert np.all(np.abs(per_sample - expected) <= 1e-4 * largest + 1e-6)
    tolerance = 1e-5 if name in ("ng", "fa", "ig") else 1e-4
    found = attribution_map(encoder, arrays["x"], METHODS[name])
    np.testing.assert_allclose(found, arrays[f"agg_{name}"], rtol=tolerance)
    np.testing.assert_allclose(found, np.abs(per_sample).mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(
        attribution_map(encoder, arrays["x"], METHODS[name], aggregate="max"), np.abs(per_sample).max(axis=0), rtol=1e-6
    )
    same_auc(arrays, name, found)


@pytest.mark.parametrize("name", ["gsz", "gss"])
def test_gradient_shap_with_the_stored_draws_is_that_of_cebra(stored, name):
    arrays, encoder = stored
    x, outputs, repeats = torch.tensor(arrays["x"]), len(arrays["gt"]), int(arrays["gs_n_samples"])
    baselines = torch.tensor(arrays["gss_baselines"]) if name == "gss" else torch.zeros_like(x)
    rows = torch.tensor(arrays[f"{name}_baseline_idx"]).long().view(outputs, len(x), repeats)
    shares = torch.tensor(arrays[f"{name}_alpha"]).float().view(outputs, len(x), repeats)
    found = gradient_shap(encoder, x, ShapDraws(baselines, rows, shares)).numpy()
    np.testing.assert_allclose(found, arrays[name], atol=1e-5 * np.abs(arrays[name]).max())
    aggregated = np.abs(found.astype(float)).mean(axis=0)
    np.testing.assert_allclose(aggregated, arrays[f"agg_{name}"], rtol=1e-5)
    same_auc(arrays, name, aggregated)


@pytest.mark.parametrize(("name", "baselines"), [("gsz", "zeros"), ("gss", "shuffled")])
def test_own_draws_have_the_mean_of_those_of_cebra(stored, name, baselines):
    arrays, encoder = stored
    seeds = range(80)  # each its own draws: a stack of one network, as many members as seeds
    inputs = np.broadcast_to(arrays["x"], (len(seeds), *arrays["x"].shape))
    runs = attributions(encoder, inputs, "gradient_shap", baselines=baselines, seeds=seeds).double().numpy()
    for repeats, mean, error in (
        (runs, arrays[f"{name}_mean"], arrays[f"{name}_se"]),
        (np.abs(runs).mean(axis=1), arrays[f"{name}_agg_mean"], arrays[f"{name}_agg_se"]),
    ):
        own_error = repeats.std(axis=0, ddof=1) / len(repeats) ** 0.5
        z = np.abs(repeats.mean(axis=0) - mean) / np.hypot(own_error, error)
        assert z.max() < 6, "about 2400 entries: 4 is the largest expected by chance"
        assert np.sqrt(np.mean(z**2)) == pytest.approx(1, abs=0.25)


def test_statistics_of_a_map_are_those_of_cebra(stored):
    arrays, encoder = stored
    found = map_statistics(attribution_map(encoder, arrays["x"]), arrays["gt"])
    np.testing.assert_allclose([found[name] for name in sorted(found)], arrays["metrics_ng_inv_svd"], rtol=1e-4)


@pytest.mark.parametrize("head", HEADS)
def test_jacobian_and_its_pseudo_inverse_are_those_of_cebra(fixture_arrays, stored_encoder, head):
    arrays = fixture_arrays("regcl_jacobian")
    encoder = stored_encoder(arrays, head, "W3" if head == "clip" else "W3_tanh")
    single = jacobian_by_backward(encoder, torch.tensor(arrays["x"]))
    np.testing.assert_allclose(single, arrays[f"J_{head}"], atol=1e-5)
    double = jacobian_by_backward(encoder.double(), torch.tensor(arrays["x"]).double())
    np.testing.assert_allclose(double, arrays[f"J64_{head}"], atol=1e-10)
    expected = arrays[f"Jpinv64_{head}"].swapaxes(-1, -2)
    np.testing.assert_allclose(inverted(double), expected, rtol=1e-6, atol=1e-9)
    assert (arrays["saturated_clip"].any(axis=-1)).any(), "some Jacobians have rows of zeros"


@pytest.mark.filterwarnings("ignore:Input Tensor . did not already require gradients")
def test_every_method_is_that_of_captum():
    torch.manual_seed(0)
    encoder = torch.nn.Sequential(torch.nn.Linear(7, 16), torch.nn.GELU(), torch.nn.Linear(16, 3)).double()
    x = torch.randn(20, 7, dtype=torch.float64)

    def by_output(peer, **options):
        return torch.stack([peer(encoder, encoder).attribute(x, k, **options) for k in range(3)], dim=1).detach()

    for method, peer in (
        ("neuron_gradient", attr.NeuronGradient),
        ("integrated_gradients", attr.NeuronIntegratedGradients),
        ("feature_ablation", attr.NeuronFeatureAblation),
    ):
        expected = by_output(peer)
        # captum's quadrature nodes are in single precision
        torch.testing.assert_close(attributions(encoder, x, method), expected, rtol=0, atol=1e-8)
    # random draws: captum's mean over 400 draws against ours over 80 times 5
    expected = by_output(attr.NeuronGradientShap, baselines=torch.zeros_like(x), n_samples=400)
    ours = attributions(encoder, x.expand(80, 20, 7), "gradient_shap", seeds=range(80))
    error = ours.std(dim=0) / 80**0.5 * 2**0.5
    assert ((ours.mean(dim=0) - expected).abs() <= 6 * error + 1e-9).all()
