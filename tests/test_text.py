"""Text of users: marks, newlines, quotes and encodings; every refusal names the file."""

import csv
import gzip
import io
import re

import pytest

from sparseid.errors import InputError
from sparseid.text import as_lines, lines_of, open_text, read_json, read_text, records_of, table_of, visible


@pytest.fixture
def write(tmp_path):
    def to_file(content, name="names.csv"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return to_file


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_lines_end_at_newlines_of_every_system_and_nowhere_else(write, mark, newline):
    path = write(mark + newline.join(["a\u2028b".encode(), b"c\x0cd\x0be\x1cf", "g\x85h\u2029".encode(), b""]))
    assert lines_of(read_text(path)) == ["a\u2028b", "c\x0cd\x0be\x1cf", "g\x85h\u2029"]
    with open_text(path) as file:
        assert [number for number, _ in records_of(file, ",")] == [1, 2, 3]


def test_a_last_line_needs_no_newline_and_a_blank_one_is_a_line():
    assert lines_of("a\n\nb") == ["a", "", "b"]
    assert lines_of("a\n\n") == ["a", ""]
    assert lines_of("") == []


def test_quoted_newlines_commas_and_quotes_belong_to_their_field():
    text = '"id","title"\n1,"one\ntwo, ""three"""\n\n 2 ,four\n'
    assert list(records_of(as_lines(text), ",")) == [
        (1, ["id", "title"]),
        (2, ["1", 'one\ntwo, "three"']),
        (5, [" 2 ", "four"]),
    ]
    assert list(records_of(as_lines('1::"two\n'), "::")) == [(1, ["1", '"two'])]
    assert list(records_of(as_lines('1|"two|3\n'), "|")) == [(1, ["1", '"two', "3"])]


def test_semicolons_quote_like_commas_and_tabs_have_pairs_around_a_field_only():
    assert list(records_of(as_lines('1;"two;\n""three"""\n'), ";")) == [(1, ["1", 'two;\n"three"'])]
    assert list(records_of(as_lines('"1"\t"5\n6"\t7"\t"\n'), "\t")) == [(1, ["1", '"5']), (2, ['6"', '7"', '"'])]


def test_quotes_around_a_field_between_tabs_mean_what_they_mean_between_commas():
    text = '"5"" pipe"\t"a\tb"\tx""y\n"""c"""\t""\t"d"e"\n'
    assert list(records_of(as_lines(text), "\t")) == [(1, ['5" pipe', "a\tb", 'x""y']), (2, ['"c"', "", 'd"e'])]
    rows = [["id", "title"], ['5" pipe', "a\tb,c;d"], ['""', '"e" f'], ["g", 'h"']]
    for separator in (",", ";", "\t"):
        csv.writer(file := io.StringIO(newline=""), delimiter=separator, lineterminator="\n").writerows(rows)
        assert [fields for _, fields in records_of(as_lines(file.getvalue()), separator)] == rows


@pytest.mark.parametrize("separator", [",", ";", "\t", "::"])
def test_a_field_may_be_longer_than_the_limit_of_pythons_csv_which_stays(separator):
    limit = csv.field_size_limit()
    quote = "" if separator == "::" else '"'
    text = f"1{separator}{quote}{'x' * 3 * limit}{quote}\n"
    assert list(records_of(as_lines(text), separator)) == [(1, ["1", "x" * 3 * limit])]
    assert csv.field_size_limit() == limit


@pytest.mark.parametrize("line", ['1, "a, b"', ' "1",2', '"1",2,\t"3"'])
def test_spaces_before_a_quote_are_refused_with_the_remedy(line):
    with pytest.raises(ValueError, match=r"line 2: there are spaces before the quote of .*: remove them"):
        list(records_of(as_lines(f"a,b\n{line}\n"), ","))
    assert list(records_of(as_lines('1,"  ""a"" b"\n'), ",")) == [(1, ["1", '  "a" b'])]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# made by me\na,b\n1,2\n", "line 2 has 2 fields, .* begins with # is no comment here: remove it"),
        ("a,b\n1,2\n# the end\n", "line 3 has 1 fields, .* begins with # is no comment here: remove it"),
        ("a,b\nr1,1,2\nr2,3,4\n", "line 2 has 3 fields, .* as R writes them, their column needs one, such as id"),
    ],
)
def test_comments_and_names_of_rows_are_told_of(text, said):
    with pytest.raises(ValueError, match=said):
        list(table_of(as_lines(text), ","))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (gzip.compress(b"a,b"), "is compressed with gzip: let its name end with .gz"),
        (b"PK\x03\x04\0", "is a zip archive"),
    ],
)
def test_archives_are_named(write, content, said):
    with pytest.raises(InputError, match=f"names.csv {said}") as error:
        read_text(write(content), ("data.path",), western=True)
    assert error.value.keys == ("data.path",)


def test_rows_have_as_many_fields_as_there_are_names():
    text = "a\tb\t\n1\t2\n\n3\t4\t\t \n5\t\n"
    assert list(table_of(as_lines(text), "\t")) == [(1, ["a", "b"]), (2, ["1", "2"]), (4, ["3", "4"]), (5, ["5", ""])]
    for row, found in (("1\t2\t3", 3), ("1", 1), ("\t1\t2", 3)):
        with pytest.raises(ValueError, match=f"line 2 has {found} fields, the line of names 2: correct it"):
            list(table_of(as_lines(f"a\tb\n{row}\n"), "\t"))


