"""Write the generated parts of READMEs and recipes: tables and figures from recorded rows, presets from their heads.

A generated part stands between two comments, ``<!-- table: tbr/table3 paper -->`` and ``<!-- end -->``. There are

* ``table: ARTEFACT SCALE`` and ``figure: ARTEFACT SCALE``: the entries that the paper reports, and the figure;
* ``presets: PAPER``: its presets, their cost and what was found, from the heads of ``configs/experiment/*.yaml``;
* ``papers`` and ``overview``: claims and results of all papers, as a table and as a picture;
* ``api``: what ``import sparseid`` offers, from its docstrings: summaries and the beginnings of their examples.

In the recipes of ``docs/`` files of ``tests/example_extension`` are shown as they are. Figures go to ``docs/figures``.
"""

from __future__ import annotations

import inspect
import os
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

import sparseid
from sparseid.config.choices import choices, description
from sparseid.config.search_path import CONFIGS
from sparseid.files import write_text
from sparseid.measurements import Key
from sparseid.papers.drawing import BLUE, FAINT, INK, ORANGE, TEAL, legend_below, new_figure, tidy
from sparseid.papers.labels import label
from sparseid.papers.presets import of_artefact
from sparseid.papers.recorded import RECORDED
from sparseid.papers.registry import ARTEFACTS, PAPERS, artefact
from sparseid.printing import protect_output
from sparseid.reporting.aggregate import Entry, entries
from sparseid.reporting.collect import Collection, collect
from sparseid.reporting.figures import save_figure
from sparseid.reporting.tables import caption, lines, markdown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOT = CONFIGS.parent
FIGURES = ROOT / "docs" / "figures"
PAGES = tuple((ROOT / "src" / "sparseid" / "papers").glob("*/README.md"))
EXAMPLE = ROOT / "tests" / "example_extension"
PART = re.compile(r"(<!-- (\w+)(?:: (\S+)(?: (\S+))?)? -->\n).*?(<!-- end -->)", re.S)
SHOWN = re.compile(r"(^`([\w./-]+)`\n\n```(?!diff)\w+\n)(.*?)(^```$)", re.M | re.S)
"""A file in a recipe: its path, then its content."""
HEAD = re.compile(r"(Paper|Data|Cost|Expect|Numbers per scale): (.*)")
"""A field in the head of a preset."""
SECTION = re.compile(r"^(\S.*)\n((?:    .*\n)+)", re.M)
"""A heading in the package's docstring, and the lines of its names."""
NAMES = re.compile(r"^    (\w+(?:, \w+)*)(?=  |$)", re.M)
"""Names at the beginning of such a line."""
EXAMPLE_OF = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.M | re.S)
"""The first example in a docstring."""
DECIMALS = re.compile(r"\b\d+\.\d{3,}\b")
"""Coordinates of a drawing, in points: two decimals are enough, and the same on every machine."""


class Curve(NamedTuple):
    """A line of the overview: a metric of entries with some keys, against another key."""

    metric: str
    keys: dict[str, Key]
    label: str
    colour: str


class Panel(NamedTuple):
    """A panel of the overview: curves of one artefact at one scale, ours filled and the paper's numbers hollow."""

    artefact: str
    scale: str
    title: str
    x: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]


PANELS = (
    Panel(
        "sparling/fig4", "small", "Sparling: motif errors fall\nas activations get sparser",
        "steps_above", "cuts of the density still to come", "error, %",
        (
            Curve("fpe", {"domain": "digitcircle"}, "false positives", ORANGE),
            Curve("ce", {"domain": "digitcircle"}, "confusions", BLUE),
        ),
    ),
    Panel(
        "tbr/fig4", "paper", "TBR: latents are identified\nif few weights change",
        "S", "weights that change", "MCC",
        (Curve("mcc", {"method": "tbr"}, "TBR", BLUE), Curve("mcc", {"method": "baseline"}, "baseline", FAINT)),
    ),
    Panel(
        "regcl/table2", "small", "RegCL: regularisation\nimproves attribution maps",
        "attribution", "", "AUC, %",
        (
            Curve("auc", {"regularisation": "regularised"}, "regularised", BLUE),
            Curve("auc", {"regularisation": "none"}, "not regularised", FAINT),
        ),
    ),
    Panel(
        "sparse_vae/fig3", "paper", "Sparse VAE: disentangled\nunless factors correlate",
        "rho", "correlation of factors", "DCI",
        (
            Curve("dci", {"method": "sparse_vae_warm_up"}, "Sparse VAE", BLUE),
            Curve("dci", {"method": "vae"}, "VAE", FAINT),
        ),
    ),
    Panel(
        "ddl/table4", "paper", "DDL: sparse dependency\nrecovers the latents",
        "dim", "latents", "MCC",
        (
            Curve("mcc", {"method": "ours"}, "dependency sparsity", BLUE),
            Curve("mcc", {"method": "orojar"}, "OroJAR", FAINT),
            Curve("mcc", {"method": "hessian_penalty"}, "Hessian penalty", TEAL),
        ),
    ),
)  # fmt: skip


