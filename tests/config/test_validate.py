import numpy as np
import pytest

from sparseid.config.compose import compose
from sparseid.config.validate import missing_files, problems
from sparseid.errors import ConfigError


def message(*overrides):
    with pytest.raises(ConfigError) as caught:
        compose(overrides)
    return str(caught.value)


@pytest.mark.parametrize(
    ("override", "key"),
    [
        ("seed=-1", "seed"),
        ("logger.name=tensorboard", "logger.name"),
        ("trainer.batch_size=0", "trainer.batch_size"),
        ("trainer.max_samples=0", "trainer.max_samples"),
        ("trainer.precision=16", "trainer.precision"),
        ("trainer.accelerator=tpu", "trainer.accelerator"),
        ("trainer.strategy=fsdp", "trainer.strategy"),
        ("trainer.devices=3", "trainer.devices"),
        ("trainer.save_every_s=-1", "trainer.save_every_s"),
        ("trainer.stop_before_s=-1", "trainer.stop_before_s"),
        ("data.min_digits=6", "data.min_digits"),
        ("data.classes=4", "data.classes"),
        ("data.classes=11", "data.classes"),
        ("data.min_radius=13", "data.min_radius"),
        ("data.max_radius=14", "data.max_radius"),
        ("data.margin=5", "data.margin"),
        ("data.jitter=2", "data.jitter"),
        ("data.jitter=-1", "data.jitter"),
        ("data.canvas=30", "data.canvas"),
        ("data.pre_noise=5", "data.pre_noise"),
        ("data.glyphs=tal", "data.glyphs"),
        ("data.post_noise=1.5", "data.post_noise"),
        ("data.post_noise=nan", "data.post_noise"),
        ("data.min_gap=0.95", "data.min_gap"),
        ("method.encoder.stem_kernel=4", "method.encoder.stem_kernel"),
        ("method.encoder.stride=0", "method.encoder.stride"),
        ("method.sparse.thresholds=one", "method.sparse.thresholds"),
        ("method.sparse.batch_norm=layer", "method.sparse.batch_norm"),
        ("method.sparse.momentum=2", "method.sparse.momentum"),
        ("method.decoder.positions=sine", "method.decoder.positions"),
        ("method.decoder.heads=5", "method.decoder.heads"),
        ("method.decoder.heads=0", "method.decoder.heads"),
        ("method.decoder.dropout=-0.1", "method.decoder.dropout"),
        ("method.schedule.start_density=1e-4", "method.schedule.start_density"),
        ("method.schedule.start_density=0", "method.schedule.start_density"),
        ("method.schedule.cut_factor=1", "method.schedule.cut_factor"),
        ("method.schedule.cut_factor=0", "method.schedule.cut_factor"),
        ("method.schedule.check_every=100", "method.schedule.check_every"),
        ("method.evaluation.items=0", "method.evaluation.items"),
        ("method.evaluation.decode_steps=5", "method.evaluation.decode_steps"),
        ("method.optimizer.lr=-1", "method.optimizer.lr"),
        ("method.optimizer.lr=inf", "method.optimizer.lr"),
        ("trainer.save_every_s=inf", "trainer.save_every_s"),
        ("method.optimizer.betas=[0.9]", "method.optimizer.betas"),
        ("method.optimizer.betas=[1.0]", "method.optimizer.betas"),
        ("method.decoder.pool=21", "method.decoder.pool"),
        ("method.decoder.positions=frames", "method.decoder.positions"),
        ("method.encoder.channels=-1", "method.encoder.channels"),
        ("method.evaluation.channel_map=majority", "method.evaluation.channel_map"),
    ],
)
def test_impossible_value_is_refused_and_blamed_on_the_override(override, key):
    value = override.split("=")[1]
    text = message(override)
    assert f"{key} = {value}" in text or f"{key} = {float(value)}" in text
    assert f"(command line: {override})" in text


@pytest.mark.parametrize(
    ("overrides", "key"),
    [
        ("experiment=latex_ocr method.evaluation.decode_steps=5", "method.evaluation.decode_steps"),
        ("experiment=latex_ocr data.longest=9", "data.longest"),
        ("experiment=latex_ocr method.sparse.thresholds=single", "method.sparse.accumulate_motifs"),
        ("method.sparse.kind=l1 method.sparse.thresholds=single", "method.sparse.thresholds"),
        ("method.training=retrained method.retrained.steps_above=17", "method.retrained.steps_above"),
    ],
)
def test_settings_that_clash_are_refused(overrides, key):
    assert f"{key} = " in message(*overrides.split())


def test_clash_names_both_settings_and_where_each_came_from():
    text = message("data.min_digits=9")
    assert "data.min_digits = 9  (command line: data.min_digits=9)" in text
    assert "data.max_digits = 5  (configs/experiment/at/digitcircle.small.yaml)" in text


def test_a_setting_is_blamed_on_its_file_and_not_on_another_choice_of_its_group():
    text = message("trainer=ddp", "trainer.devices=3")
    assert "trainer.batch_size = 32  (configs/experiment/at/digitcircle.small.yaml)" in text
    assert "trainer.devices = 3  (command line: trainer.devices=3)" in text
    assert "trainer.devices = 2  (configs/trainer/ddp.yaml)" in message("trainer=ddp", "trainer.batch_size=33")


