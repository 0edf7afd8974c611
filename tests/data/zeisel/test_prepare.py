import re
from pathlib import Path

import numpy as np
import pytest
import torch

from sparseid.data.zeisel.datamodule import ZeiselData, _note
from sparseid.data.zeisel.prepare import correlated_with, noise, prepared, quantile_normalised
from sparseid.data.zeisel.reader import CLASS, fetch, read_original, read_sample
from sparseid.data.zeisel.settings import ZeiselSettings
from sparseid.errors import InputError
from sparseid.settings import settings_errors

CELLS = 40


@pytest.fixture(autouse=True)
def _own_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))


def settings(**changes):
    published = {"genes": 5, "noisy_genes": 8, "min_molecules": 25, "correlation": 0.2091, "correlated_genes": 3}
    return ZeiselSettings(**(published | {"noise_exponent": -0.56, "noise_floor": 0.61} | changes))


@pytest.fixture
def counts():
    """20 genes in two classes of cells: ten follow the classes, five do not, the rest is rare, constant or silent."""
    generator = np.random.default_rng(0)
    kind = np.repeat([0, 1], CELLS // 2)
    means = np.where(kind == np.repeat([0, 1], 5)[:, None], generator.uniform(4, 30, (10, 1)), 1)
    rest = [generator.poisson(8, (5, CELLS)), np.eye(2, CELLS), np.full((2, CELLS), 3), np.zeros((1, CELLS))]
    return np.concatenate([generator.poisson(means), *rest]).astype(np.int32)


@pytest.fixture
def write(tmp_path, counts):
    """Write a file as the laboratory's and return its path."""

    def to_file(name="cells.txt", values=counts, drop=None):
        kind = np.repeat(["interneurons", "microglia"], CELLS // 2)
        about = {
            "tissue": ["ca1hippocampus"] * CELLS,
            "group #": range(CELLS),
            "cell_id": [f"cell{n}" for n in range(CELLS)],
            CLASS: kind,
            "level2class": kind,
        }
        lines = ["\t".join(["", label, *map(str, line)]) for label, line in about.items() if label != drop]
        lines.append("\t" * (CELLS + 1))
        lines += ["\t".join([f"Gene{g}", str(g % 3), *map(str, row)]) for g, row in enumerate(values)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return tmp_path / name

    return to_file


def test_quantile_normalisation_is_that_of_the_r_package():
    """The example that the method is usually shown with: ties get the mean of their ranks."""
    counts = np.array([[5, 4, 3], [2, 1, 4], [3, 4, 6], [4, 2, 8]])
    expected = [[17 / 3, (14 / 3 + 17 / 3) / 2, 2], [2, 2, 3], [3, (14 / 3 + 17 / 3) / 2, 14 / 3], [14 / 3, 3, 17 / 3]]
    np.testing.assert_allclose(quantile_normalised(counts), expected)


def test_three_equal_counts_share_the_middle_rank():
    counts = np.array([[1, 0], [1, 5], [1, 7]])
    np.testing.assert_allclose(quantile_normalised(counts), [[3, 0.5], [3, 3], [3, 4]])


def test_correlations_are_counted_as_numpy_has_them(counts):
    varying = counts[:15]
    expected = (np.corrcoef(varying) > 0.2091).sum(axis=1)
    assert correlated_with(varying, 0.2091).tolist() == expected.tolist()
    assert (expected[:10] >= 4).all()


def test_a_gene_without_variance_goes_with_none(counts):
    found = correlated_with(counts, 0.2091)
    assert found[17:].tolist() == [0, 0, 0]  # constant and silent ones, not even with themselves
    assert found[:15].tolist() == correlated_with(counts[:17], 0.2091)[:15].tolist()


def test_blocks_of_genes_change_nothing(counts, monkeypatch):
    whole = correlated_with(counts, 0.1)
    monkeypatch.setattr("sparseid.data.zeisel.prepare.BLOCK", 3)
    assert correlated_with(counts, 0.1).tolist() == whole.tolist()


def test_noise_is_the_distance_from_the_curve():
    counts = np.array([[0, 2], [0, 8], [4, 4]])
    expected = [
        0 - np.log2(1 + 0.61),
        0 - np.log2(4**-0.56 + 0.61),
        -np.inf,
    ]  # the first two vary as much as their mean
    np.testing.assert_allclose(noise(counts, -0.56, 0.61), expected)


def test_the_steps_one_after_the_other(write, counts):
    made = prepared(settings(source="original", path=str(write())))
    seen = [g for g in range(20) if counts[g].sum() >= 25]
    assert seen == [*range(15), 17, 18]
    correlation = np.corrcoef(counts[:15])
    together = [g for g in range(15) if (correlation[g] > 0.2091).sum() >= 3]
    mean, sd = counts[together].mean(axis=1), counts[together].std(axis=1)
    excess = np.log2(sd / mean) - np.log2(mean**-0.56 + 0.61)
    noisy = sorted(np.array(together)[np.argsort(-excess)[:8]])
    normalised = quantile_normalised(counts[noisy])
    kept = sorted(np.argsort(-normalised.std(axis=1))[:5])
    assert made.genes.tolist() == [f"Gene{noisy[k]}" for k in kept]
    np.testing.assert_allclose(made.matrix, normalised[kept].T, rtol=1e-6)
    assert made.classes.tolist() == ["interneurons"] * 20 + ["microglia"] * 20
    assert np.array_equal(prepared(settings(source="original", path=str(write()))).matrix, made.matrix)  # kept


def refused(path, **changes):
    with pytest.raises(InputError) as caught:
        prepared(settings(source="original", path=str(path), **changes))
    return str(caught.value)


def test_too_few_genes_are_refused(write):
    assert "fewer than data.noisy_genes=300: lower it" in refused(write(), noisy_genes=300)
    assert "fewer than data.genes=9: lower it" in refused(write(), genes=9)
    steps = refused(write(), noisy_genes=300, correlation=0.9, min_molecules=10**6)
    assert "Of 20 genes, 0 have data.min_molecules=1000000 molecules or more; of those, 0 have" in steps
    assert "above data.correlation=0.9 with data.correlated_genes=3 genes" in steps


def test_genes_of_one_name_are_told_of(write, counts):
    path = write(values=np.concatenate([counts[:10], counts[:1]]))
    assert not ZeiselData(settings(source="original", path=str(path)), [0], 8).remarks[2:]
    path.write_text(re.sub(r"^Gene[0-9]\t", "Same\t", path.read_text(), flags=re.MULTILINE))
    told = ZeiselData(settings(source="original", path=str(path)), [0], 8).remarks[2]
    assert re.fullmatch(r"several genes have the same name \(1: Same\): each is a feature of its own", told)


def test_a_constant_gene_is_never_kept(write, counts):
    path = write(values=np.concatenate([counts[:10], np.full((4, CELLS), 5)]))
    assert "10 varying genes remain, fewer than data.noisy_genes=14" in refused(path, noisy_genes=14)


def test_a_file_in_which_no_gene_varies_is_told_of(write):
    path = write(values=np.full((9, CELLS), 5))
    assert f"no gene of {path} varies" in refused(path)


def test_the_laboratorys_file_is_the_papers():
    assert _note(3005, 7) == ""


def test_files_in_another_form_are_refused(write, tmp_path):
    path = write(drop=CLASS)
    assert "no line level1class with a blank line after it" in refused(path)
    whole = write().read_text()
    for name, text, said in (
        ("cut", whole[:-30], ", line 26, 'Gene19': 26 counts for 40 cells"),
        ("only a name", whole + "Gene20", ", line 27, 'Gene20': 0 counts for 40 cells"),
        ("words", whole.replace("Gene3\t0\t", "Gene3\t0\tmany"), ", line 10, 'Gene3': 'many3', of cell 1, is no"),
        ("fractions", whole.replace("Gene3\t0\t", "Gene3\t0\t1.5"), "'1.53', of cell 1, is not a whole number"),
        ("negative", whole.replace("Gene15\t0\t1", "Gene15\t0\t-1"), "'-1', of cell 1, is not a whole number"),
        ("longer", whole.replace("Gene7\t1\t", "Gene7\t1\t5\t"), "'Gene7': 41 counts for 40 cells"),
        (
            "wide",
            whole.replace("Gene3\t0\t", "Gene3\t0\t42949672960"),
            ", of cell 1, is more than a cell can hold (2147483647)",
        ),
        (
            "wider",
            whole.replace("Gene3\t0\t", "Gene3\t0\t922337203685477580"),
            ", of cell 1, is more than a cell can hold",
        ),
        ("no genes", whole[: whole.index("Gene0")], ": No columns to parse from file"),
    ):
        (tmp_path / name).write_text(text)
        assert said in refused(tmp_path / name), name
        assert "Is the file complete?" in refused(tmp_path / name)
    (tmp_path / "empty").touch()
    assert f"{tmp_path}/empty is empty" in refused(tmp_path / "empty")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 8)
    assert "binary has a NUL byte in line 1" in refused(tmp_path / "binary")


def test_marks_quotes_and_newlines_change_no_cell(write, tmp_path):
    plain = read_original(write())
    text = write().read_text()
    quoted = "\n".join(
        "\t".join(f'"{field}"' if field else "" for field in line.split("\t")) for line in text.split("\n")
    )
    for change in ("\ufeff" + text, text.replace("\n", "\r\n"), text.replace("\n", "\r"), quoted):
        (tmp_path / "changed").write_bytes(change.encode())
        found = read_original(tmp_path / "changed")
        for one, other in zip(found, plain, strict=True):
            np.testing.assert_array_equal(one, other)
    (tmp_path / "changed").write_bytes(text.replace("Gene0", "Gène\u20280").encode() + b"G\xe8ne\t0" + b"\t1" * CELLS)
    assert read_original(tmp_path / "changed").genes[[0, -1]].tolist() == ["Gène\u20280", "Gène"]


def test_names_that_look_like_numbers_stay_text(write):
    path = write(drop=CLASS)
    names = ["1", "01", "1.0", "1e3", "True", "NA", "nan", "", "-0", "2017-03-01", "0x10", "1,000", "٣", " 7", "1_0"]
    kinds = ["01", "1", "1.0", "True"]
    lines = path.read_text().rstrip("\n").split("\n")
    genes = [name + line[line.index("\t") :] for name, line in zip(names, lines[-20:], strict=False)]
    kind = "\t".join(["", CLASS, *np.repeat(kinds, CELLS // 4)])
    for counted in (len(names), 4):  # with only numbers, pandas would take the column for one of numbers
        path.write_text("\n".join([kind, *lines[:-20], *genes[:counted]]) + "\n")
        found = read_original(path)
        assert found.genes.tolist() == names[:counted]
        assert found.classes.tolist() == np.repeat(kinds, CELLS // 4).tolist()


@pytest.mark.parametrize("word", ["True", "false", "NA", "", "1.0"])
def test_a_gene_whose_counts_are_all_no_whole_numbers_is_refused(write, word):
    path = write()
    lines = path.read_text().rstrip("\n").split("\n")
    path.write_text("\n".join("\t".join([*line.split("\t")[:2], *[word] * CELLS]) for line in lines[6:7]))
    path.write_text("\n".join([*lines[:6], path.read_text()]) + "\n")
    assert f"line 7, 'Gene0': {word!r}, of cell 1, is not a whole number" in refused(path)


def test_a_quote_that_is_not_closed_swallows_no_gene(write):
    path = write()
    whole = read_original(path)
    text = path.read_text()
    path.write_text(text.replace("Gene3\t", '"Gene3\t').replace("Gene7\t", 'Gene7"\t'))
    found = read_original(path)
    np.testing.assert_array_equal(found.counts, whole.counts)
    assert found.genes[[3, 7]].tolist() == ['"Gene3', 'Gene7"']
    path.write_text(text.replace("Gene3\t0\t", "Gene3\t0\t1\0"))
    assert "cells.txt has a NUL byte in line 10" in refused(path)
    path.write_text(re.sub(r"^(Gene.*)$", r"\1\t", text, flags=re.MULTILINE))  # a tab at the end of each line
    assert "41 counts for 40 cells" in refused(path)


def test_a_class_that_is_too_rare_to_be_predicted_is_refused(write, tmp_path):
    lines = write().read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if CLASS in line)
    *others, _ = lines[place].split("\t")
    lines[place] = "\t".join([*others, "solo"])
    (tmp_path / "rare").write_text("\n".join(lines) + "\n")
    assert "class 'solo' has 1 of" in refused(tmp_path / "rare")


def test_a_cell_without_a_class_is_refused_and_none_of_its_own(write, tmp_path):
    lines = write().read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if CLASS in line)
    label, name, *classes = lines[place].split("\t")
    classes[3:9] = [""] * 6
    lines[place] = "\t".join([label, name, *classes])
    (tmp_path / "unnamed").write_text("\n".join(lines) + "\n")
    assert f"cell 4 has no {CLASS} (the first of 6): name its class" in refused(tmp_path / "unnamed")


def test_a_missing_file_says_how_to_get_it(tmp_path):
    message = refused("")
    assert f"{tmp_path}/data/zeisel/expression_mRNA_17-Aug-2014.txt does not exist" in message
    assert "make data DATASETS=zeisel" in message
    with pytest.raises(InputError, match="By hand"):
        fetch("http://127.0.0.1:9/none")


def test_the_sample_has_the_papers_cells():
    cells = read_sample()
    names, numbers = np.unique(cells.classes, return_counts=True)
    assert dict(zip(names.tolist(), numbers.tolist(), strict=True)) == {
        "astrocytes_ependymal": 224,
        "endothelial-mural": 235,
        "interneurons": 290,
        "microglia": 98,
        "oligodendrocytes": 820,
        "pyramidal CA1": 939,
        "pyramidal SS": 399,
    }
    assert cells.counts.shape == (558, 3005)
    assert (cells.counts == 0).mean() == pytest.approx(0.234, abs=0.001)
    assert cells.genes[0] == "row 0"


def test_all_cells_train_and_are_evaluated():
    data = ZeiselData(settings(genes=558), [0, 1], batch_size=512)
    data.setup()
    assert data.train.shape == (2, 3005, 558)
    assert data.test is data.train
    assert data.epoch_steps == 6
    assert (data.column_sd > 0).all()
    assert len(data.labels) == 3005
    assert (data.likelihood, data.has_gene_names) == ("gaussian", False)
    assert "other genes" in data.note
    assert data.remarks == [
        "3005 cells of 7 classes, 558 genes; genes dropped: 0 that do not vary, 0 that were not chosen"
    ]
    ordered = data.train[0].sort(dim=1).values
    assert torch.allclose(ordered.mean(dim=0), ordered[0], atol=5)  # all cells have nearly the same values: ties differ


def test_the_users_file_is_told_of_and_looked_at(write):
    config = settings(source="original", path=str(write()))
    data = ZeiselData(config, [0], batch_size=10)
    assert data.note == "40 cells of 2 classes, where the paper has 3005 of 7"
    assert data.remarks[1].startswith("40 cells of 2 classes, 5 genes; genes dropped: 3 that do not vary, 12 that")
    assert data.has_gene_names
    assert "cells.txt (SHA-256" in data.remarks[0]
    assert list(config.missing_files()) == list(settings().missing_files()) == []
    assert config.user_files() == {"path": Path(config.path)}
    assert settings().user_files() == {}
    ((keys, text),) = settings(source="original").missing_files()
    assert "data.path" in keys
    assert "does not exist" in text


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"source": "geo"}, "data.source"),
        ({"path": "/somewhere"}, "data.path"),
        ({"genes": 1}, "data.genes"),
        ({"noisy_genes": 0}, "data.noisy_genes"),
        ({"min_molecules": 0}, "data.min_molecules"),
        ({"correlation": 1.0}, "data.correlation"),
        ({"noise_exponent": float("nan")}, "data.noise_exponent"),
        ({"noise_floor": -0.1}, "data.noise_floor"),
    ],
)
def test_impossible_settings(changes, key):
    assert [keys[0] for keys, _ in settings_errors(settings(**changes), "data.", None)] == [key]
    assert list(settings_errors(settings(), "data.", None)) == []


@pytest.mark.parametrize("word", ["NA", "na", "None", "-"])
def test_a_class_that_stands_for_a_missing_one_is_refused(write, word):
    path = write()
    path.write_text(path.read_text().replace(f"{CLASS}\tinterneurons", f"{CLASS}\t{word}"))
    assert f"cell 1 has no {CLASS} but '{word}' (the only one): name its class" in refused(path)


def test_a_second_line_of_classes_is_refused(write):
    path = write()
    path.write_text(path.read_text().replace("level2class", CLASS))
    assert f"{path}, line 5: a second line {CLASS}: remove one of them" in refused(path)
