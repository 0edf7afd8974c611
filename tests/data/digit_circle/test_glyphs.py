import numpy as np
import pytest

from sparseid.data.digit_circle.glyphs import closest_pair_distance, read_glyphs
from sparseid.errors import InputError

# sparling spec, section 3: boxes with a one-pixel margin, ink and mean fill of the published glyphs
PUBLISHED_BOXES = [[12, 9], [12, 7], [12, 8], [12, 9], [12, 8], [12, 9], [12, 8], [12, 8], [12, 7], [12, 8]]
PUBLISHED_INK = [30, 16, 21, 23, 25, 26, 28, 16, 27, 31]


def test_tall_glyphs_keep_the_published_statistics():
    glyphs = read_glyphs("tall")
    assert glyphs.shapes.tolist() == PUBLISHED_BOXES
    assert glyphs.ink.tolist() == PUBLISHED_INK
    assert glyphs.mean_fill == pytest.approx(0.25038, abs=5e-6)
    assert closest_pair_distance(glyphs) >= 13


def test_tall_glyphs_agree_with_the_published_geometry(shared_arrays):
    arrays, glyphs = shared_arrays("sparling_digitcircle_truth"), read_glyphs("tall")
    np.testing.assert_array_equal(glyphs.shapes, arrays["box_shape"])
    np.testing.assert_array_equal(glyphs.ink, arrays["box_ink_count"])
    assert glyphs.mean_fill == pytest.approx(float(arrays["background_fraction"]), abs=1e-9)


def test_marks_and_newlines_change_no_glyph(tmp_path):
    path = tmp_path / "two.txt"
    text = "# two\n0\n###\n#.#\n\n1\n.#.\n.#.\n"
    path.write_text(text)
    expected = read_glyphs(str(path))
    for change in (
        "\ufeff" + text,
        text.replace("\n", "\r\n"),
        text.replace("# two", "# two\u2028three\x0cfour\x85five"),
    ):
        path.write_bytes(change.encode())
        assert all(map(np.array_equal, read_glyphs(str(path)).bitmaps, expected.bitmaps))
    path.write_bytes(text.encode() + "# Größe\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"two.txt is not UTF-8 \(byte 0xf6 in line 9\)"):
        read_glyphs(str(path))
    path.write_text(text.replace("\n1\n", "\n²\n"))
    with pytest.raises(InputError, match="line 6: expected a digit alone"):
        read_glyphs(str(path))


@pytest.mark.parametrize("name", ["tall", "compact"])
def test_every_glyph_has_an_empty_margin(name):
    for bitmap in read_glyphs(name).bitmaps:
        assert not bitmap[[0, -1]].any()
        assert not bitmap[:, [0, -1]].any()
        assert bitmap[1].any()
        assert bitmap[-2].any()


def test_compact_glyphs_are_all_different():
    glyphs = read_glyphs("compact")
    assert len(glyphs) == 10
    assert (glyphs.shapes == [9, 7]).all()
    assert closest_pair_distance(glyphs) >= 8  # half the mean ink, as in the published set


def test_a_glyph_file_is_read(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("# mine\n0\n##\n#.\n\n1\n.#\n##\n")
    glyphs = read_glyphs(str(path))
    assert glyphs.bitmaps[0].astype(int).tolist() == [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert len(glyphs) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0\n#.\n1\n#.\n", "0 and 1 have the same bitmap"),
        ("0\n#.\n2\n##\n", "digit 2 out of order"),
        ("0\n#.\n##.\n1\n#\n", "digit 0 differ in length"),
        ("0\n#x\n1\n#\n", "line 2: expected"),
        ("0\n..\n1\n#\n", "digit 0 has no ink"),
        ("#.\n", "line 1: expected"),
        ("0\n#\n", "at least two"),
        ("", "at least two"),
    ],
)
def test_bad_glyph_files_are_named(tmp_path, text, message):
    path = tmp_path / "bad.txt"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_glyphs(str(path))
    assert "bad.txt" in str(error.value)


def test_a_missing_or_binary_glyph_file_says_what_exists(tmp_path):
    with pytest.raises(InputError, match="tall, compact"):
        read_glyphs("tal")
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a readable glyph file"):
        read_glyphs(str(tmp_path / "x"))


def test_more_classes_than_glyphs_are_refused():
    with pytest.raises(InputError, match="digits 0 to 9"):
        read_glyphs("tall").first(11)
