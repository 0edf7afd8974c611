"""Tables of transcription factors: both layouts, and what is said of others."""

import gzip

import pytest

from sparseid.data.gtex.tf_targets import read_tf_targets
from sparseid.errors import InputError


def test_htftarget_counts_a_pair_once_whatever_the_tissues(table):
    regulators = read_tf_targets(table)
    assert regulators["C1orf43"] == ("TF0", "TF1", "TF2")
    assert regulators["CHMP2A"] == ("NOT_MEASURED", "TF1", "TF2", "TF3")
    assert regulators["OTHER"] == ("TF5",)
    assert len(regulators) == 10


@pytest.mark.parametrize("separator", ["\t", ","])
@pytest.mark.parametrize("zipped", [True, False])
def test_dorothea_with_other_columns(tmp_path, separator, zipped):
    rows = [["tf", "confidence", "target", "mor"], ["SPI1", "D", "REEP5", "1"], ["FOS", "E", "REEP5", "-1"]]
    text = "".join(separator.join(row) + "\n" for row in rows)
    path = tmp_path / ("table.txt.gz" if zipped else "table.txt")
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    assert read_tf_targets(path, "dorothea") == {"REEP5": ("FOS", "SPI1")}


def test_names_that_look_like_numbers_stay_text(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("TF\ttarget\n1\t01\n01\t01\n1.0\t1\nNA\tTrue\n")
    assert read_tf_targets(path) == {"01": ("01", "1"), "1": ("1.0",), "True": ("NA",)}


def test_a_column_that_is_there_twice_is_refused(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("TF\ttarget\tTF\nA\tB\tC\n")
    with pytest.raises(InputError, match=r"table.tsv: line 1: the column TF is there twice: remove or rename one"):
        read_tf_targets(path)


def test_a_wrong_header_names_the_columns_found_and_expected(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("factor\ttarget\nA\tB\n")
    with pytest.raises(InputError, match=r"no column TF: .*htftarget expects TF, target .*found factor, target"):
        read_tf_targets(path)
    path.write_text("A\tB\tblood\n")
    with pytest.raises(InputError, match=r"no column tf or target: .*dorothea expects tf, target .*found A, B, blood"):
        read_tf_targets(path, "dorothea")


@pytest.mark.parametrize(("layout", "other"), [("htftarget", "dorothea"), ("dorothea", "htftarget")])
def test_a_table_in_the_other_layout_is_recognised(tmp_path, layout, other):
    path = tmp_path / "table.tsv"
    path.write_text({"dorothea": "tf\ttarget\n", "htftarget": "TF\ttarget\n"}[other] + "A\tB\n")
    with pytest.raises(InputError, match=f"These are the columns of data.tf_layout={other}: set that"):
        read_tf_targets(path, layout)
    assert read_tf_targets(path, other) == {"B": ("A",)}


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"TF\ttarget\ttissue\n", "no rows"), (b"", "cannot read"), (b"TF\ttarget\n\xff\xfe\tB\n", "cannot read")],
)
def test_what_is_no_table_is_refused(tmp_path, content, message):
    path = tmp_path / "table.tsv"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_tf_targets(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.tsv"):
        read_tf_targets(tmp_path / "nothing.tsv")
    (tmp_path / "no.gz").write_bytes(b"TF\ttarget\n")
    with pytest.raises(InputError, match="cannot read"):
        read_tf_targets(tmp_path / "no.gz")


@pytest.mark.parametrize("zipped", [True, False])
def test_marks_quotes_newlines_and_spaces_change_no_table(tmp_path, zipped):
    path = tmp_path / ("table.csv.gz" if zipped else "table.csv")
    for text in (
        "\n \nTF\ttarget\nA\tB\n",
        "TF,target\nA,B\n",
        '\ufeff"TF","target"\r\n"A","B"\r\n',
        "TF , target\rA , B\r",
        'TF,target,note\nA,B,"two\nlines"\n A,B,\u2028\n',
    ):
        path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
        assert read_tf_targets(path) == {"B": ("A",)}


def test_no_pair_is_shifted_or_lost_by_separators_at_the_end_and_quotes(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text('TF\ttarget\ttissue\nA\tB\tblood\t\n"C"\tB\tblood\t\nD\tB\t5" wide\t\nE\t"B\t\nF\tB\t6"\t\n')
    assert read_tf_targets(path) == {"B": ("A", "C", "D", "F"), '"B': ("E",)}
    for text in ("TF\ttarget\n1\tA\tB\n", "TF\ttarget\nA\n", "TF,target\nA,B,C\n"):  # names of rows that R writes
        path.write_text(text)
        with pytest.raises(InputError, match=r"line 2 has \d fields, the line of names 2"):
            read_tf_targets(path)
    path.write_text('TF,target\nA,"B\nC,D\n"E",F\n')
    with pytest.raises(InputError, match="line 2: the quotes do not match"):
        read_tf_targets(path)
    path.write_text("TF\ttarget\nA\tB\nC\tD\0\n")
    with pytest.raises(InputError, match="NUL byte in line 3"):
        read_tf_targets(path)


def test_a_gene_may_be_named_like_a_missing_value(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_text("TF\ttarget\nNAN\tB\nNA\tB\n\tB\nA\t\n")
    assert read_tf_targets(path) == {"B": ("NA", "NAN")}


def test_another_encoding_is_named(tmp_path):
    path = tmp_path / "table.tsv"
    path.write_bytes("TF\ttarget\nA\tBé\n".encode("latin-1"))
    with pytest.raises(InputError, match=rf"{path} is not UTF-8 \(byte 0xe9 in line 2\): save it as UTF-8"):
        read_tf_targets(path)
