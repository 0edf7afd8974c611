import gzip

import pyarrow as pa
import pytest
from pyarrow import parquet

from sparseid.data.mlp_activations import texts
from sparseid.data.mlp_activations.settings import MLPActivationsSettings
from sparseid.errors import InputError

pytestmark = pytest.mark.usefixtures("cache")


def settings(text):
    return MLPActivationsSettings(text=str(text), layer=0, tokens=64, held_out=32, context=16)


def refusal(text):
    with pytest.raises(InputError) as caught:
        texts.check_text(settings(text))
    assert caught.value.keys == ("data.text",)
    return str(caught.value)


def read(text):
    found = settings(text)
    texts.check_text(found)
    return "".join(texts.parts(texts.text_files(found).values()))


def test_text_files_folders_and_tables_are_read_in_order(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "b.txt").write_text("\ufeffzwei ä\n", encoding="utf-8")
    (folder / "a.txt.gz").write_bytes(gzip.compress(b"one\r\n"))
    (folder / ".hidden.txt").write_bytes(b"\xff")
    (folder / "notes.md").write_bytes(b"\xff")
    parquet.write_table(pa.table({"text": ["three", None, "four\nfive"], "n": [1, 2, 3]}), folder / "c.parquet")
    assert read(folder) == "one\nzwei ä\nthree\nfour\nfive\n"
    assert read(folder / "b.txt") == "zwei ä\n"
    assert set(settings(folder).user_files()) == {"text/a.txt.gz", "text/b.txt", "text/c.parquet"}


def test_the_sample_is_text_of_wikipedia_and_no_file_of_the_user_s():
    whole = read("wikitext2")
    assert len(whole.split()) == 455_097
    assert " = Homarus gammarus = " in whole
    assert settings("wikitext2").user_files() == {}


def test_parts_end_with_lines(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "PART", 10)
    (tmp_path / "a.txt").write_text("1234567\n" * 5)
    assert list(texts.parts([tmp_path / "a.txt"])) == ["1234567\n" * 2, "1234567\n" * 2, "1234567\n"]


def test_unusable_texts_are_refused(tmp_path):
    assert "no.txt does not exist: set data.text to a text file" in refusal(tmp_path / "no.txt")
    blank = tmp_path / "blank.txt"
    blank.write_text("\n \n")
    assert "blank.txt has no text: there is nothing to read" in refusal(blank)
    blank.write_text("")
    assert "blank.txt is empty" in refusal(blank)
    latin = tmp_path / "latin.txt"
    latin.write_bytes("schön\n".encode("latin-1"))
    assert "latin.txt is not UTF-8 (byte 0xf6 in line 1): save it as UTF-8" in refusal(latin)
    folder = tmp_path / "folder"
    folder.mkdir()
    assert "has no files that end with .txt, .gz, .parquet" in refusal(folder)
    table = tmp_path / "numbers.parquet"
    parquet.write_table(pa.table({"text": [1, 2]}), table)
    assert "has no column text of strings" in refusal(table)
    table.write_bytes(b"PAR1 and no more")
    assert "cannot be read as parquet" in refusal(table)
