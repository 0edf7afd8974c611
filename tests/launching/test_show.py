"""``show``: runs are found by name, folder or ``all``, and their numbers printed again."""

import json

import pytest

from sparseid.errors import InputError
from sparseid.launching.main import main
from sparseid.launching.show import find_runs
from sparseid.training.rows import write_rows


@pytest.fixture
def outputs(tmp_path, sparling_rows):
    """Two finished runs, one that failed, and the repetition of one."""
    for name, state in (("digitcircle-one", "done"), ("digitcircle-two", "done"), ("audio", "failed")):
        folder = tmp_path / "small" / "sparling" / name
        folder.mkdir(parents=True)
        (folder / "status.json").write_text(json.dumps({"state": state, "message": "no speakers"}))
        if state == "done":
            write_rows(folder / "result.json", sparling_rows(0, run=name, recipe=name))
    (folder / "remake").mkdir()
    (folder / "remake" / "status.json").write_text('{"state": "running"}')
    return tmp_path


def test_a_run_is_found_by_its_name_the_beginning_of_it_and_its_folder(outputs):
    folder = outputs / "small" / "sparling" / "digitcircle-one"
    for name in ("digitcircle-one", "digitcircle-o", str(folder)):
        assert find_runs(name, outputs) == [folder]
    for name in ("all", str(outputs), str(folder.parent)):
        assert [found.name for found in find_runs(name, outputs)] == ["audio", "digitcircle-one", "digitcircle-two"]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("digit", "2 runs begin with digit:\n  digitcircle-one\n  digitcircle-two"),
        ("digitcircle-tow", "did you mean: digitcircle-two"),
        ("zzz", "no run and no folder is called zzz\n  python run.py show all lists those of"),
    ],
)
def test_a_name_that_fits_no_run_or_several_is_refused(outputs, name, said):
    with pytest.raises(InputError, match=said):
        find_runs(name, outputs)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="holds no run: name the folder"):
        find_runs(str(tmp_path), tmp_path)
    with pytest.raises(InputError, match="holds no run; outputs=FOLDER"):
        find_runs("all", tmp_path)


def test_the_command_prints_one_run_as_at_its_end_and_several_as_one_table(outputs, capsys):
    assert main(["show", "digitcircle-o", f"outputs={outputs}"]) == 0
    assert "DigitCircle" in capsys.readouterr().out
    assert main(["show", "all", f"outputs={outputs}"]) == 0
    said = capsys.readouterr()
    assert "digitcircle-one" in said.out
    assert f"not finished: {outputs / 'small' / 'sparling' / 'audio'} (failed)" in said.err
    assert main(["show", "all", "--csv", f"outputs={outputs}"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header == "experiment,scale,run,metric,unit,value,low,high,n,runs"
    assert "sparling,small,digitcircle-one,e2ee,percent,8.0,,,1,digitcircle-one" in lines


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["show", "audio"], "holds no finished run (state: failed): no speakers"),
        (["show"], "show needs other arguments"),
        (["show", "all", "seed=3"], "show has no setting seed"),
        (["experiment=digitcircle", "--csv"], "--csv belongs to show"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_the_remedy(outputs, capsys, arguments, said):
    assert main([*arguments, f"outputs={outputs}"]) == 2
    assert said in capsys.readouterr().err


def test_damaged_rows_are_an_error_of_the_run(outputs, capsys):
    (outputs / "small" / "sparling" / "digitcircle-one" / "result.json").write_text("{}")
    assert main(["show", "digitcircle-one", f"outputs={outputs}"]) == 2, "such a run counts as failed"
    assert "failed" in capsys.readouterr().err
