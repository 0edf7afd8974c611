"""Sparling's artefacts beyond figures 3 and 4: claims, tables and figures on rows like those of its runs."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sparseid.papers.claims import claims_in
from sparseid.papers.recorded import RECORDED, read_recorded
from sparseid.papers.registry import prepared
from sparseid.papers.rows import key, newest, per_seed, rows_frame, select
from sparseid.papers.sparling import alpha, claims
from sparseid.papers.sparling import rows as derived
from sparseid.papers.sparling.artefacts import ARTEFACTS
from sparseid.papers.targets import load_targets
from sparseid.reporting.aggregate import entries
from sparseid.reporting.tables import lines
from sparseid.training.rows import Row

BASE = {"paper": "sparling", "scale": "paper", "unit": "percent", "n": 1000, "commit": "a" * 40, "dirty": False}
BASE |= {"recipe": "0" * 8, "device": "cpu", "written": "2026-05-01T10:00:00+00:00"}
BUILT = {entry.id: entry for entry in ARTEFACTS}
SWEEPS = ("sparling/latex_ocr", "sparling/audiomnist")
"""No tables of the paper's: runs of a domain, which several of its figures read."""
SUMMARIES = ("digitcircle", "latex_ocr", "audiomnist")
ALPHA = BUILT["sparling/alpha"]
ENTRIES = {
    name: entry
    for name, entry in BUILT.items()
    if name not in (*SWEEPS, *SUMMARIES, "sparling/fig3", "sparling/fig4", "sparling/alpha")
}
ALL_CLAIMS = {
    name: check
    for name, check in claims_in(claims).items()
    if not name.startswith(("sparling-fig3-", "sparling-fig4-"))
}
SPREAD = (0.7, 0.85, 1.0, 1.15, 1.3)
"""Factors of the seeds of a printed mean."""
ONE_RUN_EACH = ("sparling/fig10", "sparling/ablation")
"""Artefacts whose numbers are those of single runs."""


def row(metric, value, seed=0, **keys):
    """One row of a run at the final density, of DigitCircle and MT unless said otherwise."""
    keys = {"domain": "digitcircle", "method": "sparling_mt", "steps_above": 0, **keys}
    keys = {name: of for name, of in keys.items() if of is not None}
    named = [f"{keys[name]}" for name in ("domain", "method", "lambda", "start") if name in keys]
    return Row(run="-".join([*named, f"seed{seed}"]), keys=keys, seed=seed, metric=metric, value=value, **BASE)


def frame(*rows):
    return prepared(newest(rows_frame(list(rows))))


def seeds(metric, *of_seeds, **keys):
    return [row(metric, value, seed, **keys) for seed, value in enumerate(of_seeds)]


def as_published(name):
    """The rows of an artefact whose means are the numbers that the paper prints."""
    made = []
    for number, target in enumerate(target for target in ENTRIES[name].targets if target.value is not None):
        keys = {of: value for of, value in target.keys.items() if of not in ("seed", "run")}
        if target.metric == "error_ratio" or target.keys.get("seed") == "best":
            continue  # computed of the others
        if name in ONE_RUN_EACH:
            made.append(row(target.metric, target.value, int(target.keys.get("seed", number + 1)), **keys))
        else:
            made += [row(target.metric, target.value * factor, seed, **keys) for seed, factor in enumerate(SPREAD)]
    if name == "sparling/fig10":
        runs = [target for target in load_targets("sparling").of(name) if target.value is not None]
        made = [row(target.metric, target.value, "abcdefghi".index(target.keys["run"]) + 1) for target in runs]
    if name == "sparling/fig12":
        made = of_splicing({target.metric: target.value for target in ENTRIES[name].targets if target.keys == OURS})
    if name == "sparling/ablation":  # one run each in the paper: a second one, so that something is decided
        made += [row("e2ee", 70.0, 99, method="no_annealing", start=start) for start in derived.STARTS]
    return frame(*made)


OURS = {"method": "sparling_mt", "run": "1-4"}


def of_splicing(ours, chance=None, e2ee=(20.98, 20.98, 21.2, 19.39)):
    """Rows of figure 12: four runs with motif errors `ours`, ten random maps and predictions each."""
    chance = {"fne": 63.2, "fpe": 47.5, "ce": 98.5} | (chance or {})
    made = [row("e2ee", value, seed, domain="splicing") for seed, value in enumerate(e2ee, start=1)]
    for seed, factor in zip(range(1, len(e2ee) + 1), (0.99, 1.0, 1.0, 1.01), strict=False):
        made += [row(metric, value * factor, seed, domain="splicing") for metric, value in ours.items()]
        made += [
            row(metric, value * (0.995 + number / 900), seed, domain="splicing", method=method, repetition=number)
            for method, errors in (("matched_random", chance), ("random", {"e2ee": 100.0}))
            for metric, value in errors.items()
            for number in range(10)
        ]
    return made


def outcome(claim, rows):
    return ALL_CLAIMS[claim](rows).outcome


