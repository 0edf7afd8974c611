import dataclasses

import numpy as np
import pytest

from sparseid.papers.aggregation import Aggregation, parse_aggregation
from sparseid.papers.registry import ARTEFACTS
from sparseid.papers.rows import newest, per_replicate, rows_frame
from sparseid.papers.targets import load_targets
from sparseid.reporting.aggregate import entries
from sparseid.reporting.tables import lines


@pytest.mark.parametrize(
    ("paper", "artefact", "words"),
    [
        ("sparling", "sparling/fig3", "mean [95 % bootstrap interval] over n seeds"),
        ("tbr", "tbr/fig4", "mean ± population standard deviation over n seeds"),
        ("regcl", "regcl/table1", "mean [95 % bootstrap interval] over n runs"),
        ("sparse_vae", "sparse_vae/table1", "mean ± population standard deviation over n splits"),
        ("sparse_vae", "sparse_vae/fig3", "median [quartiles] over n data sets"),
        ("ddl", "ddl/table1", "mean ± sample standard deviation over n seeds"),
    ],
)
def test_each_paper_has_its_own(paper, artefact, words):
    assert str(load_targets(paper).aggregation_of(artefact)) == words


def test_a_name_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="bootstrap, student, sd"):
        parse_aggregation({"centre": "mean", "interval": "range", "over": "seeds"})
    with pytest.raises(ValueError, match="mean or median"):
        parse_aggregation({"centre": "mode", "interval": "sd", "over": "seeds"})


def test_replicates_are_seeds_or_seeds_and_further_keys(sparling_rows):
    rows = rows_frame([row for seed in range(3) for row in sparling_rows(seed)])
    assert Aggregation().summarise(per_replicate(rows, "ce")).n == 3
    pooled = Aggregation(interval="sd").summarise(per_replicate(rows, "ce", ("steps_above",)))
    values = rows["value"][rows["metric"] == "ce"]
    assert pooled.n == len(values) == 36
    assert pooled.centre == pytest.approx(values.mean())
    assert pooled.high - pooled.centre == pytest.approx(np.std(values, ddof=1))


def test_a_share_is_a_mean_without_an_interval_also_where_medians_are_the_rule(sparling_rows):
    rows = rows_frame([row for seed in range(4) for row in sparling_rows(seed)])
    rows = rows[rows["metric"] == "fpe"].drop_duplicates("seed").assign(value=[0.0, 0.0, 0.0, 100.0])
    entry = {"centre": "median", "interval": "quartiles", "over": "data sets"}
    share = parse_aggregation({**entry, "fractions": ["fpe"]}).summarise(rows["value"], "fpe")
    assert (share.centre, share.n, np.isnan(share.low), np.isnan(share.high)) == (25.0, 4, True, True)
    assert parse_aggregation(entry).summarise(rows["value"], "fpe").centre == 0.0


def test_tables_and_verdicts_use_the_papers_convention(monkeypatch, sparling_rows):
    rows = newest(rows_frame([row for seed in range(3) for row in sparling_rows(seed, scale="paper")]))
    entry = ARTEFACTS["sparling/fig3"]

    def of_fpe():
        [cell] = [cell for cell in entries(entry, rows, "paper") if cell.metric == "fpe" and cell.ours]
        return cell, next(line for line in lines([cell], entry)).texts

    _, texts = of_fpe()
    assert texts[3:5] == ("2.10 [2.00, 2.20]", "3")
    known = load_targets("sparling")
    other = dataclasses.replace(known, aggregation=Aggregation(interval="sd"))
    monkeypatch.setattr("sparseid.papers.artefact.load_targets", lambda paper: other)
    cell, texts = of_fpe()
    assert texts[3:5] == ("2.10 ± 0.100", "3")
    assert (cell.ours.low, cell.ours.high) == pytest.approx((2.0, 2.2))
