from importlib.resources import files

import pytest

from sparseid.errors import InputError
from sparseid.papers.ddl import claims as ddl
from sparseid.papers.ddl import theory as ddl_theory
from sparseid.papers.regcl import claims as regcl
from sparseid.papers.regcl import statistics as regcl_statistics
from sparseid.papers.registry import ARTEFACTS, PAPERS, artefact, not_built
from sparseid.papers.sparling import alpha as sparling_alpha
from sparseid.papers.sparling import claims as sparling
from sparseid.papers.sparling import claims_baselines as sparling_baselines
from sparseid.papers.sparling import claims_evaluations as sparling_evaluations
from sparseid.papers.sparse_vae import claims as sparse_vae
from sparseid.papers.sparse_vae import features as sparse_vae_features
from sparseid.papers.targets import load_targets
from sparseid.papers.tbr import claims as tbr


@pytest.mark.parametrize(
    ("name", "targets", "statements"),
    [("sparling", 447, 40), ("tbr", 186, 29), ("regcl", 246, 20), ("sparse_vae", 126, 25), ("ddl", 121, 31)],
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


def test_every_artefact_is_built_or_listed_as_not_built():
    assert not_built("sparling") == ["sparling/fig12"]
    for paper in PAPERS:
        names = set(load_targets(paper).titles)
        assert names == (names & set(ARTEFACTS)) | set(not_built(paper))
        assert not set(not_built(paper)) & set(ARTEFACTS)


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
    assert stated == {
        *(*sparling.CLAIMS, *sparling_alpha.CLAIMS, *sparling_baselines.CLAIMS, *sparling_evaluations.CLAIMS),
        *(*tbr.CLAIMS, *regcl.CLAIMS, *regcl_statistics.CLAIMS),
        *(*sparse_vae.CLAIMS, *sparse_vae_features.CLAIMS),
        *(*ddl.CLAIMS, *ddl_theory.CLAIMS),
    }


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