@pytest.mark.parametrize("name", ENTRIES)
def test_claims_hold_and_tables_agree_on_the_papers_own_numbers(name):
    rows = as_published(name)
    entry = ENTRIES[name]
    checked = entry.check_claims(lambda _: rows, "paper")
    assert {result.id: result.finding.outcome for result in checked} == dict.fromkeys(
        (statement.id for statement in entry.statements), "holds"
    )
    compared = [cell for cell in entries(entry, rows, "paper") if cell.target is not None]
    assert len(compared) == len(entry.targets)
    disagreeing = [cell for cell in compared if str(cell.verdict) not in ("agrees", "no printed number")]
    if name == "sparling/ablation":  # the best of nine is printed rounded up, and seed 6 never got there
        disagreeing = [cell for cell in disagreeing if cell.keys.get("seed") not in ("best", 6)]
        disagreeing = [cell for cell in disagreeing if cell.keys["method"] != "no_annealing"]
    assert not disagreeing


def test_every_claim_has_a_check_and_every_check_a_claim():
    stated = {entry.id for entry in load_targets("sparling").statements}
    assert stated == {*claims_in(claims, alpha)}
    assert not [statement.id for entry in ARTEFACTS for statement in entry.unchecked]
    ours = {*SWEEPS, *SUMMARIES, "sparling/harder"}
    assert {*BUILT} == {*load_targets("sparling").titles, *ours}


@pytest.mark.parametrize("claim", ALL_CLAIMS)
def test_claims_without_rows_are_undecided(claim):
    finding = ALL_CLAIMS[claim](rows_frame([]))
    assert (finding.outcome, finding.measured) == ("undecided", False)


@pytest.mark.parametrize("name", ENTRIES)
def test_tables_without_rows_say_what_is_missing(name):
    made = entries(ENTRIES[name], rows_frame([]), "small")
    assert {str(cell.verdict) for cell in made} <= {"missing"}
    assert len(made) == len(ENTRIES[name].targets)


# --- figure 5 --------------------------------------------------------------------------------------------------------


def of_figure5(ours, dense, retrained, domains=claims.DOMAINS):
    made = []
    for domain in domains:
        for method, values in zip(derived.END_TO_END, (ours, dense, retrained), strict=True):
            made += seeds("e2ee", *values, domain=domain, method=method)
    return frame(*made)


def test_figure_5_where_sparsity_costs_nothing_and_retraining_does_not_help():
    prefix = "sparling-fig5-"
    better = of_figure5((1.0, 1.1, 1.2), (2.0, 2.1, 2.3), (3.0, 3.1, 3.2))
    assert outcome(f"{prefix}sparling_worse_than_nonsparse", better) == "fails"
    assert outcome(f"{prefix}retrained_closes_gap", better) == "undecided"  # there is no gap
    apart = of_figure5((5.0, 5.1, 5.2), (2.0, 2.1, 2.3), (4.0, 4.1, 4.2))
    assert outcome(f"{prefix}sparling_worse_than_nonsparse", apart) == "holds"
    assert outcome(f"{prefix}retrained_closes_gap", apart) == "fails"
    assert outcome(f"{prefix}retrained_vs_nonsparse", apart) == "holds"  # Retrained's are above: nothing apart
    assert outcome(f"{prefix}retrained_vs_nonsparse", of_figure5((5.0, 5.1), (2.0, 2.1), (1.0, 1.1))) == "fails"
    one_domain = of_figure5((5.0, 5.1, 5.2), (2.0, 2.1, 2.3), (2.1, 2.2, 2.2), domains=("digitcircle",))
    for claim in ("sparling_worse_than_nonsparse", "retrained_closes_gap", "retrained_vs_nonsparse"):
        assert outcome(prefix + claim, one_domain) == "undecided"


def test_non_sparse_is_the_first_density_of_the_main_run_where_it_has_no_run_of_its_own():
    rows = frame(
        *(row("e2ee", 1.0 + steps, domain="latex_ocr", steps_above=steps) for steps in range(4)),
        *(row("e2ee", 1.0 + steps, seed=1, domain="latex_ocr", steps_above=steps) for steps in range(6)),
        *(row("e2ee", 9.0 + steps, steps_above=steps) for steps in range(4)),  # DigitCircle has runs of its own
        row("e2ee", 50.0, domain="audiomnist", split="train_speakers"),
        *(row("e2ee", 8.0 - steps, domain="audiomnist", split="test_speakers", steps_above=steps) for steps in (0, 2)),
    )
    shown = derived.end_to_end(rows)
    assert derived.values(shown, "e2ee", domain="latex_ocr", method="non_sparse").tolist() == [4.0, 6.0]
    assert derived.values(shown, "e2ee", domain="latex_ocr", method="sparling_mt").tolist() == [1.0, 1.0]
    assert derived.values(shown, "e2ee", domain="digitcircle", method="non_sparse").empty
    assert derived.values(shown, "e2ee", domain="audiomnist", method="non_sparse").tolist() == [6.0]
    made = {tuple(cell.keys.values()): cell.ours for cell in entries(ENTRIES["sparling/fig5"], rows, "paper")}
    assert made["audiomnist", "test_speakers", "sparling_mt"].centre == 8.0
    assert ("audiomnist", "train_speakers", "sparling_mt") not in made


