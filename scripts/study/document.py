"""The document of RegCL's study, written from rows: ``STUDY.md``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import pandas as pd

from sparseid.config.identity import recipe_hash
from sparseid.config.schema import RunConfig
from sparseid.config.sweep import plan
from sparseid.papers.presets import variant_name
from sparseid.papers.regcl import closeness
from sparseid.papers.regcl.claims import CONFIRMED, REGULARISATIONS, SCREENED, auc
from sparseid.papers.regcl.study import (
    ENTRIES,
    ID,
    RELATIONS,
    above_paper,
    anchors,
    at,
    leads,
    minimum_norm,
)
from sparseid.papers.rows import per_replicate, select, values_of
from sparseid.papers.targets import load_targets

QUESTIONS: Mapping[str, tuple[str, ...]] = {
    "Mixing and gain": ("data.mixing", "data.gain_x1", "data.gain_x2"),
    "Columns of x1 and x2": ("data.dim_x1", "data.dim_x2"),
    "Depth and conditioning of the mixing networks": ("data.n_square_layers", "data.conditioning_quantile"),
    "Weight and form of the penalty": ("method.penalty_weight", "method.penalty_form"),
    "Head": ("method.head",),
    "Batch size, steps and learning rate": ("trainer.batch_size", "trainer.max_samples", "method.lr"),
}
"""Title of a table -> settings; a variant stands in the first one of which it changes a setting."""

EXPLAINED = (("supervised", "z2"), ("hybrid_contrastive", "z2"), ("hybrid_contrastive", "z1"))
"""Training and factor whose R2 stands beside the AUC."""

HEAD = f"""\
# RegCL: what the headline of table 1 depends on

Made from rows by `make study`; what is written by hand stands in `notes.md` beside it. Runs: `experiment={ID}`.

## What was asked

The paper reports that regularisation raises the AUC in every training, and that RegCL (hybrid training with
regularisation, read by the pseudo-inverse of the Jacobian) is above every other cell of table 1. With the time series
recovered from the authors' public example a regularised encoder must tend to the minimum-norm inverse of the mixing,
the AUC of whose own map is known without training. So: which reading of what the paper leaves open gives which of its
relations, and by how much? One setting is changed at a time, or a few together; the rest is that of table 1 at the
same scale.

J is the neuron gradient, J+ the pseudo-inverse Jacobian, both scored on the rows of z2. All numbers are means over data
sets (a seed and a number of latents; n of them) with a 95 % bootstrap interval, AUC and R2 in percent. A relation is a
difference of AUC on the same data sets: it *holds* where the interval is above 0, *fails* where it is below, and is
*open* where 0 lies in it.
"""

DASH = "\N{EN DASH}"
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, eq=False)
class Variant:
    """One variant of the preset."""

    text: str
    """Its overrides as in the preset; empty for the setting of table 1."""
    recipes: frozenset[str]
    run: RunConfig
    """The last of its runs: with the strongest penalty and the most latents."""

    @property
    def keys(self) -> frozenset[str]:
        """Keys of its overrides."""
        return frozenset(word.partition("=")[0] for word in self.text.split())

    def __str__(self) -> str:
        return variant_name(self.text, self.run)

    def of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of its runs."""
        return rows[rows["recipe"].isin(self.recipes)]


@cache
def variants(scale: str, experiment: str = ID) -> tuple[Variant, ...]:
    """Return the variants of a preset at a scale, in its order."""
    runs: dict[str, list[RunConfig]] = {}
    for planned in plan([f"experiment={experiment}", f"scale={scale}"]).trials:
        for text in planned.variants:
            runs.setdefault(text, []).append(planned.run)
    return tuple(Variant(text, frozenset(map(recipe_hash, own)), own[-1]) for text, own in runs.items())


