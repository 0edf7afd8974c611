import hashlib
import json
from dataclasses import asdict
from importlib.resources import files
from types import ModuleType

import pytest

from sparseid.errors import InputError
from sparseid.papers.claims import claim, claims_in
from sparseid.papers.registry import ARTEFACTS, PAPERS, artefact
from sparseid.papers.targets import load_targets


@pytest.mark.parametrize(
    ("name", "targets", "statements"),
    [("sparling", 447, 40), ("tbr", 186, 29), ("regcl", 246, 20), ("sparse_vae", 126, 25), ("ddl", 121, 32)],
)
def test_every_target_has_its_own_id_and_names_a_known_artefact(name, targets, statements):
    paper = load_targets(name)
    assert paper.paper == name
    assert (len(paper.targets), len(paper.statements)) == (targets, statements)
    for entries in (paper.targets, paper.statements):
        assert len({entry.id for entry in entries}) == len(entries)
        assert {entry.artefact for entry in entries} <= set(paper.titles)
    for target in paper.targets:
        assert target.role in ("target", "alternate", "reference")
        assert (target.interval is None) == (target.spread_kind == "none")
        assert not (target.words and target.value is not None)


DIGESTS = {
    "sparling": "5aa3af562f7b6320",
    "tbr": "7a31dd077662001f",
    "regcl": "d96ac301feb78eb6",
    "sparse_vae": "50da1bd22d4caeef",
    "ddl": "6674a64a4f683f40",
}
"""Of all targets of each paper, field by field, as they were when every one of them had a line of its own."""


@pytest.mark.parametrize("name", DIGESTS)
def test_grids_stand_for_the_targets_that_were_written_out(name):
    fields = [[[key, str(value)] for key, value in asdict(target).items()] for target in load_targets(name).targets]
    assert hashlib.sha256(json.dumps(fields).encode()).hexdigest()[:16] == DIGESTS[name]


def test_the_papers_of_the_report_are_the_folders_with_targets():
    folders = {path.name for path in files("sparseid.papers").iterdir() if path.joinpath("targets.yaml").is_file()}
    assert folders == set(PAPERS)


def test_known_numbers_of_every_paper():
    def target(paper, name):
        return next(target for target in load_targets(paper).targets if target.id == name)

    auc = target("regcl", "regcl-table1-neuron_gradient-supervised-none")
    assert (auc.value, auc.interval, auc.spread_kind, auc.n) == (79.2, (77.4, 81.0), "ci95", 60)
    assert (auc.role, auc.source) == ("target", "")
    mcc = target("ddl", "ddl-table4-dim3-ours")
    assert mcc.keys == {"dim": 3, "method": "ours"}
    assert (mcc.value, mcc.spread_kind) == (0.8258, "sd")
    assert mcc.interval == pytest.approx((0.8173, 0.8343))
    ticks = target("sparse_vae", "sparse_vae-fig3-ticks-mse-rho0")
    assert (ticks.value, ticks.words, ticks.role) == (None, "0.3, 0.7", "reference")
    headline = next(entry for entry in load_targets("regcl").statements if entry.id == "regcl-table1-headline")
    assert headline.holds_in_paper == "yes"
    (alpha, _) = load_targets("sparling").statements_about("sparling/alpha")
    assert alpha.holds_in_paper.startswith("yes; our rows cannot refute it: computed constant")


def test_every_artefact_is_built_or_listed_as_not_built():
    assert PAPERS["sparling"].not_built == []
    for paper in PAPERS:
        names = set(load_targets(paper).titles)
        assert names == (names & set(ARTEFACTS)) | set(PAPERS[paper].not_built)
        assert not set(PAPERS[paper].not_built) & set(ARTEFACTS)


def test_a_target_is_read_field_by_field():
    fpe = next(target for target in load_targets("sparling").targets if target.id == "sparling-fig3-dc-mt-fpe")
    assert fpe.keys == {"domain": "digitcircle", "method": "sparling_mt"}
    assert (fpe.value, fpe.interval, fpe.n, fpe.op) == (1.4795, (0.07, 4.23), 9, "=")
    read_off = next(target for target in load_targets("sparling").targets if target.id == "sparling-fig4-dc-k0-fne")
    assert (read_off.op, read_off.value, read_off.interval) == ("<=", 0.5, None)
    assert read_off.uncertainty > 0


def test_every_claim_of_a_declared_artefact_has_a_check_and_no_check_is_orphaned():
    stated = {statement.id for entry in ARTEFACTS.values() for statement in entry.statements}
    unchecked = {statement.id for entry in ARTEFACTS.values() for statement in entry.unchecked}
    assert not unchecked
    assert stated == {name for entry in ARTEFACTS.values() for name in entry.checks}


@pytest.mark.parametrize("paper", PAPERS)
def test_every_metric_of_a_paper_is_declared_once_and_targets_have_its_unit(paper):
    metrics = {metric.name: metric for metric in PAPERS[paper].metrics}
    assert len(metrics) == len(PAPERS[paper].metrics)
    assert {(target.metric, target.unit) for target in PAPERS[paper].targets.targets} <= {
        (metric.name, metric.unit) for metric in metrics.values()
    }
    shown = (*PAPERS[paper].artefacts, *PAPERS[paper].summaries)
    assert {metric for entry in shown for metric in entry.metrics} <= set(metrics)


def test_papers_agree_on_the_labels_that_they_share():
    found = {}
    for paper in PAPERS.values():
        own = {metric.name: metric.label for metric in paper.metrics if metric.label} | dict(paper.labels)
        assert not [name for name, label in own.items() if found.setdefault(name, label) != label]


def test_a_claim_is_checked_once():
    def first(rows):
        raise NotImplementedError

    module = ModuleType("claims")
    first.__module__ = module.__name__
    module.first = claim("a", "b")(first)
    module.second = claim("c", against="paper/table")(lambda rows, others: None)
    module.second.__module__ = module.__name__
    found = claims_in(module)
    assert (found["a"], found["b"], found["c"].other) == (first, first, "paper/table")
    with pytest.raises(ValueError, match="a, b: checked twice"):
        claims_in(module, module)


def test_artefacts_compare_with_the_numbers_the_paper_reports_for_them():
    figure3 = {target.id for target in artefact("sparling/fig3").targets}
    assert "sparling-fig3-audio-mt-fne" in figure3
    assert "sparling-fig3-abstract-localisation" not in figure3  # checked as a claim
    assert len(artefact("sparling/fig4").targets) == 3 * 11 * 4
    assert {target.metric for target in artefact("digitcircle").targets} == {"fpe", "fne", "ce", "e2ee", "sparsity"}
    of_symbols = {target.keys["symbol"] for target in artefact("latex_ocr").targets if target.metric == "none_share"}
    assert {"lparen", "rparen", "bar"} <= of_symbols
    of_splits = {target.keys["split"] for target in artefact("audiomnist").targets if target.metric == "direct_error"}
    assert of_splits == {"train_speakers", "test_speakers"}


def test_an_unknown_artefact_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="Did you mean sparling/fig4"):
        artefact("sparling/fig44")