@pytest.mark.parametrize("name", [*SWEEPS, *SUMMARIES[1:]])
def test_the_table_of_a_domain_stands_beside_the_numbers_of_several_figures(name):
    entry = BUILT[name]
    domain = name.removeprefix("sparling/")
    split = {"split": "test_speakers"} if domain == "audiomnist" else {}
    made = []
    for target in entry.targets:
        keys = {"domain": domain, **split, **target.keys}
        if target.keys.get("method") == "non_sparse":  # the main run at its first density
            keys |= {"method": "sparling_mt", "steps_above": 9}
        made += [row(target.metric, target.value, seed, **keys) for seed in range(2)]
    shown = entries(entry, frame(*made), "paper")
    assert {str(cell.verdict) for cell in shown} == {"agrees"}
    assert len(shown) == len(entry.targets)
    assert {"fpe", "e2ee", "perturbation_accuracy", "direct_error"} <= {cell.metric for cell in shown}


# --- L1, KL and ablations --------------------------------------------------------------------------------------------


def of_l1(density=1.0, ce=50.0, weights=derived.L1_WEIGHTS, ours=5.0):
    made = [*seeds("density", 0.1, 0.1), *seeds("ce", ours, ours), *seeds("fpe", ours, ours)]
    for weight in weights:
        made += [row(name, value, method="l1", **{"lambda": weight}) for name, value in
                 (("density", density), ("ce", ce), ("fpe", 99.0))]  # fmt: skip
    return frame(*made)


def test_l1_is_refuted_by_a_single_run_and_upheld_by_all_weights_only():
    density, good = "sparling-table1-density_not_reached", "sparling-table1-never_as_good"
    assert outcome(density, of_l1()) == "holds"
    assert outcome(density, of_l1(density=0.1)) == "fails"
    assert outcome(density, of_l1(density=0.05, weights=(0.1,))) == "fails"
    missing = ALL_CLAIMS[density](of_l1(weights=(0.1, 1.0)))
    assert missing.outcome == "undecided"
    assert "lambda 2, 5, 10 not measured" in missing.text
    assert outcome(good, of_l1(ce=51.0)) == "holds"
    assert outcome(good, of_l1(ce=49.0)) == "fails"
    assert outcome(good, of_l1(ours=10.0)) == "fails"  # no error can be ten times as high


def test_l1_regimes_need_a_seed_of_every_weight_as_in_the_paper():
    claim = "sparling-table1-two_regimes"

    def rows(low, high, n, weights=derived.L1_WEIGHTS):
        made = []
        for weight in weights:
            keys = {"method": "l1", "lambda": weight}
            made += seeds("e2ee", *[low if weight <= 1 else high] * n, **keys) + seeds("density", *[4.0] * n, **keys)
        return frame(*made)

    assert outcome(claim, rows(1.0, 70.0, 2)) == "holds"
    assert outcome(claim, rows(1.0, 40.0, 2)) == "fails"
    assert outcome(claim, rows(1.0, 70.0, 1)) == "holds"
    assert outcome(claim, rows(1.0, 40.0, 1)) == "fails"
    assert outcome(claim, rows(1.0, 70.0, 1, derived.L1_WEIGHTS[1:])) == "undecided"


def test_kl_may_not_fall_below_a_tenth_of_a_percent():
    def rows(lowest):
        return frame(
            *(row("density", 3.0, method="kl", **{"lambda": weight}) for weight in derived.KL_WEIGHTS[1:]),
            row("density", lowest, method="kl", **{"lambda": derived.KL_WEIGHTS[0]}),
        )

    assert outcome("sparling-kl-kl_floor", rows(0.2)) == "holds"
    assert outcome("sparling-kl-kl_floor", rows(0.05)) == "fails"


def without_batch_norm(errors, ratios, method):
    return seeds("e2ee", *errors, method=method) + seeds("density_over_minimum", *ratios, method=method)


def test_runs_that_never_reach_the_last_density_do_not_count_without_batch_norm():
    single = without_batch_norm((60.0, 70.0), (1.1, 1.1), "no_bn_st")
    claim = "sparling-ablation-bn_crucial"
    stopped = frame(*single, *without_batch_norm((71.0, 5.0, 72.0), (1.1, 4.0, 1.1), "no_bn_mt"))
    assert outcome(claim, stopped) == "holds"
    assert outcome(claim, frame(*single, *without_batch_norm((71.0, 5.0), (1.1, 1.1), "no_bn_mt"))) == "fails"
    none = ALL_CLAIMS[claim](frame(*single, *without_batch_norm((5.0, 5.0), (4.0, 4.0), "no_bn_mt")))
    assert none.outcome == "undecided"
    assert "none of 2 runs reached the last density" in none.text
    table = {tuple(cell.keys.values()): cell.ours for cell in entries(ENTRIES["sparling/ablation"], stopped, "paper")}
    assert table["no_bn_mt", "best"].centre == 71.0
    assert table["no_bn_mt",].centre == pytest.approx((1.1 + 4.0 + 1.1) / 3)  # how far all of them came is told
    assert table["no_bn_mt", 2].centre == 72.0
    assert table["no_bn_mt", 1] is None
    assert table["no_bn_st", "best"].centre == 60.0


