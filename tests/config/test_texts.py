"""Settings of type text keep the text that was written."""

from dataclasses import replace

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser

from sparseid.config.compose import compose
from sparseid.config.messages import parse_override
from sparseid.config.sweep import plan
from sparseid.config.texts import quoted
from sparseid.errors import ConfigError

NAMES = ["1.10", "1e3", "1_000", "007", "+5", "1.", "-1.50", "true", "TRUE", "False", "NaN", "inf", "1000", "1.5", "a"]

OF_YAML = ["010", "12:30", "yes", "no", "0x10"]


@pytest.fixture
def table(tmp_path):
    """Return the overrides of a run on a table with a column for each name, and for each that it could become."""
    names = [*NAMES, *OF_YAML, "1.1", "1000.0", "7", "5", "1.0", "-1.5", "True", "nan"]
    rows = [[f"tissue{row % 2}", *(str(row * place) for place in range(1, len(names) + 1))] for row in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(",".join(row) for row in [["environment", *names], *rows]))
    return ["experiment=tbr/arrays", "scale=smoke", f"data.path={tmp_path / 't.csv'}", "trainer.batch_size=4"]


@pytest.fixture
def preset(tmp_path):
    """Return a function that composes, or plans, from a preset with a body."""

    def overrides(body):
        folder = tmp_path / "presets" / "experiment"
        folder.mkdir(parents=True, exist_ok=True)
        start = (
            "# @package _global_\ndefaults:\n- tbr/arrays\n- override /experiment/at@_global_: tbr/arrays.${scale}\n"
        )
        (folder / "mine.yaml").write_text(start + body)
        return ["experiment=mine", f"hydra.searchpath=[{folder.parent}]"]

    return overrides


def test_names_that_look_like_numbers_are_kept_in_overrides(table):
    names = [name for name in NAMES if name != "1.10"]
    run = compose([*table, f"data.ignore=[{' , '.join(names)}]", "data.label=1.10", "data.ids= 1.1 "])
    assert (run.data.label, run.data.ignore, run.data.ids) == ("1.10", names, "1.1")


def test_they_are_kept_in_sweeps_and_variants(table):
    planned = plan([*table, "data.label=1e3,1.10", "data.ignore=[7],[1_000]", "variants=['','data.ids=007']"])
    assert [(trial.run.data.label, trial.run.data.ignore, trial.run.data.ids) for trial in planned.trials] == [
        (label, [ignored], ids) for ids in ("", "007") for label in ("1e3", "1.10") for ignored in ("7", "1_000")
    ]
    assert replace(compose(planned.trials[-1].overrides), variants=[]) == planned.trials[-1].run


def test_they_are_kept_in_presets_and_their_sweeps(table, preset):
    names = [name for name in [*NAMES, *OF_YAML] if name not in ("1.10", "1e3", "no")]
    body = f"data:\n  ids: no\n  label: 1.10\n  ignore: [{', '.join(names)}]\n"
    run = compose([*preset(body), *table[1:]])
    assert (run.data.label, run.data.ignore, run.data.ids) == ("1.10", names, "no")
    swept = "hydra:\n  mode: MULTIRUN\n  sweeper:\n    params:\n      data.label: 1.10\n      data.ids: 007,1e3\n"
    planned = plan([*preset(swept), *table[1:]])
    assert [(trial.run.data.label, trial.run.data.ids) for trial in planned.trials] == [
        ("1.10", "007"),
        ("1.10", "1e3"),
    ]


def test_numbers_and_truths_of_other_settings_are_what_they_were(table, preset):
    body = "seeds: [1_0]\nmethod:\n  lr: 1e-3\ndata:\n  label: a\n  standardise: off\n  held_out: .25\n"
    for overrides in (
        preset(body),
        [table[0], "data.label=a", "seeds=[1_0]", "method.lr=1e-3", "data.standardise=FALSE", "data.held_out=.25"],
    ):
        run = compose([*overrides, *table[1:]])
        assert (run.seeds, run.method.lr, run.data.standardise, run.data.held_out) == ([10], 1e-3, False, 0.25)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("data.label=1.10", 'data.label="1.10"'),
        ("++data.label= 1.10 ", '++data.label= "1.10"'),
        ("data.label=1.5", "data.label=1.5"),
        ("data.label='1.10'", "data.label='1.10'"),
        ("data.label=1.10 kg", "data.label=1.10 kg"),
        ("data.ids=a:1.10", "data.ids=a:1.10"),
        ("data.label=choice(1.10,1e3)", 'data.label=choice("1.10","1e3")'),
        ("data.label=sort(1.10,1.9)", 'data.label=sort("1.10","1.9")'),
        ("data.label=range(1.0,3.00)", "data.label=range(1.0,3.00)"),
        ("+data={label: 1.10, held_out: 0.20}", '+data={label: "1.10", held_out: 0.20}'),
        ("hydra.sweeper.params.data.label=1.10", 'hydra.sweeper.params.data.label="1.10"'),
        ("seed=007", "seed=007"),
        ("trainer.precision=32", "trainer.precision=32"),
        ("data.label=", "data.label="),
        ("data.label=null", "data.label=null"),
    ],
)
def test_quotes_are_set_where_a_text_would_become_another(written, expected):
    assert quoted(written) == expected
    assert parse_override(written).input_line == expected
    OverridesParser.create().parse_override(expected)


def test_a_list_is_no_text_and_a_text_no_list(table):
    with pytest.raises(ConfigError, match=r"data\.label must be text, not"):
        compose([*table, "data.label=[1.10]"])
    with pytest.raises(ConfigError, match=r"data\.ignore"):
        compose([*table, "data.label=a", "data.ignore=1.10"])