def outcome(values: pd.Series) -> Literal["holds", "fails", "open"]:
    """Return whether leads are above zero: ``open`` if their interval contains zero or is undefined."""
    summary = load_targets("regcl").aggregation_of(ID).summarise(values)
    if summary.n < 2 or summary.low <= 0 <= summary.high:
        return "open"
    return "holds" if summary.low > 0 else "fails"


def study_text(rows: pd.DataFrame, scales: Sequence[str], notes: str) -> str:
    """Return the document.

    Parameters
    ----------
    rows
        Rows DataFrame, of any papers and scales.
    scales
        Those to show.
    notes
        Markdown of the section "What follows", taken as it is.
    """
    rows = rows[rows["paper"] == "regcl"]
    screened, confirmed = (rows["seed"].isin(seeds) for seeds in (SCREENED, CONFIRMED))
    parts = (
        (_readings("Confirmation", "regcl/confirm"), rows[confirmed]),
        (_readings("Screen", "regcl/screen"), rows[screened]),
        (_scale_section, rows[~screened & ~confirmed]),
    )
    sections = [section(own[own["scale"] == scale], scale) for section, own in parts for scale in scales]
    return "\n".join([HEAD, "## What follows\n", notes.strip(), "", *filter(None, sections)])


def _readings(title: str, experiment: str) -> Callable[[pd.DataFrame, str], str]:
    """Return the section of a preset of readings at a scale, the nearest first; empty if none is measured."""

    def section(rows: pd.DataFrame, scale: str) -> str:
        if rows.empty:  # to compose all readings takes half a minute
            return ""
        found = {variant: closeness.complete(variant.of(rows)) for variant in variants(scale, experiment)}
        leads = {variant: closeness.lead(own) for variant, own in found.items()}
        distances = {variant: closeness.distance(own) for variant, own in found.items() if len(leads[variant])}
        if not distances:
            return ""
        lines = [
            [
                f"`{variant}`",
                str(len(leads[variant])),
                _latents(found[variant]),
                f"{distances[variant]:.1f}",
                f"{closeness.raised(found[variant]):.0f}",
                _lead(leads[variant]),
                f"{closeness.clipped(found[variant]):.1f}",
            ]
            for variant in sorted(distances, key=lambda variant: distances[variant])
        ]
        raised = f"pairs raised, of {len(closeness.PAIRS)}"
        head = ["variant", "n", "latents", "distance", raised, "RegCL above every other cell"]
        text = (
            f"Runs: `experiment={experiment}`; {len(lines)} of {len(found)} readings. Distance: mean absolute "
            "difference to the paper over the 36 entries of table 1, in points of AUC. Pairs raised: those of an "
            "attribution method and a training whose mean AUC regularisation raises. Clipped: largest share of clipped "
            "outputs, in percent. "
            "Data sets with all 36 entries count; readings are only comparable over the same numbers of latents.\n"
        )
        return "\n".join([f"## {title}, scale={scale}\n", text, _table([*head, "clipped"], lines)])

    return section


def _latents(rows: pd.DataFrame) -> str:
    """Return the numbers of latents: ``4, 6`` or ``4 to 9``."""
    found = [int(latents) for latents in values_of(rows, "dim")]
    whole = len(found) > 2 and found == list(range(found[0], found[-1] + 1))
    return f"{found[0]} to {found[-1]}" if whole else ", ".join(map(str, found))


def _scale_section(rows: pd.DataFrame, scale: str) -> str:
    asked = variants(scale)
    rows = rows[rows["recipe"].isin(frozenset().union(*(variant.recipes for variant in asked)))]
    found = {variant: leads(variant.of(rows)) for variant in asked}
    measured = {
        variant: variant.of(rows) for variant, of_variant in found.items() if any(map(len, of_variant.values()))
    }
    found = {variant: found[variant] for variant in measured}
    parts = [f"## scale={scale}\n", _how(asked, rows, scale)]
    if measured:
        parts += ["### Relations\n", _relations(found), "### Distance to the paper\n", _distances(measured)]
        for question, keys in _by_question(measured).items():
            shown = {variant: own for variant, own in measured.items() if not variant.text or variant in keys}
            parts += [
                f"### {question}\n",
                _numbers(shown),
                _leads_by_dim({variant: found[variant] for variant in shown}),
            ]
    return "\n".join(parts)


