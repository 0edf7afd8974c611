import numpy as np
import pytest
from scipy.stats import kurtosis, norm

from sparseid.data.latent_walk.generator import draw_latents, draw_mixing, square_layer


def box(draws, rows=4000, size=3, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, (rows, size)) * draws


# latents


def test_walks_are_what_the_public_example_shows(walk_config):
    latents = draw_latents(walk_config(samples=20000), [0, 1])
    assert latents.shape == (2, 20000, 5)
    assert latents.dtype == np.float32
    assert not latents[:, 0].any()
    assert np.abs(latents).max() <= 1
    steps, before = np.diff(latents, axis=1), latents[:, :-1]
    inner = steps[np.abs(before) < 0.5]  # five standard deviations from a wall
    assert inner.std() == pytest.approx(0.1, rel=0.01)
    assert inner.mean() == pytest.approx(0, abs=0.001)
    assert kurtosis(inner) == pytest.approx(0, abs=0.05)
    assert np.abs(np.corrcoef(steps.transpose(0, 2, 1).reshape(10, -1)) - np.eye(10)).max() < 0.05
    assert latents.var() == pytest.approx(1 / 3, rel=0.1)  # nearly uniform over the box


def test_steps_near_a_wall_are_truncated_normal(walk_config):
    latents = draw_latents(walk_config(samples=60000), [3])[0].astype(float)
    steps, before = np.diff(latents, axis=0), latents[:-1]
    near = np.abs(before) > 0.9
    low, high = (-1 - before[near]) / 0.1, (1 - before[near]) / 0.1
    mass = norm.cdf(high) - norm.cdf(low)
    mean = 0.1 * (norm.pdf(low) - norm.pdf(high)) / mass
    variance = 0.01 * (1 + (low * norm.pdf(low) - high * norm.pdf(high)) / mass) - mean**2
    scores = (steps[near] - mean) / np.sqrt(variance)
    assert abs(scores.mean()) < 4 / np.sqrt(near.sum())
    assert scores.var() == pytest.approx(1, abs=0.03)


def test_reflected_walks_stay_in_the_box_and_are_uniform_there(walk_config):
    latents = draw_latents(walk_config(samples=20000, boundary="reflect", box=0.7), [0])
    assert not latents[:, 0].any()
    assert np.abs(latents).max() <= 0.7
    assert latents.var() == pytest.approx(0.49 / 3, rel=0.1)


def test_a_member_walks_as_it_does_alone_and_settings_share_the_walk(walk_config):
    together, alone = draw_latents(walk_config(samples=9000), [4, 0, 2]), draw_latents(walk_config(samples=9000), [0])
    assert np.array_equal(together[1], alone[0])
    assert not np.array_equal(together[0], together[1])
    assert np.array_equal(draw_latents(walk_config(samples=9000, setting="b"), [0]), alone)
    assert np.array_equal(draw_latents(walk_config(samples=300), [0]), alone[:, :300])
    np.testing.assert_allclose(draw_latents(walk_config(samples=9, sigma=0.01), [0]), alone[:, :9] / 10, atol=1e-7)


# mixing


@pytest.mark.parametrize("mixing", ["shared", "additive"])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_observations_are_their_jacobian_times_the_latents(walk_config, mixing, layers):
    generator = draw_mixing(walk_config(mixing=mixing, n_square_layers=layers), 0)
    latents = box(1, rows=200, size=5)
    observations, jacobian = generator(latents), generator.jacobian(latents)
    assert jacobian.shape == (200, 50, 5)
    # without biases every piece of a piecewise linear map goes through the origin
    np.testing.assert_allclose(np.einsum("nij,nj->ni", jacobian, latents), observations, atol=1e-10)
    for latent in range(5):
        ahead = generator(latents + 1e-7 * np.eye(5)[latent])
        difference = (ahead - observations) / 1e-7
        close = np.abs(difference - jacobian[..., latent]).max(axis=1) < 1e-5
        assert close.mean() > 0.99  # all but where a kink lies between
    assert np.array_equal(generator(np.zeros((1, 5))), np.zeros((1, 50)))
    if layers == 1:
        assert np.array_equal(jacobian[0], jacobian[-1])


def test_structure_of_the_public_example(walk_config):
    """One nonlinearity, exact ranks, no biases: what was found in the file (3 + 3 latents) is so here."""
    generator = draw_mixing(walk_config(latents=6, fixed_latents=3, conditioning_draws=20000), 0)
    latents = box(1, size=6)
    observations = generator(latents)
    x1, x2 = observations[:, :25], observations[:, 25:]
    assert np.linalg.matrix_rank(x1 - x1.mean(axis=0)) == 3
    assert np.linalg.matrix_rank(x2 - x2.mean(axis=0)) == 6
    jacobian = generator.jacobian(latents)[:, :25, :3]
    regions = np.unique(jacobian.round(9).reshape(len(latents), -1), axis=0).reshape(-1, 25, 3)
    assert len(regions) == 8  # the signs of three units
    log_determinants = np.array([0.5 * np.linalg.slogdet(j.T @ j)[1] for j in regions])
    gaps = (log_determinants - log_determinants.min()) / np.log(5)
    np.testing.assert_allclose(np.sort(gaps), [0, 1, 1, 1, 2, 2, 2, 3], atol=1e-6)
    values = np.linalg.svd(jacobian, compute_uv=False)
    assert 0.3 < values.min() < 2  # the file's: 0.7 to 6
    assert 3 < values.max() < 12


