import numpy as np
import pytest

from sparseid.data.latex_ocr import builtin, pdflatex
from sparseid.data.latex_ocr.grammar import KIND_NUMBERS, TOKENS, numbers, sample
from sparseid.errors import InputError


@pytest.fixture(scope="module")
def pages(require_program):
    """Return formulas and their pages as both renderers draw them."""
    for program in pdflatex.PROGRAMS:
        require_program(program)
    rng = np.random.default_rng(0)
    formulas = [sample(int(length), rng) for length in rng.integers(1, 31, 150)]
    return formulas, builtin.render(formulas, 200), pdflatex.render(formulas, 200)


def test_pages_are_as_large(pages):
    sizes = np.array([np.subtract(ours.ink.shape, theirs.ink.shape) for ours, theirs in zip(*pages[1:], strict=True)])
    assert np.abs(sizes).max() <= 1
    assert (sizes == 0).mean() > 0.97


def test_boxes_agree_within_a_pixel_or_two(pages):
    """Script sizes have drawings of their own in TeX; the hues of neighbours mix where they touch, rarely."""
    for ours, theirs in zip(*pages[1:], strict=True):
        assert ours.places.tolist() == theirs.places.tolist()
    apart = np.abs(np.concatenate([ours.boxes - theirs.boxes for ours, theirs in zip(*pages[1:], strict=True)]))
    assert (apart <= 1).mean() > 0.99
    assert (apart.max(axis=1) <= 3).mean() > 0.995


def test_pixels_agree(pages):
    same_size = [pair for pair in zip(*pages[1:], strict=True) if pair[0].ink.shape == pair[1].ink.shape]
    differing = sum(int((ours.ink ^ theirs.ink).sum()) for ours, theirs in same_size)
    assert differing < 0.15 * sum(int(theirs.ink.sum()) for _, theirs in same_size)


def test_more_symbols_than_hues(require_program):
    for program in pdflatex.PROGRAMS:
        require_program(program)
    (page,) = pdflatex.render([numbers(" + ".join("0123456789"))], 200)
    assert len(page.places) == 19 > pdflatex.HUES
    assert (np.diff(page.boxes[:, 2]) > 5).all()


def test_a_symbol_whose_hue_is_missing_is_skipped(monkeypatch):
    """As in the authors' code; the others keep their boxes and tokens."""
    plain = np.full((4, 9, 3), 255, np.uint8)
    tinted = plain.copy()
    tinted[1, 2], tinted[2, 6] = (255, 0, 0), (170, 255, 0)  # hues 0 and 80 degrees; none of 20, 40, 60
    monkeypatch.setattr(pdflatex, "missing_programs", lambda: "")
    monkeypatch.setattr(pdflatex, "_images", lambda bodies, dpi: iter([plain, tinted]))
    (page,) = pdflatex.render([numbers("a + b + c")], 200)
    assert page.places.tolist() == [0, 4]
    assert page.boxes.tolist() == [[1, 2, 2, 3], [2, 3, 6, 7]]


def test_missing_programs_are_named_with_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        InputError, match=r"pdflatex and pdftoppm, not installed.*apt-get install texlive-latex-base"
    ) as e:
        pdflatex.render([numbers("x")], 200)
    assert e.value.keys == ("data.renderer",)


def test_a_failing_program_says_what_it_said(monkeypatch, tmp_path):
    for program in pdflatex.PROGRAMS:
        script = tmp_path / program
        script.write_text("#!/bin/sh\necho \"! LaTeX Error: File 'preview.sty' not found.\"\nexit 1\n")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    with pytest.raises(InputError, match=r"pdflatex failed: ! LaTeX Error: File 'preview.sty'"):
        pdflatex.render([numbers("x")], 200)


def test_what_is_no_formula_is_named_before_any_program_is_called(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="'x SUP\\( 2' has the end"):
        pdflatex.render([numbers("x SUP( 2")], 200)


def test_colours_are_set_before_each_symbol_that_is_seen():
    formula = numbers("x SUP( 2 SUP)")
    assert pdflatex._tinted(formula, [2]) == r"\color{black}x^{\color{h0}2}"
    assert [TOKENS[token] for token in formula if KIND_NUMBERS[token] >= 0] == ["x", "2"]


def test_pixmaps_are_read_one_after_the_other():
    first, second = np.arange(255 * 2 * 3) % 256, np.arange(18) + 40
    stream = b"P6\n255 2\n255\n" + bytes(first.tolist()) + b"P6\n3 2\n255\n" + bytes(second.tolist())
    read = list(pdflatex._pixmaps(stream))
    assert [image.shape for image in read] == [(2, 255, 3), (2, 3, 3)]
    assert read[1].ravel().tolist() == second.tolist()