def _how(asked: Sequence[Variant], rows: pd.DataFrame, scale: str) -> str:
    """Return the settings of the base and the provenance of the rows."""
    run = asked[0].run
    recipes = frozenset().union(*(variant.recipes for variant in asked))
    made = set(rows["recipe"]) & recipes
    method, trainer = run.method, run.trainer
    steps = trainer.max_samples // trainer.batch_size
    lines = [
        f"- {len(asked)} variants, {len(recipes)} stacks of {len(run.seeds)} data sets; rows of {len(made)} of them.",
        f"- The first variant is the setting of table 1: {run.data.samples:,} samples, {steps:,} steps with "
        f"batches of {trainer.batch_size:,}, Adam with a learning rate of {method.lr:g}, lambda "
        f"{method.penalty_weight:g}, the penalty taken at {method.penalty_samples or 'all'} references of a batch.",
    ]
    if len(rows):
        commits = ", ".join(f"`{commit[:9]}`" for commit in sorted(set(rows["commit"])))
        latents = ", ".join(map(str, values_of(rows, "dim")))
        lines += [
            f"- Data sets: {latents} latents; seeds {', '.join(map(str, sorted(set(rows['seed']))))}.",
            f"- Commits: {commits}{'; with uncommitted changes' if rows['dirty'].any() else ''}. "
            f"Devices: {', '.join(sorted(set(rows['device'])))}.",
        ]
    return "\n".join(lines) + "\n"


def _by_question(measured: Mapping[Variant, pd.DataFrame]) -> dict[str, list[Variant]]:
    found: dict[str, list[Variant]] = {}
    for variant in measured:
        if variant.text:
            titles = [title for title, keys in QUESTIONS.items() if variant.keys & set(keys)]
            found.setdefault(titles[0] if titles else "Other", []).append(variant)
    return {title: found[title] for title in (*QUESTIONS, "Other") if title in found}


def _relations(found: Mapping[Variant, Mapping[str, pd.Series]]) -> str:
    """Leads over all data sets of a variant, how many relations hold, and what that comes to in words."""
    outcomes = {variant: [outcome(values) for values in of_variant.values()] for variant, of_variant in found.items()}
    lines = [
        [
            f"`{variant}`",
            _data_sets(of_variant),
            *(_lead(values) for values in of_variant.values()),
            f"{outcomes[variant].count('holds')} of {len(RELATIONS)}",
        ]
        for variant, of_variant in found.items()
    ]
    sentences = []
    for place, name in enumerate(RELATIONS):
        having = [variant for variant in found if len(found[variant][name])]
        holding = [f"`{variant}`" for variant in having if outcomes[variant][place] == "holds"]
        failing = sum(outcomes[variant][place] == "fails" for variant in having)
        listed = f" ({', '.join(holding)})" if 0 < len(holding) < len(having) else ""
        text = f"{name[0].upper()}{name[1:]}: holds in {len(holding)} of {len(having)} variants{listed}"
        sentences.append(f"- {text}, fails in {failing}, open in {len(having) - len(holding) - failing}.")
    return _table(["variant", "n", *RELATIONS, "hold"], lines) + "\n" + "\n".join(sentences) + "\n"


def _distances(measured: Mapping[Variant, pd.DataFrame]) -> str:
    """Return the distance of each anchor to the paper's number, and the variant nearest to all of them."""
    lines, mean = [], {}
    for variant, own in measured.items():
        above = above_paper(own)
        if all(map(len, above.values())):
            mean[variant] = sum(abs(float(values.mean())) for values in above.values()) / len(above)
        size = f"{mean[variant]:.1f}" if variant in mean else DASH
        lines.append([f"`{variant}`", _data_sets(above), *(_signed(values) for values in above.values()), size])
    heads = [f"{name} ({value:.1f})" for name, value in anchors().items()]
    text = _table(["variant", "n", *heads, "mean distance"], lines)
    if mean:
        nearest = min(mean, key=lambda variant: mean[variant])
        text += f"\nNearest to the four numbers together: `{nearest}`, {mean[nearest]:.1f} points on average.\n"
    return f"Ours less the paper's number (in brackets, its mean over 4 to 9 latents), points of AUC.\n\n{text}"