def generated(collection: Collection) -> dict[Path, str]:
    """Return the text of every generated file, and of every file with generated parts, from recorded results."""
    files: dict[Path, str] = {}
    for path in (ROOT / "README.md", *sorted([*(ROOT / "docs").glob("*.md"), *PAGES])):
        parts = Parts(collection, path)
        text = path.read_text(encoding="utf-8")
        text = PART.sub(parts.replace, text)
        files[path] = SHOWN.sub(_shown, text)
        files |= parts.figures
    return files


class Parts:
    """Writer of the generated parts of one file."""

    def __init__(self, collection: Collection, path: Path) -> None:
        self.collection, self.path = collection, path
        self.figures: dict[Path, str] = {}

    def replace(self, match: re.Match[str]) -> str:
        """Return a part with its present content."""
        begin, kind, *arguments, end = match.groups()
        content = getattr(self, kind)(*filter(None, arguments))
        return f"{begin}{content.strip()}\n{end}"

    def table(self, name: str, scale: str) -> str:
        """Return the entries of an artefact that the paper reports, with ours."""
        shown = artefact(name)
        found = self.entries(name, scale)
        reported = [entry for entry in found if entry.target is not None and entry.ours is not None]
        return markdown(lines(reported, shown), caption(shown.title, scale, shown.aggregation))

    def figure(self, name: str, scale: str) -> str:
        """Draw the figure of an artefact."""
        entry = artefact(name)
        drawn = entry.figure(self.rows(name, scale), lambda run: {}, scale)
        assert drawn is not None, name
        return self._save(drawn, f"{name.replace('/', '-')}-{scale}", f"{entry.title} (scale={scale})")

    def presets(self, paper: str) -> str:
        """Return the presets of a paper: purpose and cost as a table, then the findings."""
        heads = {name: _head(name) for name in choices("experiment") if _paper_of(name) == paper}
        table = [f"| `{name}` | {_purpose(name, paper)} | {head['Cost']} |" for name, head in heads.items()]
        found = [
            f"* `{name}`: {head['Expect']}"
            for name, head in heads.items()
            if not re.match(r"see |not measured|not available", head["Expect"])
        ]
        header = "| preset | shows | cost |\n| --- | --- | --- |\n"
        return header + "\n".join(table) + "\n\nWhat was found:\n\n" + "\n".join(found)

    def papers(self) -> str:
        """Return a table of the papers: claims that hold, and numbers that agree."""
        rows = ["| paper | claims at `small` | claims at `paper` | numbers at `paper` |", "| --- | --- | --- | --- |"]
        for name, paper in PAPERS.items():
            link = os.path.relpath(ROOT / "src" / "sparseid" / "papers" / name / "README.md", self.path.parent)
            name_label = label(name)
            title = paper.targets.title.removeprefix(f"{name_label}: ").removesuffix(f" ({name_label})")
            columns = [*(self._claims(name, scale) for scale in ("small", "paper")), self._numbers(name)]
            rows.append(f"| [{name_label}]({link}): {title[0].upper()}{title[1:]} | {' | '.join(columns)} |")
        return "\n".join(rows)

    def api(self) -> str:
        """Return the public names under the headings of the package's docstring: summary and example of each."""
        found = []
        for heading, listed in SECTION.findall(inspect.getdoc(sparseid) or ""):
            names = [name for line in NAMES.findall(listed) for name in line.split(", ")]
            found += [f"## {heading}", *map(_described, names)] if names else []
        return "\n\n".join(found)

    def overview(self) -> str:
        """Draw a panel for each paper."""
        figure, grid = new_figure(14, 3.9, columns=len(PANELS))
        for axes, panel in zip(grid[0], PANELS, strict=True):
            self._panel(axes, panel)
        from matplotlib.lines import Line2D

        handles = [
            Line2D([], [], color=INK, marker="o", markersize=5, linewidth=1.6),
            Line2D([], [], color=INK, marker="o", markersize=6, markerfacecolor="white", linestyle=""),
        ]
        legend_below(
            figure, handles, ["ours, with the paper's kind of interval", "the paper's number, where it prints one"]
        )
        return self._save(
            figure, "overview", "One result of each paper: ours, and the paper's numbers where it prints them"
        )

    def rows(self, name: str, scale: str) -> pd.DataFrame:
        """Return the rows of an artefact."""
        return of_artefact(self.collection.rows, name, scale)

    def entries(self, name: str, scale: str) -> list[Entry]:
        """Return the entries of an artefact."""
        return entries(artefact(name), self.rows(name, scale), scale)

    def _claims(self, paper: str, scale: str) -> str:
        rows_of = partial(self.rows, scale=scale)
        own = [entry for entry in PAPERS[paper].artefacts if not entry.reading_of]
        results = [result for entry in own for result in entry.check_claims(rows_of, scale)]
        decided = Counter(result.finding.outcome for result in results if result.finding.outcome != "undecided")
        if not decided:
            return "not run"
        return f"{decided['holds']} hold, {decided['fails']} fail"

    def _numbers(self, paper: str) -> str:
        words = Counter(
            entry.verdict.word
            for name in ARTEFACTS
            if ARTEFACTS[name].paper == paper
            for entry in self.entries(name, "paper")
        )
        agree, differ = words["agrees"], words["differs"]
        return f"{agree} agree, {differ} differ" if agree + differ else "not run"

    def _panel(self, axes: Axes, panel: Panel) -> None:
        tidy(axes)
        found = self.entries(panel.artefact, panel.scale)
        for curve in panel.curves:
            keys = curve.keys.items()
            mine = [entry for entry in found if entry.metric == curve.metric and keys <= dict(entry.keys).items()]
            ours = _points(panel.x, [(entry, entry.ours) for entry in mine if entry.ours is not None])
            low, high = ([getattr(summary, end) for summary in ours] for end in ("low", "high"))
            axes.fill_between(ours.index, low, high, color=curve.colour, alpha=0.15, linewidth=0)
            axes.plot(
                ours.index,
                [summary.centre for summary in ours],
                "o-",
                color=curve.colour,
                markersize=4,
                label=curve.label,
            )
            paper = _points(
                panel.x,
                [(entry, entry.target.value) for entry in mine if entry.target and entry.target.value is not None],
            )
            axes.plot(paper.index, paper, "o", color=curve.colour, markerfacecolor="white", markersize=6)
        if isinstance(ours.index[0], str):
            axes.set_xticks(range(len(ours)), ours.index, rotation=40, ha="right", fontsize=8)
        else:
            axes.set_xticks(ours.index[:: 1 + len(ours) // 8])
        if panel.x == "steps_above":
            axes.invert_xaxis()
        bottom, top = axes.get_ylim()
        axes.set_ylim(bottom, top + 0.36 * (top - bottom))  # room for the legend
        axes.set_title(f"{panel.title}\n(scale={panel.scale})", fontsize=9.5, color=INK)
        axes.set_xlabel(panel.x_label, fontsize=9)
        axes.set_ylabel(panel.y_label, fontsize=9)
        axes.legend(fontsize=8, frameon=False, loc="upper right", borderaxespad=0)

    def _save(self, figure: Figure, name: str, alternative: str) -> str:
        from matplotlib import rc_context

        with tempfile.TemporaryDirectory() as folder, rc_context({"svg.fonttype": "none"}):
            [path] = save_figure(figure, Path(folder), name, ["svg"])
            text = path.read_text(encoding="utf-8")
        self.figures[FIGURES / path.name] = DECIMALS.sub(lambda number: f"{float(number[0]):.2f}", text)
        return f"![{alternative}]({os.path.relpath(FIGURES / path.name, self.path.parent)})"


def _points(x: str, values: Sequence[tuple[Entry, Any]]) -> pd.Series:
    """Return values by the key `x` of their entry: numbers in order, names as they are written."""
    points = pd.Series({entry.keys[x]: value for entry, value in values}, dtype=object)
    numeric = all(isinstance(key, int | float) for key in points.index)
    return points.sort_index() if numeric else points.rename(index=label)


def _described(name: str) -> str:
    """Return a public name with the summary and the first example of its docstring."""
    text = inspect.getdoc(getattr(sparseid, name)) or ""
    example = EXAMPLE_OF.search(text)
    assert example, f"{name} has no example"
    return f"### `{name}`\n\n{text.partition(chr(10))[0]}\n\n```python\n{example[0]}\n```"


def _shown(match: re.Match[str]) -> str:
    original = EXAMPLE / match[2]
    return match[1] + (original.read_text(encoding="utf-8") if original.is_file() else match[3]) + match[4]


def _paper_of(preset: str) -> str:
    return ARTEFACTS[preset].paper if preset in ARTEFACTS else preset.partition("/")[0]


def _purpose(preset: str, paper: str) -> str:
    text = description("experiment", preset).removeprefix(f"{label(paper)}, ").removeprefix("study: ")
    return text[0].upper() + text[1:]


def _head(preset: str) -> dict[str, str]:
    """Return the fields of a preset's head, each in one line."""
    fields: dict[str, str] = {}
    name = ""
    for line in (CONFIGS / "experiment" / f"{preset}.yaml").read_text(encoding="utf-8").splitlines():
        if not line.startswith("# "):
            name = ""
        elif found := HEAD.fullmatch(text := line.removeprefix("# ")):
            name = found[1]
            fields[name] = found[2]
        elif name:
            fields[name] += f" {text}"
    return fields


def main() -> None:
    """Write what has changed."""
    with tempfile.TemporaryDirectory() as nothing:
        files = generated(collect(Path(nothing), recorded=RECORDED))
    for path, text in files.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_text(path, text)
            print(f"written: {path.relative_to(ROOT)}")
    for path in FIGURES.glob("*.svg"):
        if path not in files:
            path.unlink()
            print(f"removed: {path.relative_to(ROOT)}")


if __name__ == "__main__":
    protect_output()
    main()