@pytest.mark.parametrize("text", ['1,a\n2,"b\n3,c\n', '1,a\n2,"b"c\n3,c\n'])
def test_a_quote_that_does_not_match_would_swallow_lines_and_is_refused_with_the_first(text):
    with pytest.raises(ValueError, match="line 2: the quotes do not match"):
        list(records_of(as_lines(text), ","))


def test_other_bytes_are_refused_with_the_file_or_read_as_windows_does(write):
    path = write("é\nnaïve".encode() + b"\nG\xf6del\x85\x81")
    with pytest.raises(InputError, match=re.escape(f"{path} is not UTF-8 (byte 0xf6 in line 3): save it")) as error:
        read_text(path, keys=("data.path",))
    assert error.value.keys == ("data.path",)
    assert read_text(path, western=True) == "é\nnaïve\nGödel…\x81"


@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("name", ["names.csv", "names.csv.gz", "names.CSV.GZ"])
def test_nul_bytes_are_refused_with_their_line_wherever_they_are(write, name, newline):
    for lines in (3, 50_000):
        content = newline.join([b"1,2"] * lines) + b"\0"
        path = write(gzip.compress(content, 1) if name.lower().endswith("gz") else content, name)
        for western in (True, False):
            with pytest.raises(InputError, match=re.escape(f"{path} has a NUL byte in line {lines}: ")) as error:
                read_text(path, ("data.path",), western)
            assert error.value.keys == ("data.path",)
    with pytest.raises(InputError, match="has a NUL byte in line 1: it is damaged, or not UTF-8"):
        read_text(write("a,b\n".encode("utf-16-le")))


@pytest.mark.parametrize("marks", [1, 2, 3])
@pytest.mark.parametrize("content", [b"id,x\n", b"", b"\xef\xbb"])
def test_byte_order_marks_before_the_text_are_no_text(write, marks, content):
    assert read_text(write(b"\xef\xbb\xbf" * marks + content), western=True) == content.decode("cp1252")


@pytest.mark.parametrize("name", ["names.csv", "names.csv.gz"])
def test_byte_order_marks_within_the_text_are_no_part_of_an_id(write, name):
    mark = b"\xef\xbb\xbf"
    files = [mark + b"u1,1\nu2,2\n", mark + b"u3,3\n", mark * 2 + b"u\xc3\xaf4" + mark + b",4\n"]  # joined
    content = b"".join(files)
    path = write(gzip.compress(content) if name.endswith("gz") else content, name)
    for western in (True, False):
        with open_text(path, western=western) as file:
            found = list(records_of(file, ","))
        assert found == [(1, ["u1", "1"]), (2, ["u2", "2"]), (3, ["u3", "3"]), (4, ["uï4", "4"])]


@pytest.mark.parametrize("before", [*range(20), *range(8170, 8200)])
def test_a_mark_is_found_wherever_the_file_is_cut_for_reading(write, before):
    for other in (b"\xef\xbb\xbe", b"\xef\xbc\xbf"):  # letters that begin like it
        text = b"a" * before + other
        path = write(text + b"\xef\xbb\xbf" + text + b"\xef\xbb\xbf")
        assert read_text(path) == 2 * text.decode()
    for cut in (1, 2):
        with pytest.raises(InputError, match=r"is not UTF-8 \(byte 0xef in line 1\)"):
            read_text(write(b"a" * before + b"\xef\xbb"[:cut]))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[" * 100_000, r"its brackets are nested too deeply"),
        (b'{"a":' * 100_000, r"its brackets are nested too deeply"),
        (b'{"b": {"a": 1, "a": 1}}', r"an object has the name 'a' twice"),
        (b'{"a": 1,}', r".*: line 1 column 9 "),
        (b"", r"Expecting value: line 1 column 1"),
        (b"9" * 5000, r"Exceeds the limit"),
    ],
)
def test_json_that_cannot_be_parsed_is_named(write, content, said):
    path = write(content, "paper.json")
    with pytest.raises(InputError, match=re.escape(f"{path} cannot be read as JSON (") + said) as error:
        read_json(path, ("data.path",))
    assert error.value.keys == ("data.path",)


def test_json_may_have_a_byte_order_mark(write):
    assert read_json(write(b'\xef\xbb\xbf{"a": ["\xc3\xa9", null]}')) == {"a": ["é", None]}


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32"])
def test_wide_encodings_are_named(write, encoding):
    path = write(("\ufeff" if encoding.endswith("be") else "").encode(encoding) + "a,b".encode(encoding))
    with pytest.raises(InputError, match=re.escape(f"{path} is {encoding[:6].upper()}: save it as UTF-8")):
        read_text(path, western=True)


def test_a_file_that_is_not_there_or_a_damaged_archive_is_named(tmp_path, write):
    with pytest.raises(InputError, match=r"gone.txt cannot be read: No such file"):
        read_text(tmp_path / "gone.txt")
    whole = gzip.compress(b"\xef\xbb\xbf" + bytes(range(32, 127)) * 50)
    assert read_text(write(whole, "a.gz")).startswith(' !"#')
    for content in (b"a,b", whole[:-20], whole[:20] + b"\xff" * 9 + whole[29:]):
        path = write(content, "b.gz")
        with pytest.raises(InputError, match=r"b.gz cannot be read: "):
            read_text(path)


def test_hidden_files_are_left_out(tmp_path):
    for name in ("b.json", "._b.json", ".DS_Store", "a.json"):
        (tmp_path / name).touch()
    assert [path.name for path in visible(tmp_path.iterdir())] == ["a.json", "b.json"]