def _numbers(shown: Mapping[Variant, pd.DataFrame]) -> str:
    """AUC of the entries, minimum-norm AUC and R2 for each number of latents."""
    names = {"supervised": "sup.", "hybrid_contrastive": "hybrid", "none": "", "regularised": "reg."}
    heads = [
        " ".join(filter(None, [names[training], names[regularisation], "J" if name == "neuron_gradient" else "J+"]))
        for name, training, regularisation in ENTRIES
    ]
    lines = []
    for variant, own in shown.items():
        columns = [minimum_norm(own), *(auc(own, *name) for name in ENTRIES)]
        r2 = [_r2(own, training, factor) for training, factor in EXPLAINED]
        for dim in values_of(own, "dim"):
            at_dim = [at(values, dim) for values in columns]
            pairs = [" / ".join(_mean(at(values, dim)) for values in pair) for pair in r2]
            lines.append([f"`{variant}`", str(dim), str(max(map(len, at_dim))), *map(_interval, at_dim), *pairs])
    r2_heads = [f"R2 of {factor}, {names[training]}: none / reg." for training, factor in EXPLAINED]
    return _table(["variant", "latents", "n", "minimum norm", *heads, *r2_heads], lines)


def _leads_by_dim(found: Mapping[Variant, Mapping[str, pd.Series]]) -> str:
    """Leads of the relations for each number of latents."""
    lines = []
    for variant, of_variant in found.items():
        for dim in sorted({dim for values in of_variant.values() for _, dim in values.index}):
            lines.append([f"`{variant}`", str(dim), *(_lead(at(values, dim)) for values in of_variant.values())])
    return _table(["variant", "latents", *RELATIONS], lines)


def _data_sets(found: Mapping[str, pd.Series]) -> str:
    """Write how many data sets the numbers are of: ``15``, or ``10 to 15`` where it is not the same for all."""
    sizes = sorted({len(values) for values in found.values()})
    return " to ".join(map(str, (sizes[0], sizes[-1]) if len(sizes) > 1 else sizes))


def _r2(rows: pd.DataFrame, training: str, factor: str) -> list[pd.Series]:
    """Return the R2 of a factor without and with regularisation."""
    of_factor = select(rows, {"training": (training,), "explained": (factor,)})
    parts = [select(of_factor, {"regularisation": (name,)}) for name in REGULARISATIONS]
    return [per_replicate(part, "r2", ("dim",)) for part in parts]


def _mean(values: pd.Series) -> str:
    return f"{values.mean():.1f}".replace("-", MINUS) if len(values) else DASH


def _interval(values: pd.Series) -> str:
    """Write a mean and its interval: ``88.7 [86.1, 91.0]``."""
    return _written(values, lambda value: f"{value:.1f}")


def _signed(values: pd.Series) -> str:
    """Write a difference and its interval: ``+4.2 [2.0, 6.5]``."""
    return _written(values, lambda value: f"{value:+.1f}".replace("-", MINUS))


def _lead(values: pd.Series) -> str:
    return f"{_signed(values)} {outcome(values)}" if len(values) else DASH


def _written(values: pd.Series, number: Callable[[float], str]) -> str:
    if values.empty:
        return DASH
    summary = load_targets("regcl").aggregation_of(ID).summarise(values)
    spread = f" [{number(summary.low)}, {number(summary.high)}]" if summary.n > 1 else ""
    return number(summary.centre) + spread


def _table(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"