def test_more_layers_bend_more(walk_config):
    def regions(layers):
        generator = draw_mixing(walk_config(n_square_layers=layers), 0)
        jacobian = generator.jacobian(box(1, size=5))[:, :25, :3]
        return len(np.unique(jacobian.round(9).reshape(4000, -1), axis=0))

    assert [regions(1), regions(2)] == [1, 8]
    assert 8 < regions(3) <= 64


@pytest.mark.parametrize("mixing", ["shared", "additive"])
@pytest.mark.parametrize(
    ("setting", "setting_b", "first"), [("a", "z1_fixed", 4), ("b", "z1_fixed", 2), ("b", "z2_fixed", 4)]
)
def test_truth_is_where_the_jacobian_is_not_zero(walk_config, mixing, setting, setting_b, first):
    config = walk_config(mixing=mixing, latents=6, setting=setting, setting_b=setting_b, dim_x1=7, dim_x2=11)
    generator = draw_mixing(config, 1)
    assert np.array_equal(generator.truth, (generator.jacobian(box(1, 50, 6)) != 0).all(axis=0).T)
    expected = np.ones((6, 18), dtype=bool)
    expected[first:, :7] = False
    assert np.array_equal(generator.truth, expected)


def test_additive_mixing_has_no_interaction(walk_config):
    latents = box(1, size=5)
    first, second = latents * [1, 1, 1, 0, 0], latents * [0, 0, 0, 1, 1]
    for mixing, apart in (("additive", True), ("shared", False)):
        generator = draw_mixing(walk_config(mixing=mixing), 0)
        difference = generator(latents) - generator(first) - generator(second)
        assert (np.abs(difference[:, 25:]).max() < 1e-9) == apart
        assert np.abs(difference[:, :25]).max() < 1e-9


@pytest.mark.parametrize("mixing", ["shared", "additive"])
def test_gains_scale_the_two_parts(walk_config, mixing):
    latents = box(1, size=5)
    plain = draw_mixing(walk_config(mixing=mixing), 2)(latents)
    scaled = draw_mixing(walk_config(mixing=mixing, gain_x1=4, gain_x2=0.5), 2)(latents)
    np.testing.assert_allclose(scaled, plain * np.repeat([4, 0.5], 25), rtol=1e-12)


def test_square_layers_are_the_best_conditioned_of_the_drawn(walk_config):
    def layer(size, draws, quantile=0.0):
        config = walk_config(conditioning_draws=draws, conditioning_quantile=quantile)
        return square_layer(size, config, np.random.default_rng(0))

    for size in (1, 3, 6):
        np.testing.assert_allclose(np.linalg.norm(layer(size, 100), axis=0), 1)
    best, middle, worst = (np.linalg.cond(layer(3, 1001, quantile)) for quantile in (0, 0.5, 1))
    pool = np.random.default_rng(0).uniform(-1, 1, (1001, 3, 3))
    conditions = np.linalg.cond(pool / np.linalg.norm(pool, axis=1, keepdims=True))
    assert [best, middle, worst] == pytest.approx([conditions.min(), np.median(conditions), conditions.max()])
    assert np.linalg.cond(layer(3, 20000)) < 1.1  # the public example's: 1.03
    assert np.linalg.cond(layer(6, 20000)) < 2.5


def test_networks_and_seeds_have_weights_of_their_own(walk_config):
    one, same, other = draw_mixing(walk_config(), 0), draw_mixing(walk_config(), 0), draw_mixing(walk_config(), 1)
    latents = box(1, size=5)
    assert np.array_equal(one(latents), same(latents))
    assert not np.array_equal(one(latents), other(latents))
    x1, x2 = (term.network for term in draw_mixing(walk_config(dim_x1=5, dim_x2=5), 0).terms)
    assert not np.array_equal(x1.expansion[:, :3], x2.expansion[:, :3])
    assert not np.array_equal(x1.square[0], x1.square[1])
    shared, additive = (draw_mixing(walk_config(mixing=mixing), 0)(latents) for mixing in ("shared", "additive"))
    assert np.array_equal(shared[:, :25], additive[:, :25])


# the authors' file


def test_public_example_has_the_graph_and_the_scale_of_ours(walk_config, shared_arrays):
    example = shared_arrays("regcl_public_example")
    config = walk_config(latents=6, fixed_latents=3, conditioning_draws=2000)
    assert np.array_equal(draw_mixing(config, 0).truth, example["gt_map"])
    latents = example["latents"].astype(float)
    assert not latents[0].any()
    assert 0.99 < np.abs(latents).max() < config.box
    steps = np.diff(latents, axis=0)[np.abs(latents[:-1]) < 0.6]
    assert steps.std() == pytest.approx(config.sigma, rel=0.05)
    spread = example["observations"].reshape(-1, 2, 25).std(axis=(0, 2))
    ours = [draw_mixing(config, seed)(latents).reshape(-1, 2, 25).std(axis=(0, 2)) for seed in range(20)]
    assert (np.min(ours, axis=0) < spread).all()
    assert (spread < np.max(ours, axis=0)).all()
