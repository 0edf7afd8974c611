"""The report in a browser: from file://, nothing missing, tables that sort, links that lead somewhere."""

import html
import json
import re
import subprocess
from dataclasses import replace
from urllib.parse import unquote

import numpy as np
import pytest

from sparseid.papers.registry import PAPERS
from sparseid.reporting.page import build_report
from sparseid.reporting.summary import finish_run
from sparseid.training.rows import write_rows

PROBE = """
<pre id="found"></pre>
<script>
addEventListener("load", () => {
  for (const part of document.querySelectorAll("details")) part.open = true;
  const written = [...document.body.querySelectorAll("*")].filter(element => element.getClientRects().length
    && [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim()));
  const tables = [...document.querySelectorAll("table.sortable")].map(table => {
    const column = number => [...table.tBodies[0].rows].map(row => row.cells[number].textContent.trim());
    return [...table.tHead.rows[0].cells].map((header, number) => {
      const orders = [column(number)], button = header.querySelector("button"), said = [header.ariaSort];
      button.focus();
      for (let click = 0; click < 2; click++) {
        document.activeElement.click();
        orders.push(column(number));
        said.push(header.ariaSort);
      }
      return {header: header.textContent, orders, said, focused: document.activeElement === button};
    });
  });
  const images = [...document.images].map(
    image => ({source: image.getAttribute("src"), width: image.naturalWidth, alt: image.alt}));
  const page = document.documentElement, found = JSON.stringify({
    tables, images,
    links: [...document.querySelectorAll("a[href]")].map(link => link.getAttribute("href")),
    ids: [...document.querySelectorAll("[id]")].map(element => element.id),
    headings: [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].map(heading => +heading.tagName[1]),
    captions: [...document.querySelectorAll("table")].map(table => table.caption?.textContent ?? ""),
    wide: page.scrollWidth > page.clientWidth && [...document.body.querySelectorAll("*")]
      .filter(element => element.getBoundingClientRect().right > page.clientWidth)
      .map(element => element.outerHTML.slice(0, 100)),
    letters: Math.min(...written.map(element => parseFloat(getComputedStyle(element).fontSize))),
    width: innerWidth,
  });
  document.getElementById("found").textContent = found;
  parent.postMessage(found, "*");
});
</script>
"""
"""Added to a page: every column's texts as made, after one click on its header and after two; and what is there."""

FRAME = """
<pre id="found"></pre>
<iframe src="probed.html" style="width: {width}px; height: 900px"></iframe>
<script>
addEventListener("message", message => document.getElementById("found").textContent = message.data);
</script>
"""
"""Shows a page as narrow as no window of the browser can be."""

OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--enable-logging=stderr",
    "--virtual-time-budget=10000",
    "--dump-dom",
]
NARROW = 400
"""Width of a small screen, in pixels."""
SMALLEST = 14
"""Of letters, in pixels."""
PUBLISHED = {paper.targets.url for paper in PAPERS.values() if paper.targets.url}


