"""Small files as SpliceAI and RBPamp write them, and settings that name them."""

import h5py
import numpy as np
import pytest

from sparseid.data.splicing.settings import SplicingSettings

LENGTH, CONTEXT = 60, 12
BASES = "ACGT"


def chunk(rng, items):
    """X (n, positions, 4) and Y (1, n, length, 3) of random sequences: acceptors follow AG, donors precede GT."""
    bases = rng.integers(4, size=(items, LENGTH + 2 * CONTEXT))
    classes = np.zeros((items, LENGTH), int)
    for place, (site, text, offset) in ((10, (1, "AG", -2)), (40, (2, "GT", 1))):
        classes[:, place] = site
        for number, base in enumerate(text):
            bases[:, CONTEXT + place + offset + number] = BASES.index(base)
    x = np.eye(4, dtype=np.int8)[bases]
    x[:, :3] = 0  # N, beyond the transcript
    return x, np.eye(3, dtype=np.int8)[classes][None]


def write_h5(path, sizes=(30, 20), change=lambda number, x, y: (x, y), seed=0):
    rng = np.random.default_rng(seed)
    with h5py.File(path, "w") as file:
        for number, items in enumerate(sizes):
            file[f"X{number}"], file[f"Y{number}"] = change(number, *chunk(rng, items))


def psam_text(rows, number=0, a0=0.5):
    lines = [f"# PSAM {number}", f"# A0={a0}  n={len(rows)} acc_k=0", "#\tA\tC\tG\tU\tconsensus"]
    return "\n".join(lines + ["\t".join(map(str, [*row, "N"])) for row in rows]) + "\n\n"


def write_psams(path, *matrices):
    head = "# runinfo none\n# ModelSetParams 1\n"
    path.write_text(head + "".join(psam_text(rows, number) for number, rows in enumerate(matrices)))


def core_arrays(rng):
    arrays = {}
    for name in ("acceptor", "donor"):
        arrays |= {f"{name}_0_weight": rng.standard_normal((5, 4, 9)), f"{name}_0_bias": rng.standard_normal(5)}
        arrays |= {f"{name}_1_weight": 10 * rng.standard_normal((3, 5, 1)), f"{name}_1_bias": np.zeros(3)}
    return {name: values.astype(np.float32) for name, values in arrays.items()}


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with everything that data.source=spliceai needs."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path / "data"))
    write_h5(tmp_path / "dataset_train_all.h5", (30, 20, 10))
    write_h5(tmp_path / "dataset_test_0.h5", (25, 15), seed=1)
    np.savez(tmp_path / "core.npz", **core_arrays(np.random.default_rng(2)))
    (tmp_path / "motifs").mkdir()
    write_psams(tmp_path / "motifs" / "QKI.psam", [[1, 0.1, 0.1, 0.1], [0.1, 1, 0.1, 0.1], [0.1, 0.1, 0.1, 1]])
    write_psams(tmp_path / "motifs" / "A1CF.psam", [[1, 0.2, 0.1, 0.3]] * 4, [[0.1, 0.1, 1, 0.1]] * 3)
    return tmp_path


@pytest.fixture
def config(files):
    """Return a function that makes settings of these files."""

    def make(**changes):
        common = {"length": LENGTH, "context": CONTEXT, "prevalence": 0.02, "footprint": 3}
        return SplicingSettings(source="spliceai", path=str(files), **(common | changes))

    return make
