"""Warnings about baselines that a method does not beat."""

from dataclasses import replace

from sparseid.measurements import Measurement
from sparseid.methods.baselines import of_baseline, unbeaten


def measured(metric, own, **baselines):
    found = [Measurement(metric, value, seed=seed) for seed, value in enumerate(own)]
    for name, value in baselines.items():
        found += of_baseline(name, metric, value, "", 10, range(len(own)))
    return found


def test_an_error_has_to_be_lower_than_that_of_every_baseline():
    found = measured("mse", [1.0, 3.0], mean=4.0, pca=2.0)  # as good as PCA is not better
    assert list(unbeaten(found, "mse", "MSE")) == [
        "not better than a baseline: MSE 2 on held-out data, that of PCA with as many components is 2"
    ]


def test_a_score_has_to_be_higher():
    found = measured("recall", [0.5, 0.7], popularity=0.65, nmf=0.4)
    [told] = unbeaten(found, "recall", "recall@5", better="high")
    assert told == (
        "not better than a baseline: recall@5 0.6 on held-out data, that of the popularity of the features is 0.65"
    )


def test_each_baseline_is_compared_with_what_has_its_keys():
    """Runs measure a metric of several things (R2 of labels and of latents), a baseline one of them."""
    found = [Measurement("r2", value, keys={"explained": name}) for name, value in (("labels", 90.0), ("z1", 10.0))]
    [baseline] = of_baseline("label_ridge", "r2", 80.0, "%", 10, [0])
    found.append(replace(baseline, keys={"explained": "labels"} | baseline.keys))
    assert list(unbeaten(found, "r2", "R2", better="high")) == []
    found.append(replace(baseline, keys={"explained": "z1"} | baseline.keys))
    assert list(unbeaten(found, "r2", "R2", better="high")) == [
        "not better than a baseline: R2 10 on held-out data, that of a ridge regression of the labels is 80"
    ]


def test_keys_that_the_baseline_lacks_do_not_matter():
    found = [Measurement("mse", 3.0, keys={"learned_dim": 5}), *of_baseline("ridge", "mse", 2.0, "", 10, [0])]
    assert len(list(unbeaten(found, "mse", "MSE"))) == 1


def test_undefined_values_and_other_metrics_are_not_compared():
    found = measured("mse", [None, None], mean=4.0)
    assert list(unbeaten(found, "mse", "MSE")) == list(unbeaten(found, "recall", "recall", "high")) == []