@pytest.fixture
def look(require_program, tmp_path):
    """Open a page in the browser, in a window or in a frame of a width; return what the probe and the console said."""
    chromium = require_program("chromium")

    def look(page, width=None):
        probed, frame = page.with_name("probed.html"), page.with_name("frame.html")
        probed.write_text(page.read_text().replace("</body>", PROBE + "</body>"))
        frame.write_text(FRAME.format(width=width))
        shown = probed if width is None else frame
        done = subprocess.run(
            [chromium, *OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", shown.as_uri()],
            capture_output=True,
            text=True,
            timeout=120,
        )
        probed.unlink()
        frame.unlink()
        found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
        assert found, done.stderr
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        return json.loads(html.unescape(found[1])), console

    return look


@pytest.fixture
def check(look):
    """Open a page; return what the probe found once everything that must hold of every page does."""

    def check(page, width=None):
        found, console = look(page, width)
        assert console == []
        assert width in (None, found["width"])
        assert found["letters"] >= SMALLEST
        assert [image for image in found["images"] if image["width"] == 0 or not image["alt"]] == []
        assert found["headings"][0] == 1
        assert found["headings"].count(1) == 1
        assert all(deeper <= level + 1 for level, deeper in zip(found["headings"], found["headings"][1:], strict=False))
        assert all(found["captions"])
        assert len(found["ids"]) == len(set(found["ids"]))
        assert not found["wide"]  # the page itself must not scroll sideways
        assert {link for link in found["links"] if "://" in link} <= PUBLISHED
        for link in set(found["links"]) - PUBLISHED:
            path, _, anchor = unquote(link).partition("#")
            target = page.parent / path if path else page
            assert target.is_file(), link
            assert not anchor or f'id="{anchor}"' in target.read_text(), link
        return found

    return check


def numbers(texts):
    """The numbers that texts begin with, as the page sorts them."""
    found = (re.match(r"[^\w-]{0,2}(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w.:-])", text) for text in texts)
    return [float(match[1]) for match in found if match]


def assert_sorts(columns):
    for column in columns:
        made, up, down = column["orders"]
        assert column["focused"]
        assert column["said"][1:] == ["ascending", "descending"]
        assert sorted(made) == sorted(up) == sorted(down)
        if not any(" / " in text for text in made):  # shares sort by their value, not by their first number
            assert numbers(up) == sorted(numbers(up))
            assert numbers(down) == sorted(numbers(down), reverse=True)
    assert sum(len(set(numbers(column["orders"][1]))) > 2 for column in columns) >= 2  # something was there to sort


def columns_of(found):
    return [column for table in found["tables"] for column in table]


def test_report_of_finished_runs(check, tmp_path, sparling_rows):
    for seed in range(12):
        folder = tmp_path / "outputs" / "small" / "sparling" / f"digitcircle-seed{seed}"
        folder.mkdir(parents=True)
        write_rows(folder / "result.json", sparling_rows(seed, commit="ab"[seed % 2] * 40))
        (folder / "status.json").write_text(json.dumps({"state": "done", "message": ""}))
    np.savez_compressed(folder / "arrays.npz", confusion=np.eye(11, dtype=int))
    finish_run(folder, page=False)
    report = build_report(tmp_path / "outputs").parent
    page = check(report / "sparling.html")
    assert {"small/sparling-fig4.svg", "small/sparling-run/confusion.svg"} <= {
        image["source"] for image in page["images"]
    }
    assert_sorts(columns_of(page))
    check(report / "sparling.html", NARROW)
    check(report / "index.html", NARROW)
    start = check(report / "index.html")
    assert {*PUBLISHED, *(f"{paper}.html" for paper in PAPERS), "rows.parquet"} <= set(start["links"])
    assert_sorts(columns_of(start))


def test_report_of_nothing(check, tmp_path):
    start = check(build_report(tmp_path / "outputs"), NARROW)
    assert len(start["tables"]) == 1
    for paper in PAPERS:
        assert check(tmp_path / "outputs" / "report" / f"{paper}.html")["tables"]


def test_shares_sort_by_their_value_and_blanks_last(check, tmp_path, sparling_rows, monkeypatch):
    ddl = PAPERS["ddl"]
    built = tuple(artefact for artefact in ddl.artefacts if artefact.id != "ddl/table1")
    monkeypatch.setitem(PAPERS, "ddl", replace(ddl, artefacts=built))
    for seed in range(3):
        folder = tmp_path / "small" / "sparling" / f"digitcircle-seed{seed}"
        folder.mkdir(parents=True)
        write_rows(folder / "result.json", sparling_rows(seed))
        (folder / "status.json").write_text(json.dumps({"state": "done", "message": ""}))
    start = check(build_report(tmp_path, papers=["sparling", "ddl"]))  # an artefact of ddl is not built: a blank
    column, *_ = [column for column in columns_of(start) if column["header"] == "runs done"]
    _, up, down = column["orders"]
    shares = [text for text in up if text]
    begun = [text for text in shares if not text.startswith("0 / ")]
    assert shares[-len(begun) :] == begun  # before them those of which nothing was run
    # figure 5, table 2, figures 3, 4, 6 and 8, table 1, figures 9 and 11, figure 10, the single run
    assert begun == ["3 / 29", "3 / 26", *["3 / 23"] * 4, "3 / 20", *["3 / 8"] * 2, "3 / 5", "1 / 1"]
    assert down[: len(begun)] == begun[::-1]
    assert set(up[len(shares) :]) == set(down[len(shares) :]) == {""}