def at_densities(ratios, method="sparling_mt", seed=0, **keys):
    """A run with these ratios of density / lowest possible, from its lowest on, and an E2EE of 10 + its number."""
    return [made for steps, ratio in enumerate(ratios) for made in
            (row("density_over_minimum", ratio, seed, method=method, steps_above=steps, **keys),
             row("e2ee", 10.0 + steps, seed, method=method, steps_above=steps, **keys))]  # fmt: skip


def test_a_run_that_stopped_above_the_last_density_has_no_value_there_and_counts_at_its_own_densities():
    """As in the authors' code, which looks checkpoints up by their density; 1.6 is a cut above the last one, 1.2."""
    rows = frame(*at_densities((1.2, 1.6, 2.14), seed=0), *at_densities((1.6, 2.14, 2.85), seed=1))
    by_density = {steps: per_seed(rows, "e2ee", steps_above=steps).to_dict() for steps in range(4)}
    assert by_density == {0: {0: 10.0}, 1: {0: 11.0, 1: 10.0}, 2: {0: 12.0, 1: 11.0}, 3: {1: 12.0}}
    final = rows[(rows["metric"] == "e2ee") & (rows["key_steps_above"] == 0)]
    assert final["value"].isna().tolist() == [False, True]
    assert per_seed(rows, "density_over_minimum", steps_above=0).to_dict() == {0: 1.2, 1: 1.6}, "how far they came"
    assert derived.reached(rows) == "\n(last density: 1 of 2 seeds)"
    assert derived.reached(frame(*at_densities((1.2, 1.6)))) == ""


@pytest.mark.parametrize(
    ("ratios", "cuts"),
    [((1.0, 4 / 3), 0), ((1.33333, 1.77777), 1), ((1.333, 1.777), 0), ((4.0,), 4), ((1.5, 3.0), 0), ((2.0, 4.0), 1)],
)
def test_missing_cuts_follow_from_the_lowest_density_and_the_factor_of_the_run(ratios, cuts):
    """The last two runs halve their density at each cut."""
    rows = frame(*at_densities(ratios))
    assert per_seed(rows, "e2ee", steps_above=cuts).to_dict() == {0: 10.0}
    undefined = rows[rows["value"].isna() & (rows["metric"] == "e2ee")]
    assert undefined["key_steps_above"].tolist() == list(range(cuts))


def test_tables_tell_how_many_seeds_reached_the_last_density():
    rows = frame(*at_densities((1.2, 1.6), seed=0), *at_densities((1.2, 1.6), seed=1), *at_densities((1.6,), seed=2))
    artefact = ENTRIES["sparling/fig5"]
    table = lines(entries(artefact, rows, "paper"), artefact)
    assert [line.texts[-2] for line in table if line.texts[0].startswith("DigitCircle, Sparling")] == ["2 of 3"]


def test_a_run_whose_code_measured_less_counts_among_those_that_did_not_reach_the_last_density():
    """Exchanges were measured by the code of the first two; of the other two, one did not reach the last density."""
    rows = frame(*at_densities((1.2,), seed=0), *at_densities((1.2,), seed=1), *at_densities((1.6,), seed=2),
                 *at_densities((1.2,), seed=3), *seeds("perturbation_accuracy", 90.0, 80.0))  # fmt: skip
    exchanges = rows[rows["metric"] == "perturbation_accuracy"]
    assert exchanges["seed"].tolist() == [0, 1, 2]
    assert exchanges["value"].isna().tolist() == [False, False, True]
    artefact = ENTRIES["sparling/fig6"]
    table = lines(entries(artefact, rows, "paper"), artefact)
    assert [line.texts[-2] for line in table if line.texts[0].startswith("DigitCircle")] == ["2 of 3"]
    assert derived.perturbation(rows, "digitcircle").to_dict() == {0: 90.0, 1: 80.0}


def test_claims_leave_out_runs_that_stopped_early():
    """Two seeds follow nine of ten exchanges; the third, which stopped early, follows none."""
    rows = frame(*at_densities((1.2,), seed=0), *at_densities((1.2,), seed=1), *at_densities((1.6,), seed=2),
                 *seeds("perturbation_accuracy", 90.0, 90.0, 0.0))  # fmt: skip
    assert derived.perturbation(rows, "digitcircle").to_dict() == {0: 90.0, 1: 90.0}
    assert "DigitCircle holds (accuracy 90, above 85, 2 seeds)" in ALL_CLAIMS["sparling-fig6-h_behaves"](rows).text


