import pytest

from sparseid.errors import InputError
from sparseid.papers.registry import ARTEFACTS, artefact
from sparseid.papers.sparling.claims import CLAIMS
from sparseid.papers.targets import load_targets


def test_every_target_has_its_own_id_and_names_a_known_artefact():
    paper = load_targets("sparling")
    ids = [target.id for target in paper.targets]
    assert len(ids) == len(set(ids)) > 300
    assert {target.artefact for target in paper.targets} <= set(paper.titles)


def test_a_target_is_read_field_by_field():
    fpe = next(target for target in load_targets("sparling").targets if target.id == "sparling-fig3-dc-mt-fpe")
    assert fpe.keys == {"domain": "digitcircle", "method": "sparling_mt"}
    assert (fpe.value, fpe.interval, fpe.n, fpe.op) == (1.4795, (0.07, 4.23), 9, "=")
    read_off = next(target for target in load_targets("sparling").targets if target.id == "sparling-fig4-dc-k0-fne")
    assert (read_off.op, read_off.value, read_off.interval) == ("<=", 0.5, None)
    assert read_off.uncertainty > 0


def test_every_claim_of_a_declared_artefact_has_a_check_and_no_check_is_orphaned():
    stated = {statement.id for entry in ARTEFACTS.values() for statement in entry.statements}
    assert stated == set(CLAIMS)


def test_artefacts_compare_with_the_numbers_the_paper_reports_for_them():
    figure3 = {target.id for target in artefact("sparling/fig3").targets}
    assert "sparling-fig3-audio-mt-fne" in figure3
    assert "sparling-fig3-abstract-localisation" not in figure3  # checked as a claim
    assert len(artefact("sparling/fig4").targets) == 3 * 11 * 4
    assert {target.metric for target in artefact("digitcircle").targets} == {"fpe", "fne", "ce", "e2ee", "sparsity"}


def test_an_unknown_artefact_is_refused_with_the_nearest_name():
    with pytest.raises(InputError, match="Did you mean sparling/fig4"):
        artefact("sparling/fig44")