def test_setting_in_a_typed_mapping_is_blamed_on_it():
    assert "(command line: method.schedule={cut_factor: 2})" in message("method.schedule={cut_factor: 2}")


def test_all_problems_are_listed_at_once():
    text = message("seed=-1", "trainer.batch_size=0", "data.classes=4")
    assert text.index("seed must") < text.index("trainer.batch_size must") < text.index("data.classes")


def test_density_below_one_position_says_what_to_do():
    batch = "trainer.batch_size=64"  # a map of 20 x 20 positions
    text = message("method.schedule.min_density=1e-5", batch)
    assert "25600 positions" in text
    assert "min_density to 3.91e-05 or more" in text
    compose(["method.schedule.min_density=1e-5", "method.sparse.accumulate_motifs=10", batch])
    compose(["method.schedule.min_density=4e-5", batch])


def test_own_glyph_file_is_measured(tmp_path):
    glyphs = tmp_path / "glyphs.txt"
    glyphs.write_text("".join(f"{digit}\n#{'#' * digit}\n" for digit in range(10)))  # boxes up to 3 x 12
    text = message(f"data.glyphs={glyphs}")
    assert "data.margin must be at least jitter + half a box = 7" in text
    assert f"(command line: data.glyphs={glyphs})" in text
    compose([f"data.glyphs={glyphs}", "data.margin=7"])


def test_fewer_samples_than_one_batch():
    batch = "trainer.batch_size=64"
    assert "not even one batch would be trained" in message("trainer.max_samples=63", batch)
    compose(["trainer.max_samples=64", batch])


@pytest.mark.parametrize("more", [("two_stage",), ("warm_start", "method.warm_up_samples=5000")])
def test_the_rotation_is_refused_on_a_tree_of_cell_types(more):
    text = message("experiment=tbr/fig5a", "hydra.mode=RUN", f"method.estimator={more[0]}", *more[1:])
    assert "a tree of cell types has too few: set method.estimator=joint" in text
    assert f"(command line: method.estimator={more[0]})" in text


def test_settings_of_single_cells_are_checked_but_not_whether_the_atlas_is_there(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    monkeypatch.delenv("GTEX_H5AD", raising=False)
    trials = ("experiment=tbr/fig5a", "hydra.mode=RUN")
    assert "data.S must be between 0 and" in message(*trials, "data.S=6")
    assert "data.source must be" in message(*trials, "data.source=web")
    assert missing_files(compose([*trials, "scale=small"])) == []
    [problem] = missing_files(compose([*trials, "scale=paper"]))
    assert "the atlas does not exist" in problem.text
    assert missing_files(compose([])) == []


def test_a_file_of_ones_own_is_asked_for_when_it_runs():
    for scale in ("smoke", "small", "paper"):
        [problem] = missing_files(compose(["experiment=regcl/arrays", f"scale={scale}"]))
        assert problem.keys == ("data.path",)
        assert "your npz file" in problem.text


def test_a_file_that_cannot_be_used_is_refused_with_its_override(tmp_path):
    path = tmp_path / "series.npz"
    np.savez(path, observations=np.full((90, 5), np.nan), labels=np.arange(90.0))
    said = message("experiment=regcl/arrays", "scale=smoke", f"data.path={path}")
    assert "observations is NaN" in said
    assert f"command line: data.path={path}" in said
    rng = np.random.default_rng(0)
    np.savez(path, observations=rng.normal(size=(90, 5)), labels=100 * rng.normal(size=90))
    said = message(
        "experiment=regcl/arrays", "scale=smoke", f"data.path={path}", "data.latents=3", "method.training=supervised"
    )
    assert "outputs are bounded by method.head_scale=5" in said


def test_contrastive_training_needs_two_samples_a_batch():
    one = [
        "experiment=regcl/table1",
        "scale=smoke",
        "data.latents=4",
        "trainer.batch_size=1",
        "method.penalty_weight=0",
    ]
    assert "set trainer.batch_size to at least 2" in message(*one, "method.training=hybrid")
    compose([*one, "method.training=supervised"])


@pytest.mark.parametrize(
    ("paper", "said"),
    [("sparlin", "did you mean: sparling"), ("../../../evil", "papers: "), ("ours", "a preset of your own")],
)
def test_the_paper_on_the_command_line_is_one_of_the_papers(paper, said):
    text = message(f"paper={paper}")
    assert f"paper={paper} is not a paper" in text
    assert said in text


@pytest.mark.parametrize(
    ("paper", "said"),
    [("sparlin", "did you mean: sparling"), ("../evil", "names a folder"), (".hidden", "names a folder"), ("ours", "")],
)
def test_the_paper_of_a_preset_may_be_new_but_is_neither_a_path_nor_a_typo(paper, said):
    run = compose(["scale=smoke"])
    run.paper = paper
    found = [problem.text for problem in problems(run)]
    assert len(found) == bool(said)
    assert said in "".join(found)