def test_retrained_counts_only_if_the_run_that_it_starts_from_reached_its_density():
    """On LaTeX-OCR it starts four cuts above the last density, elsewhere there."""

    def rows(domain):
        return frame(*(made for seed, last in enumerate((1.2, 1.6, 5.1)) for made in
                       (*at_densities((last,), seed=seed, domain=domain),
                        row("e2ee", 5.0, seed, domain=domain, method="retrained"))))  # fmt: skip

    assert list(derived.values(rows("digitcircle"), "e2ee", domain="digitcircle", method="retrained").index) == [0]
    assert list(derived.values(rows("latex_ocr"), "e2ee", domain="latex_ocr", method="retrained").index) == [0, 1]


def test_runs_without_annealing_and_baselines_stay_at_their_own_density():
    rows = frame(*at_densities((120.0,), method="non_sparse"), *at_densities((1.6,), method="no_annealing"))
    assert per_seed(rows, "e2ee", steps_above=0).tolist() == [10.0]
    assert len(rows) == 4


def test_of_the_projects_recorded_runs_those_count_that_are_less_than_a_cut_above_the_lowest_density():
    recorded, damaged = read_recorded(RECORDED)
    assert not damaged
    small = recorded[(recorded["paper"] == "sparling") & (recorded["scale"] == "small")]
    of_models = {"method": ("sparling_mt", "sparling_st", "no_bn_mt", "no_bn_st"), "steps_above": (0,)}
    main = select(small, of_models)
    ratio = main[main["metric"] == "density_over_minimum"].set_index("run")["value"].astype(float)
    error = main[main["metric"] == "e2ee"].set_index("run")["value"]
    final = select(derived.at_their_densities(small), of_models)
    values = final[final["metric"] == "e2ee"].set_index("run")["value"].loc[ratio.index]
    there = ratio < 4 / 3
    assert there.any()
    assert values[there].equals(error[values[there].index])
    assert values[~there].isna().all()


def test_annealing_is_judged_at_both_starts():
    def rows(final, penultimate):
        return frame(
            *seeds("e2ee", *final, method="no_annealing", start="final"),
            *seeds("e2ee", *penultimate, method="no_annealing", start="penultimate"),
            *seeds("density_over_minimum", *[1.5] * len(penultimate), method="no_annealing", start="penultimate"),
        )

    claim = "sparling-ablation-annealing_crucial"
    assert outcome(claim, rows((70.0, 70.0), (70.0, 71.0))) == "holds"
    assert outcome(claim, rows((70.0, 70.0), (7.0, 8.0))) == "fails"
    assert outcome(claim, rows((70.0,), (70.0,))) == "holds"
    assert outcome(claim, rows((70.0,), (7.0,))) == "fails"
    assert outcome(claim, rows((70.0, 70.0), ())) == "undecided"
    table = entries(ENTRIES["sparling/ablation"], rows((70.0,), (71.0,)), "paper")
    made = {tuple(cell.keys.values()): cell.ours for cell in table}
    assert made["no_annealing", "penultimate"].centre == 71.0  # it may well stay one cut above


def test_thresholds_compare_seed_by_seed():
    def rows(mt, st):
        both = {"sparling_mt": mt, "sparling_st": st}
        cells_of = [(metric, method) for metric in ("ce", "e2ee", "fpe") for method in both]
        return frame(*(made for metric, method in cells_of for made in seeds(metric, *both[method], method=method)))

    higher = rows((1.0, 1.1, 1.2, 1.3, 1.1), (20.0, 25.0, 30.0, 22.0, 27.0))
    assert outcome("sparling-fig11-st_worse_ce", higher) == outcome("sparling-fig11-st_worse_e2ee", higher) == "holds"
    assert outcome("sparling-fig11-st_better_fpe", higher) == "fails"
    assert outcome("sparling-fig11-st_better_fpe", rows((12.0, 0.02, 0.04, 0.05, 0.09), (0.002,) * 5)) == "holds"
    assert outcome("sparling-fig11-st_better_fpe", rows((12.0, 0.02, 0.04), (0.002,) * 3)) == "undecided"


# --- further evaluations ---------------------------------------------------------------------------------------------


def of_perturbation(**accuracy):
    return frame(*(made for domain, value in accuracy.items() for made in
                   seeds("perturbation_accuracy", value, value, domain=domain)))  # fmt: skip


def test_exchanges_are_followed_in_every_domain_and_in_an_order():
    follows, order = "sparling-fig6-h_behaves", "sparling-fig6-order"
    good = of_perturbation(digitcircle=99.0, audiomnist=93.0, latex_ocr=86.0)
    assert (outcome(follows, good), outcome(order, good)) == ("holds", "holds")
    other = of_perturbation(digitcircle=99.0, audiomnist=80.0, latex_ocr=86.0)
    assert (outcome(follows, other), outcome(order, other)) == ("fails", "fails")
    one = of_perturbation(digitcircle=99.0)
    assert (outcome(follows, one), outcome(order, one)) == ("undecided", "undecided")


