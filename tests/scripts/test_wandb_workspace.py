import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # pytest's importlib mode knows no siblings
from wandb_file import offline_folder, records, values

PROJECT = Path(__file__).resolve().parents[2]


def command(*arguments, home):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WANDB_")}
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        cwd=home,
        env=environment | {"HOME": str(home), "NETRC": str(home / "netrc"), "OMP_NUM_THREADS": "1"},
    )


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The folder of a smoke run that was logged offline."""
    home = tmp_path_factory.mktemp("home")
    outputs = tmp_path_factory.mktemp("outputs")
    made = command(
        PROJECT / "run.py", "experiment=digitcircle", "scale=smoke", "logger=wandb", f"outputs={outputs}", home=home
    )
    assert made.returncode == 0, made.stdout + made.stderr
    return outputs


def dashboard(outputs, home, *arguments):
    script = PROJECT / "scripts" / "wandb_workspace.py"
    return command(script, "sparling", "--scale", "smoke", "--outputs", outputs, *arguments, home=home)


def test_its_panels_show_what_the_run_has_logged(outputs, tmp_path):
    done = dashboard(outputs, tmp_path, "--dry-run", "--experiment", "digitcircle")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)["section"]
    panels = {s["name"]: [p["config"] for p in s["panels"]] for s in made["panelBankConfig"]["sections"]}
    assert list(panels) == ["Paper and ours", "Final numbers", "Curves", "Figures"]

    found = records(offline_folder(outputs))
    points = [values(record.history.item) for kind, record in found if kind == "history"]
    curves = {name for point in points for name in point if not name.startswith(("_", "figures/", "samples"))}
    finals = {name for kind, r in found if kind == "summary" for name in values(r.summary.update) if "final/" in name}
    pictures = {"/".join(name.split("/")[:2]) for point in points for name in point if name.startswith("figures/")}
    assert {panel["metrics"][0] for panel in panels["Curves"]} == curves
    assert curves >= {"val_density", "val_exact_accuracy"}
    bars = [name.removeprefix("summary_metrics.") for panel in panels["Final numbers"] for name in panel["metrics"]]
    # nothing is exchanged where no kind is told apart
    assert finals <= set(bars) <= finals | {"final/steps_above=0/perturbation_accuracy"}
    assert len(bars) == len(set(bars))
    assert "final/steps_above=0/e2ee" in finals
    assert {panel["mediaKeys"][0] for panel in panels["Figures"]} == pictures
    assert "figures/motifs" in pictures
    assert {panel["xAxis"] for panel in panels["Curves"]} == {"samples"}
    assert [panel["metrics"][0] for panel in panels["Curves"] if panel.get("yLogScale")] == ["val_density"]

    (table,) = [panel["value"] for panel in panels["Paper and ours"]]
    assert "| DigitCircle | E2EE, % | 0.737 [0.47, 1.15] |" in table

    (runs,) = made["runSets"]
    assert [(f["key"]["name"], f["op"], f["value"]) for f in runs["filters"]["filters"]] == [
        ("paper", "=", "sparling"),
        ("scale", "=", "smoke"),
        ("experiment", "=", "digitcircle"),
    ]
    assert runs["grouping"] == [{"section": "run", "name": "jobType"}]


def test_all_artefacts_of_the_paper_have_their_table(outputs, tmp_path):
    made = json.loads(dashboard(outputs, tmp_path, "--dry-run").stdout)["section"]
    tables = [panel["config"]["value"] for panel in made["panelBankConfig"]["sections"][0]["panels"]]
    assert sum("Figure 4" in table for table in tables) == 1
    assert len(tables) >= 3


def test_who_is_not_logged_in_is_told_what_to_do(outputs, tmp_path):
    done = dashboard(outputs, tmp_path)
    assert done.returncode == 2
    assert "wandb login" in done.stderr
    assert "--dry-run" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_runs_there_is_nothing_to_show(tmp_path):
    done = dashboard(tmp_path / "none", tmp_path, "--dry-run")
    assert done.returncode == 2
    assert "logger=wandb" in done.stderr
