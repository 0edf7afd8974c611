"""Settings that cannot be are found without reading cells."""

import subprocess
import sys

import pytest

from sparseid.data.gtex.settings import absent_files, faults

IMPOSSIBLE = [
    ({"source": "web"}, "data.source must be semi_synthetic or atlas or pbmc68k or celltypist_sample"),
    ({"tf_layout": "trrust"}, "data.tf_layout must be htftarget or dorothea"),
    ({"dendrogram": "never"}, "after_cap or before_cap"),
    ({"standardise": "test"}, "train or none"),
    ({"held_out": {"train_on": "none"}}, "all or closest"),
    ({"held_out": {"train_on": "closest"}}, "no closest type without a held-out one"),
    ({"cap": 3}, "data.cap must be at least 4"),
    ({"S": 6}, "0 to 5 weights"),
    ({"S": -1}, "0 to 5 weights"),
    ({"latents": 10}, "10 of 9 genes can be chosen in 0 ways"),
    ({"z_choice": 126}, "5 of 9 genes can be chosen in 126 ways"),
    ({"z_genes": ["VCP", "VCP", "A", "B", "C", "D"]}, "names a gene twice"),
    ({"noise_std_y": float("nan")}, "data.noise_std_y must be at least 0"),
    ({"magic": {"decay": 0.0}}, "data.magic.decay must be above 0"),
    ({"magic": {"knn": 0}}, "data.magic.knn must be at least 1"),
    ({"tf_targets": "/nowhere.tsv"}, "no table of transcription factors /nowhere.tsv"),
    ({"path": "/x.h5ad"}, "write data.source=atlas"),
]


@pytest.mark.parametrize(("changes", "message"), IMPOSSIBLE, ids=lambda value: str(value)[:30])
def test_impossible_settings_are_named(settings, changes, message):
    found = list(faults(settings(**({"source": "pbmc68k", "tf_targets": ""} | changes))))
    assert len(found) == 1
    keys, text = found[0]
    assert message in text
    assert keys
    assert all(key.startswith("data.") for key in keys)


@pytest.mark.parametrize("source", ["semi_synthetic", "pbmc68k", "celltypist_sample"])
def test_what_can_be_has_no_fault(settings, source):
    assert list(faults(settings(source=source, tf_targets=""))) == []


def test_absent_files_of_the_user_are_no_fault_and_named(settings, tmp_path, table, monkeypatch):
    wanted = settings(source="atlas", tf_targets="")
    assert list(faults(wanted)) == []
    [(keys, text)] = absent_files(wanted)
    assert "the atlas is not there" in text
    assert "data.source" in keys
    atlas = tmp_path / "atlas.h5ad"
    atlas.touch()
    monkeypatch.setenv("GTEX_H5AD", str(atlas))
    [(keys, text)] = absent_files(wanted)
    assert "needs a table" in text
    assert "TF_TARGETS=/path/to/it" in text
    assert "data.tf_targets" in keys
    monkeypatch.setenv("TF_TARGETS", str(table))
    assert list(absent_files(wanted)) == []
    assert list(absent_files(settings(source="pbmc68k", tf_targets=""))) == []


def test_the_check_imports_nothing_heavy():
    heavy = ("torch", "anndata", "sklearn", "pandas", "scipy", "scanpy")
    code = f"import sys, sparseid.data.gtex.settings; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
