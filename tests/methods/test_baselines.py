"""Warnings about baselines that a method does not beat."""

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


def test_undefined_values_and_other_metrics_are_not_compared():
    found = measured("mse", [None, None], mean=4.0)
    assert list(unbeaten(found, "mse", "MSE")) == list(unbeaten(found, "recall", "recall", "high")) == []