def of_kinds(domain, shares, metric="diagonal_share"):
    return [
        made for symbol, value in shares.items() for made in seeds(metric, value, value, domain=domain, symbol=symbol)
    ]


def test_kinds_are_those_of_the_rows_and_the_excepted_ones_do_not_count():
    claim = "sparling-fig8-one_channel_each"
    digits = {"0": 99.0, "1": 98.0}
    latex = digits | {"plus": 99.0, "lparen": 40.0, "bar": 0.0}
    rows = [*of_kinds("digitcircle", digits), *of_kinds("audiomnist", digits)]
    assert outcome(claim, frame(*rows, *of_kinds("latex_ocr", latex))) == "holds"
    found = ALL_CLAIMS[claim](frame(*rows, *of_kinds("latex_ocr", latex | {"plus": 40.0})))
    assert found.outcome == "fails"
    assert "+, fraction 40" in found.text
    assert outcome(claim, frame(*rows)) == "undecided"


def test_bars_and_parentheses():
    def missed(**shares):
        return of_kinds("latex_ocr", shares, "none_share")

    never, sometimes = "sparling-fig8-bar_never", "sparling-fig8-parens_sometimes"
    assert outcome(never, frame(*of_kinds("latex_ocr", {"bar": 0.1}), *missed(bar=99.0))) == "holds"
    assert outcome(never, frame(*of_kinds("latex_ocr", {"bar": 60.0}), *missed(bar=30.0))) == "fails"
    assert outcome(sometimes, frame(*missed(lparen=5.0, rparen=50.0))) == "holds"
    assert outcome(sometimes, frame(*missed(lparen=5.0, rparen=99.0))) == "fails"
    assert outcome(sometimes, frame(*missed(lparen=5.0))) == "undecided"


def test_a_printed_pair_that_a_run_hardly_mistakes_counts_as_0_and_other_pairs_are_left_out():
    keys = {"domain": "latex_ocr", "symbol": "0"}
    rows = frame(
        *seeds("diagonal_share", 90.0, 95.0, to="aligned", **keys),
        row("other_channel_share", 6.0, seed=0, to="x", **keys),
        row("other_channel_share", 2.0, seed=1, to="6", **keys),
        row("other_channel_share", 40.0, seed=1, domain="latex_ocr", symbol="none", to="busiest_channel"),
    )
    made = {tuple(cell.keys.values())[1:]: cell.ours for cell in entries(ENTRIES["sparling/fig8"], rows, "paper")}
    assert (made["0", "x"].centre, made["0", "x"].n) == (3.0, 2)
    assert made["none", "busiest_channel"].centre == 40.0
    assert ("0", "6") not in made


def of_bins(loss):
    return frame(
        *(
            made
            for method in derived.THRESHOLDS
            for bins in derived.BINS
            for steps in derived.DENSITIES_BINNED
            for made in seeds("binning_delta", *[loss(bins, steps)] * 2, method=method, bins=bins, steps_above=steps)
        )
    )


def test_binning():
    trend, bits = "sparling-fig9-trend", "sparling-fig9-four_bits"
    falling = of_bins(lambda bins, steps: (1 + steps) / bins**2)
    assert (outcome(trend, falling), outcome(bits, falling)) == ("holds", "holds")
    rising = of_bins(lambda bins, steps: 5 - steps)
    assert (outcome(trend, rising), outcome(bits, rising)) == ("fails", "fails")
    few = falling[key(falling, "steps_above") < 3]
    assert outcome(trend, few) == "undecided"
    assert len([cell for cell in entries(ENTRIES["sparling/fig9"], falling, "paper") if cell.ours]) == 2 * 4 * 5


def of_errors(e2ee, **others):
    return frame(*seeds("e2ee", *e2ee), *(made for metric, values in others.items() for made in seeds(metric, *values)))


def test_errors_are_compared_across_seeds():
    related, unrelated = "sparling-fig10-ce_related", "sparling-fig10-fpe_unrelated"
    e2ee = (1.0, 2.0, 3.0, 4.0, 5.0)
    both = of_errors(e2ee, ce=(1.0, 2.2, 2.9, 4.1, 5.0), fpe=(3.0, 1.0, 4.0, 2.0, 3.5))
    assert (outcome(related, both), outcome(unrelated, both)) == ("holds", "holds")
    other = of_errors(e2ee, ce=(5.0, 4.0, 3.0, 2.0, 1.0), fpe=(1.0, 2.0, 3.0, 4.0, 5.0))
    assert (outcome(related, other), outcome(unrelated, other)) == ("fails", "fails")
    without_error = ALL_CLAIMS[related](of_errors(e2ee, ce=(0.0, 0.0, 1.0, 2.0, 3.0)))
    assert (without_error.outcome, "2 without an error skipped" in without_error.text) == ("undecided", True)
    flat = of_errors(e2ee, ce=(1.0,) * 5, fpe=(0.0,) * 5)
    assert (outcome(related, flat), outcome(unrelated, flat)) == ("undecided", "undecided")
    few = of_errors((1.0, 2.0), ce=(1.0, 2.0), fpe=(1.0, 2.0))
    assert (outcome(related, few), outcome(unrelated, few)) == ("undecided", "undecided")
    table = entries(ENTRIES["sparling/fig10"], both, "paper")
    assert {cell.keys["run"] for cell in table} == set(range(5))
    assert {str(cell.verdict) for cell in table} == {"no printed number"}


