"""Mistakes in defaults lists, which Hydra overlooks or explains without the file."""

import shutil

import pytest

from sparseid.config.compose import compose
from sparseid.config.search_path import CONFIGS
from sparseid.errors import ConfigError


@pytest.fixture
def configs(tmp_path):
    """A copy of our YAML files, and a function that replaces a text in one of them."""
    folder = tmp_path / "configs"
    shutil.copytree(CONFIGS, folder)

    def edit(file, old, new):
        text = (folder / file).read_text(encoding="utf-8")
        assert text.count(old) == 1
        (folder / file).write_text(text.replace(old, new), encoding="utf-8")
        return folder

    return edit


@pytest.mark.parametrize(
    ("file", "old", "new", "problem", "hint"),
    [
        (
            "experiment/digitcircle.yaml",
            "- override /method: sparling",
            "- overide /method: sparling",
            "unknown word 'overide' in the defaults list: - overide /method: sparling",
            "did you mean: override",
        ),
        (
            "experiment/digitcircle.yaml",
            "- override /method: sparling",
            "- overide /method: tbr  # by Hydra: multiple values",
            "unknown word 'overide' in the defaults list: - overide /method: tbr",
            "did you mean: override",
        ),
        (
            "experiment/digitcircle.yaml",
            "- override /method: sparling",
            "- /method: tbr",
            "method is selected already",
            "write - override /method: tbr",
        ),
        (
            "experiment/digitcircle.yaml",
            "- override /data: digit_circle",
            "- overide /data: digit_circle",
            "unknown word 'overide' in the defaults list: - overide /data: digit_circle",
            "did you mean: override",
        ),
        (
            "experiment/digitcircle.yaml",
            "- override /data: digit_circle",
            "- /data: digit_circle",
            "the defaults list has data: digit_circle behind an override",
            "write - override /data: digit_circle, or move the entry before the overrides",
        ),
        *[
            (
                "experiment/digitcircle.yaml",
                "- override /method: sparling",
                f"- {entry}",
                f"the defaults list has - {entry}",
                "write - override /method: sparling, with a colon and a space before the choice",
            )
            for entry in ("override /method:sparling", "override /method sparling", "override /method = sparling")
        ],
        (
            "experiment/digitcircle.yaml",
            "- override /method: sparling",
            "- override method: sparling",
            "the defaults list has - override method: sparling, without a slash: of the folder experiment/method",
            "write - override /method: sparling",
        ),
        (
            "experiment/digitcircle.yaml",
            "- override /method: sparling",
            "- override/method: sparling",
            "the defaults list has - override/method: sparling",
            "write - override /method: sparling",
        ),
        (
            "experiment/digitcircle.yaml",
            "- override /method: sparling",
            "- override /method:",
            "the defaults list has - override /method:",
            "write the name of a method after the colon, or remove the line",
        ),
        (
            "experiment/digitcircle.yaml",
            "- override /method: sparling",
            "- self",
            "the defaults list has - self",
            "write - _self_",
        ),
        (
            "method/sparling.yaml",
            "- _self_",
            "- _Self_",
            "the defaults list has - _Self_",
            "write - _self_",
        ),
        (
            "experiment/digitcircle.yaml",
            "- override /method: sparling",
            "- a preset, and another",
            "the defaults list has - a preset, and another",
            "an entry is - override /group: choice, - /group/file or - _self_",
        ),
        (
            "experiment/digitcircle.yaml",
            "- override /method: sparling",
            "- 5",
            "the defaults list has - 5",
            "an entry is - override /group: choice, - /group/file or - _self_",
        ),
        (
            "experiment/digitcircle.yaml",
            "- override /method: sparling",
            "- {override /method: sparling, override /scale: small}",
            "the defaults list has - override /method: sparling; - override /scale: small in one entry",
            "begin each with a hyphen, on a line of its own",
        ),
        (
            "experiment/digitcircle.yaml",
            "- override /method: sparling",
            "- override /method: [sparling, tbr]",
            "the defaults list has - override /method: ['sparling', 'tbr']",
            "choose one method; method=sparling,tbr on the command line is a sweep",
        ),
        (
            "experiment/digitcircle.yaml",
            "defaults:",
            "defalts:",
            "unknown key defalts",
            "did you mean: defaults",
        ),
        (
            "experiment/digitcircle.yaml",
            "defaults:\n  - override /method: sparling\n  - override /data: digit_circle",
            "defaults: {override /method: sparling, override /data: digit_circle}",
            "the defaults list is not a list",
            "begin every entry with a hyphen: - override /method: tbr",
        ),
        (
            "config.yaml",
            "- scale: small",
            "- optinal scale: small",
            "unknown word 'optinal' in the defaults list: - optinal scale: small",
            "did you mean: optional",
        ),
    ],
)
def test_a_mistake_in_a_defaults_list_is_named_with_its_line(configs, file, old, new, problem, hint):
    folder = configs(file, old, new)
    text = (folder / file).read_text(encoding="utf-8")
    line = text.count("\n", 0, text.index(new) + len(new)) + 1
    with pytest.raises(ConfigError) as refused:
        compose(["scale=smoke"], folder)
    assert str(refused.value).splitlines() == [problem, f"  from: configs/{file}, line {line}", f"  {hint}"]


