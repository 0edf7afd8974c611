"""Forward pass, loss terms, gradients and whole training steps against the authors' code, where its arrays are."""

import numpy as np
import pytest
import torch

from sparseid.methods.sparse_vae import losses
from sparseid.methods.sparse_vae.spike_and_slab import slab_probability, slab_share

pytestmark = pytest.mark.shared
CASES = [(m, kind) for m in ("sparse_vae", "vae", "vsc") for kind in ("mse", "categorical")]
FILES = {"sparse_vae": "spikeslab"}


@pytest.mark.parametrize(("model", "kind"), CASES)
def test_terms_and_gradients_are_those_of_the_authors_code(
    shared_arrays, authors, batch_of, under_our_names, model, kind
):
    arrays = shared_arrays(f"sparsevae_{FILES.get(model, model)}_{kind}")
    module = authors(model, arrays, gaussian=kind == "mse")
    inputs, noise = batch_of(arrays)
    rtol = {"rtol": 2e-5 if model == "vsc" else 1e-5, "atol": 1e-6}

    posterior = module.posterior(inputs)
    for name, values in (("z_mean", posterior.mean), ("z_log_var", posterior.log_variance)):
        np.testing.assert_allclose(values[0].detach(), arrays[f"out/{name}"], **rtol)
    if model == "vsc":
        np.testing.assert_allclose(posterior.log_gamma[0].detach(), arrays["out/z_log_gamma"], **rtol)
    np.testing.assert_allclose(module.sample(posterior, noise, 0)[0].detach(), arrays["out/z"], **rtol)
    np.testing.assert_allclose(module.reconstruct(inputs, noise)[0].detach(), arrays["out/x_mean"], **rtol)

    terms = module.terms(inputs, noise, step=0)
    for ours, theirs in (("reconstruction", "recon"), ("divergence", "kl"), ("sigma", "sigma"), ("prior", "w")):
        assert getattr(terms, ours).item() == pytest.approx(float(arrays[f"loss/{theirs}"]), rel=2e-5, abs=1e-6), ours
    assert terms.total.item() == pytest.approx(float(arrays["loss/total"]), rel=2e-5)

    terms.total.sum().backward()
    gradients = under_our_names(model, arrays, "grad")
    assert {name for name, parameter in module.named_parameters() if parameter.grad is not None} == set(gradients)
    for name, theirs in gradients.items():
        ours = module.get_parameter(name).grad
        # large divergences from the pseudo-inputs cancel in the gradient of their selector: rounding stays
        relative = (1e-3, 5e-4) if model == "vsc" else (1e-4, 1e-5)
        tolerance = {"rtol": relative[0], "atol": relative[1] * float(theirs.abs().max())}
        torch.testing.assert_close(ours, theirs, **tolerance, msg=lambda text, name=name: f"{name}: {text}")


@pytest.mark.parametrize("kind", ["mse", "categorical"])
def test_a_decoded_z_is_that_of_the_authors_code(shared_arrays, authors, kind):
    arrays = shared_arrays(f"sparsevae_spikeslab_{kind}")
    module = authors("sparse_vae", arrays, gaussian=kind == "mse")
    outputs = module.decode(torch.from_numpy(arrays["decode/z"])[None])[0].detach()
    np.testing.assert_allclose(
        outputs if kind == "mse" else outputs.softmax(dim=1), arrays["decode/x"], rtol=1e-5, atol=1e-6
    )


def test_e_and_m_steps_are_those_of_the_authors_code(shared_arrays):
    arrays = shared_arrays("sparsevae_em_sweeps")
    selector, share = torch.from_numpy(arrays["W"])[None], torch.from_numpy(arrays["theta"][:1])
    for sweep in range(1, 7):
        probability = slab_probability(selector, share, float(arrays["lambda0"]), float(arrays["lambda1"]))
        share = slab_share(probability, float(arrays["a"]), float(arrays["b"]))
        np.testing.assert_allclose(probability[0], arrays["p_star"][sweep], rtol=2e-5, atol=1e-7)
        np.testing.assert_allclose(share[0], arrays["theta"][sweep], rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize("kind", ["mse", "categorical"])
def test_training_steps_are_those_of_the_authors_code(shared_arrays, authors, batch_of, under_our_names, kind):
    """Their two optimisers, of the networks and of selectors and sigmas, are one: Adam moves each number by itself."""
    arrays = shared_arrays(f"sparsevae_train_steps_{kind}")
    module = authors("sparse_vae", arrays, state="init", gaussian=kind == "mse")
    adam = torch.optim.Adam(module.trained(), lr=float(arrays["lr"]), fused=True)
    for step in range(len(arrays["batch_size"])):
        inputs, noise = batch_of(arrays, slice(10 * step, 10 * step + 10))
        adam.zero_grad()
        module.terms(inputs, noise, step).total.sum().backward()
        adam.step()
        module.after_step()
        paths = {"W": module.decoder.selector, "p_star": module.slab_probability, "thetas": module.slab_share}
        for name, values in paths.items():
            np.testing.assert_allclose(values[0].detach(), arrays[f"path/{name}"][step + 1], rtol=1e-4, atol=5e-5)
    final = dict(module.named_parameters()) | dict(module.named_buffers())
    for name, values in under_our_names("sparse_vae", arrays, "final").items():
        if name in final and not (name == "log_sigma" and kind == "categorical"):
            torch.testing.assert_close(final[name].detach(), values, rtol=1e-4, atol=5e-5)


@pytest.mark.parametrize("case", ["gauss", "counts", "float32"])
def test_the_scale_of_the_sigma_prior_is_that_of_the_authors_code(shared_arrays, case):
    arrays = shared_arrays("sparsevae_sigma_prior")
    scale = losses.sigma_scale(torch.from_numpy(arrays[f"{case}/sd"])[None])
    assert scale.item() == pytest.approx(float(arrays[f"{case}/scale"]), rel=1e-10 if case != "float32" else 1e-4)