def of_direct(sparling, direct):
    made = []
    for test, ours, theirs in zip(derived.DIRECT_TESTS, sparling, direct, strict=True):
        made += seeds("direct_error", ours, ours, **test) + seeds(
            "direct_error", theirs, theirs, method="direct", **test
        )
    return frame(*made)


def test_single_motifs():
    better, shift, trivial = (f"sparling-table2-{name}" for name in ("direct_better", "shift_ratio", "direct_trivial"))
    good = of_direct((1.0, 6.0, 3.0, 5.0, 8.0), (0.1, 0.2, 0.1, 1.0, 4.0))
    assert {outcome(claim, good) for claim in (better, shift, trivial)} == {"holds"}
    other = of_direct((1.0, 6.0, 3.0, 5.0, 8.0), (0.1, 0.9, 4.0, 4.0, 1.0))
    assert {outcome(claim, other) for claim in (better, shift, trivial)} == {"fails"}
    perfect = of_direct((1.0, 6.0, 3.0, 0.0, 8.0), (0.1, 0.2, 0.1, 0.0, 4.0))
    assert outcome(shift, perfect) == "undecided"
    table2 = entries(ENTRIES["sparling/table2"], good, "paper")
    made = {(*entry.keys.values(), entry.metric): entry.ours for entry in table2}
    assert made["latex_ocr", "sparling_mt", "direct_error"].centre == 6.0  # not mixed with the row without + ( )
    assert made["latex_ocr", "without_plus_parens", "sparling_mt", "direct_error"].centre == 3.0
    assert made["audiomnist", "test_speakers", "error_ratio"].centre == pytest.approx(0.5)


@pytest.mark.parametrize("scale", ["smoke", "small", "paper"])
def test_alpha_is_counted_at_every_scale_and_agrees(scale):
    made = entries(ALPHA, rows_frame([]), scale)
    assert {str(cell.verdict) for cell in made if cell.target is not None} == {"agrees"}
    assert len([cell for cell in made if cell.target is not None]) == len(ALPHA.targets) == 10
    ours = {(*cell.keys.values(), cell.metric): cell.ours.centre for cell in made}
    assert ours["k", "alpha"] == pytest.approx(0.494, abs=5e-4)
    assert ours[6, "config_count"] == 1
    findings = ALPHA.check_claims(lambda _: rows_frame([]), scale)
    assert [result.finding.outcome for result in findings] == ["holds", "holds"]


