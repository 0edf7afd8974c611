"""The report in a browser: from file://, without a network, nothing missing, tables that sort."""

import json
import re
import subprocess

import numpy as np
import pytest

from sparseid.reporting.page import build_report
from sparseid.reporting.summary import finish_run
from sparseid.training.rows import write_rows

PROBE = """
<pre id="found"></pre>
<script>
addEventListener("load", () => {
  const tables = [...document.querySelectorAll("table.sortable")].map(table => {
    const column = number => [...table.tBodies[0].rows].map(row => row.cells[number].textContent.trim());
    return [...table.tHead.rows[0].cells].map((header, number) => {
      const orders = [column(number)];
      for (let click = 0; click < 2; click++) { header.click(); orders.push(column(number)); }
      return {header: header.textContent, orders};
    });
  });
  const images = [...document.images].map(image => ({source: image.getAttribute("src"), width: image.naturalWidth}));
  document.getElementById("found").textContent = JSON.stringify({tables, images});
});
</script>
"""
"""Added to the page: for every column its texts as made, after one click on its header and after two; every image."""

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


@pytest.fixture
def look(require_program, tmp_path):
    """Open a report in the browser; return what the probe found, and what the console said."""
    chromium = require_program("chromium")

    def look(page):
        probed = page.with_name("probed.html")
        probed.write_text(page.read_text().replace("</body>", PROBE + "</body>"))
        done = subprocess.run(
            [chromium, *OPTIONS, f"--user-data-dir={tmp_path / 'profile'}", probed.as_uri()],
            capture_output=True,
            text=True,
            timeout=120,
        )
        found = re.search(r'<pre id="found">(.*?)</pre>', done.stdout, re.DOTALL)
        assert found, done.stderr
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        return json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")), console

    return look


def numbers(texts):
    """The numbers that texts begin with, as the page sorts them."""
    found = (re.match(r"[^\d-]{0,2}(-?\d+(?:\.\d+)?)", text) for text in texts)
    return [float(match[1]) for match in found if match]


def test_report_of_finished_runs(look, tmp_path, sparling_rows):
    for seed in range(3):
        folder = tmp_path / "outputs" / "small" / "sparling" / f"digitcircle-seed{seed}"
        folder.mkdir(parents=True)
        write_rows(folder / "result.json", sparling_rows(seed))
        (folder / "status.json").write_text(json.dumps({"state": "done", "message": ""}))
    np.savez_compressed(folder / "arrays.npz", confusion=np.eye(11, dtype=int))
    finish_run(folder)
    found, console = look(tmp_path / "outputs" / "report" / "index.html")
    assert console == []
    assert {"small/sparling-fig4.svg", "small/run/confusion.svg"} <= {image["source"] for image in found["images"]}
    assert [image for image in found["images"] if image["width"] == 0] == []
    columns = [column for table in found["tables"] for column in table]
    for column in columns:
        made, up, down = column["orders"]
        assert sorted(made) == sorted(up) == sorted(down)
        assert numbers(up) == sorted(numbers(up))
        assert numbers(down) == sorted(numbers(down), reverse=True)
    assert sum(len(set(numbers(column["orders"][1]))) > 2 for column in columns) >= 2  # something was there to sort


def test_report_of_nothing(look, tmp_path):
    found, console = look(build_report(tmp_path / "outputs"))
    assert console == []
    assert [image for image in found["images"] if image["width"] == 0] == []
    assert found["tables"]
