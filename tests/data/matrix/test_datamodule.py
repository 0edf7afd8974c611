import numpy as np
import pytest
import torch

from sparseid.config.compose import compose
from sparseid.config.validate import missing_files, problems
from sparseid.data.matrix.checks import class_fault, count_fault
from sparseid.data.matrix.datamodule import MatrixData
from sparseid.data.tables import Table
from sparseid.errors import InputError
from sparseid.settings import EarlyStopSettings

RNG = np.random.default_rng(0)
REAL = Table.of(5 + 3 * RNG.normal(size=(50, 4)), names=list("abcd"), ids=[f"row{n}" for n in range(50)])
COUNTS = Table.of(1 + RNG.poisson(2.0, size=(40, 6)))


def ready(table, **options):
    data = MatrixData(table, [0, 1], 8, held_out=0.2, **options)
    data.early_stop = EarlyStopSettings(patience=1)
    data.setup()
    return data


def test_rows_are_split_once_and_scaled_by_those_that_train():
    data = ready(REAL)
    assert [part.shape for part in (data.train, data.validation, data.test)] == [(2, 36, 4), (2, 4, 4), (2, 10, 4)]
    seen = torch.cat([data.train[0], data.validation[0]])
    torch.testing.assert_close(seen.mean(dim=0), torch.zeros(4), atol=1e-6, rtol=0)
    torch.testing.assert_close(seen.std(dim=0, correction=0), torch.ones(4))
    assert data.feature_names == list("abcd")
    test = REAL.values[np.isin(REAL.ids, data.row_ids)]
    np.testing.assert_allclose(np.corrcoef(test[:, 0], data.test[0, :, 0])[0, 1], 1)
    plain = ready(REAL, standardise=False)
    np.testing.assert_allclose(plain.test[1], test, rtol=1e-6)


def test_counts_stay_counts():
    data = ready(COUNTS, likelihood="multinomial")
    assert data.row_normalised
    np.testing.assert_array_equal(data.test[0], COUNTS.values[np.isin(COUNTS.ids, data.row_ids)])
    with pytest.raises(InputError, match=r"row 1.*which is no count"):
        ready(REAL, likelihood="multinomial")
    assert "is 0 in every column" in count_fault(Table.of([[1, 2], [0, 0]]))
    assert "column 'b' is -1" in count_fault(Table.of([[1, -1]], names=["a", "b"]))


def test_classes_are_those_of_the_held_out_rows():
    labels = np.repeat(["x", "y"], 25)
    table = Table.of(REAL.values, columns={"kind": labels})
    data = MatrixData(table, [0], 8, held_out=0.4, labels="kind")
    assert data.labels.tolist() == [labels[int(row) - 1] for row in data.row_ids]
    with pytest.raises(InputError, match="row 1, column 'kind': it is missing"):
        MatrixData(Table.of(REAL.values, columns={"kind": ["", *labels[1:]]}), [0], 8, held_out=0.4, labels="kind")
    assert class_fault(labels, 0.4) == ""
    assert "'x' has" in class_fault(np.array(["x"] * 3 + ["y"] * 97), 0.5)
    assert "of one class" in class_fault(np.repeat("x", 50), 0.5)


def test_a_file_is_checked_before_anything_starts(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("id,a,kind\n" + "".join(f"r{n},{n / 2},{'xy'[n % 2]}\n" for n in range(60)))
    command = ["experiment=sparse_vae/arrays", "scale=smoke"]

    def said(*changes):
        return [
            problem.text
            for problem in problems(compose([*command, f"data.path={path}", "data.ignore=[kind]", *changes]))
        ]

    assert said() == []
    [unnamed] = missing_files(compose(command))
    assert unnamed.keys == ("data.path",)
    assert compose([*command, f"data.path={path}", "data.ignore=[kind]"]).data.row_keys()["source"] == "mine"
    with pytest.raises(InputError, match=r"line 3, column 'a' is 0.5(.|\n)*data.likelihood=gaussian"):
        said("data.likelihood=multinomial")
    with pytest.raises(InputError, match=r"line 2, column 'kind': 'x' is not a number"):
        said("data.ignore=[]")
    with pytest.raises(InputError, match="the held-out rows are of one class"):
        said("data.ignore=[]", "data.labels=kind", "data.held_out=0.05")
    with pytest.raises(InputError, match="each needs 2"):
        said("data.held_out=0.001")
    with pytest.raises(InputError, match="NMF needs non-negative data"):
        said("method.model=nmf")
    assert said("method.model=nmf", "data.standardise=false") == []
