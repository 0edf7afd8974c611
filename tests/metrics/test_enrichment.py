import numpy as np
import pytest
from scipy.stats import fisher_exact

from sparseid.metrics.enrichment import enriched_sets

GENES = [f"g{number}" for number in range(60)]


def test_a_set_that_is_chosen_whole_is_enriched_and_one_beside_it_is_not():
    sets = {"chosen": GENES[:6], "others": GENES[30:40], "outside": ["x", "y"]}
    assert enriched_sets([GENES[:6], GENES[30:33]], GENES, sets) == [["chosen"], ["others"]]


def test_the_p_value_is_that_of_fishers_exact_test_and_all_tests_are_adjusted_together():
    chosen, of_set = GENES[:10], GENES[5:17]
    table = [[5, 5], [7, 43]]
    p = fisher_exact(table, alternative="greater").pvalue
    assert 0.01 < p < 0.05
    assert enriched_sets([chosen], GENES, {"half": of_set}) == [["half"]]
    with_others = {"half": of_set} | {f"none {number}": GENES[40 + number :] for number in range(5)}
    assert enriched_sets([chosen], GENES, with_others) == [[]]
    assert enriched_sets([chosen, GENES[50:], GENES[50:]], GENES, {"half": of_set}) == [[], [], []]


@pytest.mark.parametrize("chosen", [[], [[]], [[], GENES]])
def test_nothing_chosen_or_everything_chosen_is_no_enrichment(chosen):
    assert enriched_sets(chosen, GENES, {"some": GENES[:9]}) == [[] for _ in chosen]
    assert enriched_sets(chosen, GENES, {}) == [[] for _ in chosen]


def test_genes_outside_the_background_change_nothing():
    inside = enriched_sets([GENES[:5]], GENES, {"a": GENES[:5]})
    assert enriched_sets([GENES[:5]], GENES, {"a": [*GENES[:5], *map(str, np.arange(100))]}) == inside == [["a"]]
