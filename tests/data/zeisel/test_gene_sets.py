import pytest

from sparseid.data.zeisel.gene_sets import FILE, place_of_sets, read_gene_sets
from sparseid.data.zeisel.settings import ZeiselSettings
from sparseid.errors import InputError
from sparseid.settings import settings_errors


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_sets_are_read_without_regard_to_case(tmp_path):
    path = write(tmp_path / "sets.gmt", "myelination\thttp://x\tMbp\tPlp1\t\n\nsynapse\t\tSNAP25\n")
    assert read_gene_sets(path) == {"myelination": {"MBP", "PLP1"}, "synapse": {"SNAP25"}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("myelination,x,Mbp\n", "line 1: not a name, a description and genes"),
        ("a\tx\tMbp\na\tx\tPlp1\n", "line 2: a second set named a"),
        ("a\tx\t\n", "line 1"),
        ("\n", "has no gene sets"),
    ],
)
def test_what_is_no_gmt_file_is_refused_with_the_line(tmp_path, text, problem):
    with pytest.raises(InputError, match=problem):
        read_gene_sets(write(tmp_path / "sets.gmt", text))


def test_an_absent_file_says_where_to_place_it(tmp_path, monkeypatch):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    config = ZeiselSettings(source="original", enrichment=True)
    assert place_of_sets(config) == tmp_path / "zeisel" / FILE
    with pytest.raises(InputError, match=r"place it as .*gene_sets.gmt"):
        read_gene_sets(place_of_sets(config))


def test_a_file_of_sets_counts_only_where_it_is_read(tmp_path):
    path = write(tmp_path / "sets.gmt", "a\tx\tMbp\n")
    settings = {"genes": 5, "noisy_genes": 8, "min_molecules": 25, "correlation": 0.2, "correlated_genes": 3}
    settings |= {"noise_exponent": -0.56, "noise_floor": 0.61, "gene_sets": str(path)}
    original = ZeiselSettings(**settings, source="original", enrichment=True)
    assert original.user_files() == {"gene_sets": path}
    assert not list(settings_errors(original, "data.", None))
    unread = ZeiselSettings(**settings, source="original")
    assert unread.user_files() == {}
    assert [keys for keys, _ in settings_errors(unread, "data.", None)] == [("data.gene_sets", "data.enrichment")]
    sample = ZeiselSettings(**settings, enrichment=True)
    assert ("data.enrichment", "data.source") in [keys for keys, _ in settings_errors(sample, "data.", None)]


def test_marks_and_odd_characters_change_no_set(tmp_path):
    path = tmp_path / "sets.gmt"
    path.write_bytes("\ufeffa\u2028 b\tx\x0c\tMbp\r\n".encode() + "Größe\tx\tPlp1\r\n".encode("latin-1"))
    assert read_gene_sets(path) == {"a\u2028 b": {"MBP"}, "Größe": {"PLP1"}}


def test_quotes_are_no_part_of_a_gene(tmp_path):
    path = write(tmp_path / "sets.gmt", '"A"\t"na"\t"Mbp"\t"Plp1"\nB\t"x\ty"\tSnap25\n')
    assert read_gene_sets(path) == {"A": {"MBP", "PLP1"}, "B": {"SNAP25"}}