# --- figures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.draw])
@pytest.mark.parametrize("measured", [True, False])
def test_figures_have_room_for_their_words_with_and_without_rows(name, measured):
    entry = ENTRIES[name]
    figure = entry.draw(as_published(name) if measured else rows_frame([]), entry.targets, "small")
    figure.draw_without_rendering()
    written = [axes.title for axes in figure.axes]
    written += [axis.label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis)]
    shown = [*figure.legends, *(text for text in written if text.get_text())]
    for box in (artist.get_window_extent() for artist in shown):
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1
    words = " ".join(text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text")))
    assert ("missing" in words) == (not measured)
    assert "paper (other scale)" in words


def test_bars_are_means_of_seeds_and_curves_lie_over_the_densities():
    bars = ENTRIES["sparling/fig5"].draw(as_published("sparling/fig5"), ENTRIES["sparling/fig5"].targets, "small")
    heights = [patch.get_height() for patch in bars.axes[0].patches]
    np.testing.assert_allclose(heights, [0.7373, 0.7373, 0.23, 0.23, 0.16, 0.16])
    curves = ENTRIES["sparling/fig9"].draw(of_bins(lambda bins, steps: bins + steps), [], "small")
    line = curves.axes[0].lines[1]  # after that at 0
    np.testing.assert_allclose(line.get_xdata(), [0.75**-steps for steps in range(5)])
    np.testing.assert_allclose(line.get_ydata(), 2 + np.arange(5))


def test_a_seed_without_an_error_stands_at_the_edge_of_a_logarithmic_axis():
    rows = of_errors((1.0, 2.0), fpe=(0.0, 0.5), fne=(1.0, 1.0), ce=(2.0, 3.0))
    axes = ENTRIES["sparling/fig10"].draw(rows, [], "small").axes[0]
    ours = np.concatenate([np.asarray(points.get_offsets()) for points in axes.collections[1:]])
    assert ours.tolist() == [[0.5, 2.0], [axes.get_xlim()[0], 1.0]]


def test_figure_8_shows_the_lowest_seed_of_each_domain_that_is_at_hand():
    rows = frame(*of_kinds("digitcircle", {"0": 99.0}), *of_kinds("audiomnist", {"0": 99.0}))
    saved = {"digitcircle-sparling_mt-seed1": {"confusion": np.diag([5, 6, 7, 0])}}
    draw = ENTRIES["sparling/fig8"].draw_arrays
    figure = draw(rows, lambda run: saved.get(run, {}), "small")
    assert [axes.get_title() for axes in figure.axes] == ["DigitCircle, seed 1, scale=small, % of each row"]
    assert draw(rows, lambda run: {}, "small") is None


def test_rows_of_one_seed_have_no_interval():
    rows = frame(row("perturbation_accuracy", 99.0))
    [cell] = [cell for cell in entries(ENTRIES["sparling/fig6"], rows, "paper") if cell.ours]
    assert (cell.ours.n, math.isnan(cell.ours.low)) == (1, True)
    assert str(cell.verdict).startswith("differs")


# --- figure 12 -------------------------------------------------------------------------------------------------------

PRINTED = {"fne": 63.75, "fpe": 34.0, "ce": 93.0}
SPLICING = "sparling-fig12-"


@pytest.mark.parametrize(
    ("change", "claim"),
    [
        ({"ce": 97.8}, "beats_chance_ce"),  # the highest run exceeds the interval of random maps
        ({"fpe": 48.0}, "fpe_better"),
        ({"fne": 50.0}, "fne_mixed"),
        ({"ce": 30.0}, "motif_error_high"),
    ],
)
def test_claims_about_splicing_can_fail(change, claim):
    assert outcome(SPLICING + claim, frame(*of_splicing(PRINTED))) == "holds"
    assert outcome(SPLICING + claim, frame(*of_splicing(PRINTED | change))) == "fails"


def test_claims_about_splicing_are_those_of_the_final_density():
    """Of all kinds of sites together."""
    final = [replace(row, keys=row.keys | {"steps_above": 0}) for row in of_splicing(PRINTED)]
    ours = [row for row in final if row.keys["method"] == "sparling_mt"]
    other = [replace(row, keys=row.keys | {"steps_above": 5}, value=99.0) for row in ours]
    other += [replace(row, keys=row.keys | {"site": "donor"}, value=0.0) for row in ours]
    for claim in ("beats_chance_ce", "fpe_better", "fne_mixed", "motif_error_high"):
        found = ALL_CLAIMS[SPLICING + claim](frame(*final, *other))
        assert found == ALL_CLAIMS[SPLICING + claim](frame(*of_splicing(PRINTED)))


def test_one_run_on_splicing_decides_nothing():
    rows = frame(*of_splicing(PRINTED, e2ee=(21.0,)))
    for claim in ("beats_chance_ce", "fpe_better", "fne_mixed", "motif_error_high"):
        assert outcome(SPLICING + claim, rows) == "undecided"


def test_the_table_of_figure_12_has_an_error_per_run_and_means_of_the_random_maps():
    made = entries(ENTRIES["sparling/fig12"], frame(*of_splicing(PRINTED)), "paper")
    ours = {(cell.keys["method"], cell.keys.get("run"), cell.metric): cell.ours for cell in made}
    assert ours["sparling_mt", 3, "e2ee"].centre == 21.2
    assert ours["sparling_mt", 3, "e2ee"].n == 1
    assert (ours["sparling_mt", "1-4", "ce"].centre, ours["sparling_mt", "1-4", "ce"].n) == (pytest.approx(93), 4)
    assert (ours["matched_random", None, "ce"].centre, ours["matched_random", None, "ce"].n) == (pytest.approx(98.5), 4)
    random = ours["random", None, "e2ee"]
    assert random.centre == pytest.approx(100, abs=0.1)
    assert random.n == 10  # all runs have the same predictions
    assert random.high - random.low > 0.1


def test_figure_12_shows_each_error_beside_that_of_chance():
    rows = frame(*of_splicing(PRINTED))
    figure = ENTRIES["sparling/fig12"].figure(rows, lambda _: {}, "small")
    filled = [[bar.get_height() for bar in axes.patches if not bar.get_hatch()] for axes in figure.axes]
    hollow = [[bar.get_height() for bar in axes.patches if bar.get_hatch()] for axes in figure.axes]
    printed = [[63.75, 63.2], [34, 47.5], [93, 98.5], [np.mean([20.98, 20.98, 21.2, 19.39]), 100]]
    assert hollow == [pytest.approx(pair) for pair in printed]
    assert filled == [pytest.approx(pair) for pair in printed]


def test_figure_12_is_of_the_final_density():
    final = [replace(row, keys=row.keys | {"steps_above": 0}) for row in of_splicing(PRINTED)]
    other = [
        replace(row, keys=row.keys | {"steps_above": 5}, value=99.0) for row in final if "repetition" not in row.keys
    ]
    figure = ENTRIES["sparling/fig12"].figure(frame(*final, *other), lambda _: {}, "small")
    heights = [next(bar.get_height() for bar in axes.patches if not bar.get_hatch()) for axes in figure.axes]
    assert heights == [pytest.approx(value) for value in (63.75, 34, 93, np.mean([20.98, 20.98, 21.2, 19.39]))]
