import numpy as np
import pytest

from sparseid.data.latex_ocr.generator import LatexOcr
from sparseid.data.latex_ocr.grammar import KINDS, numbers
from sparseid.data.latex_ocr.page import Page
from sparseid.data.latex_ocr.single import SingleMotifs, single_motifs


@pytest.fixture
def motifs(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    return single_motifs(LatexOcr(), images=600)


def test_every_kind_but_the_bar_has_drawings(motifs):
    assert sorted({KINDS[kind] for kind in motifs.kinds}) == sorted(set(KINDS) - {"bar"})
    assert motifs.drawings.shape[1:] == (40, 40)


def test_drawings_lie_in_the_middle(motifs):
    rows, columns = (motifs.drawings.any(axis=axis).mean(axis=0) for axis in (2, 1))
    assert rows[18:22].min() > 0.8
    assert max(columns[:6].max(), columns[-6:].max()) < 0.05


def test_kinds_are_uniform_and_noise_is_white_to_black(motifs):
    images, kinds = motifs.draw(3800, np.random.default_rng(0))
    assert images.shape == (3800, 40, 40)
    counts = np.bincount(kinds, minlength=20)
    assert counts[KINDS.index("bar")] == 0
    assert np.abs(np.delete(counts, KINDS.index("bar")) - 200).max() < 70
    assert images[:, 0, 0].mean() == pytest.approx(0.75, abs=0.03)


def test_an_image_is_one_of_the_drawings_of_its_kind():
    drawings = np.eye(3, dtype=bool)[:, None, :].repeat(3, axis=1)
    motifs = SingleMotifs(drawings, np.array([4, 4, 9]), white_flip=0.0)
    images, kinds = motifs.draw(200, np.random.default_rng(0))
    which = (1 - images)[:, 0].argmax(axis=1)
    assert set(which[kinds == 4].tolist()) == {0, 1}
    assert set(which[kinds == 9].tolist()) == {2}
    assert set(kinds.tolist()) == {4, 9}


def test_made_once(motifs, monkeypatch):
    monkeypatch.setattr(LatexOcr, "pages", lambda *_: pytest.fail("drawn again"))
    again = single_motifs(LatexOcr(), images=600)
    assert np.array_equal(again.drawings, motifs.drawings)


def test_drawings_are_told_apart_by_their_greys_and_kept_if_they_occur_twice(monkeypatch, tmp_path):
    """Two greys of the same black pixels are two drawings, as in the authors' code; one seen once is none."""
    monkeypatch.setenv("SPARSEID_DATA", str(tmp_path))
    formula = numbers("x")

    def page(shade):
        grey = np.full((9, 9), 255, np.uint8)
        grey[4, 4], grey[4, 5] = 10, shade
        return Page(grey, np.array([0]), np.array([[4, 5, 4, 6]]))

    monkeypatch.setattr(LatexOcr, "draw_formulas", lambda self, items, rng: [formula] * items)
    monkeypatch.setattr(LatexOcr, "pages", lambda self, formulas: [page(shade) for shade in (200, 200, 220, 220, 230)])
    motifs = single_motifs(LatexOcr(), images=5)
    assert motifs.kinds.tolist() == [KINDS.index("x")] * 2
    assert np.array_equal(*motifs.drawings)
    assert np.argwhere(motifs.drawings[0]).tolist() == [[19, 19]]