def test_a_file_without_the_line_that_makes_it_a_preset_is_told_to_begin_with_it(configs):
    file = "experiment/digitcircle.yaml"
    for header, place in ("# @package _globl_", "_globl_"), ("# Our preset", "experiment"):
        folder = configs(file, "# @package _global_", header)
        with pytest.raises(ConfigError) as refused:
            compose(["scale=smoke"], folder)
        assert str(refused.value).splitlines() == [
            f"method is selected for {place}, not for the run",
            f"  from: configs/{file}",
            "  begin the file with the line # @package _global_",
        ]
        configs(file, header, "# @package _global_")


@pytest.mark.parametrize("word", ["override", "optional override"])
def test_two_overrides_of_a_group_in_one_file_are_refused_with_both_lines(configs, word):
    """The last would win without a word."""
    file, old = "experiment/digitcircle.yaml", "- override /method: sparling"
    folder = configs(file, old, f"{old}\n\n  # another one\n  - {word} /method: tbr")
    number = (folder / file).read_text(encoding="utf-8").splitlines().index(f"  {old}") + 1
    with pytest.raises(ConfigError) as refused:
        compose(["scale=smoke"], folder)
    assert str(refused.value).splitlines() == [
        f"method is selected twice in the defaults list: {old} (line {number}), - {word} /method: tbr "
        f"(line {number + 3})",
        f"  from: configs/{file}, line {number + 3}",
        "  keep one of these lines",
    ]


def test_words_that_hydra_knows_are_let_alone(configs):
    both = "- optional override /data: digit_circle  # a comment: with a colon"
    folder = configs("experiment/digitcircle.yaml", "- override /data: digit_circle", both)
    assert compose(["scale=smoke"], folder).data.name == "digit_circle"


@pytest.mark.parametrize("key", ["data.latent", "method.latent", "data.lattents"])
def test_keys_of_other_data_sets_and_methods_are_not_suggested(key):
    """Sparling on DigitCircle has neither data.latents nor method.latents, TBR on its simulation has data.latents."""
    with pytest.raises(ConfigError, match=f"unknown key {key}") as caught:
        compose(["experiment=digitcircle", "scale=smoke", f"{key}=3"])
    assert "latents" not in caught.value.hint


def test_the_nearest_key_of_the_chosen_data_set_is_suggested():
    with pytest.raises(ConfigError, match=r"unknown key data.latent\b") as caught:
        compose(["experiment=tbr/fig4", "scale=smoke", "data.latent=3"])
    assert caught.value.hint == "did you mean: data.latents"


def test_a_preset_given_as_a_file_is_named_without_its_ending():
    with pytest.raises(ConfigError, match="is a file, not a name") as caught:
        compose(["experiment=digitcircle.yaml", "scale=smoke"])
    assert caught.value.hint == "write experiment=digitcircle"


@pytest.mark.parametrize(
    ("overrides", "problem", "fitting"),
    [
        (
            ["method=tbr"],
            "method=tbr does not fit experiment=digitcircle, which sets method.encoder",
            "tbr/arrays, tbr/fig3",
        ),
        (
            ["experiment=tbr/fig4", "data=digit_circle"],
            "data=digit_circle does not fit experiment=tbr/fig4, which sets data.depth",
            "digitcircle, sparling/ablation",
        ),
    ],
)
def test_a_method_or_data_set_that_does_not_fit_the_preset_is_said_to(overrides, problem, fitting):
    with pytest.raises(ConfigError) as refused:
        compose([*overrides, "scale=smoke"])
    first, source, hint = str(refused.value).splitlines()
    assert first.startswith(problem)
    assert source.startswith(f"  from: command line: {overrides[-1]}; configs/experiment/at/")
    assert hint.startswith(f"  experiments with {overrides[-1]}: {fitting}")
