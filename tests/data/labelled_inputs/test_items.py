import numpy as np
import pytest

from sparseid.data.labelled_inputs.items import items_of_arrays, parts
from sparseid.data.labelled_inputs.reader import read_items
from sparseid.errors import InputError

IMAGES = np.random.default_rng(0).integers(0, 256, (6, 8, 10), np.uint8)
LABELS = np.array(["a b", "b", "a", "c a b", "b b", "a"])
EDGES = np.array([[0, 3, 1, 4], [2, 8, 0, 10]])
BOXED = {"box_items": np.array([3, 0]), "box_tokens": np.array(["c", "a"]), "boxes": EDGES}


def one_pixel(value):
    images = IMAGES / 255
    images[4, 2, 3] = value
    return images


def test_arrays_become_items_whose_motifs_are_ordered():
    items = items_of_arrays({"images": IMAGES, "labels": LABELS, **BOXED})
    assert items.spatial == (8, 10)
    assert items.tokens == ("a", "b", "c")
    assert items.longest == 3
    assert items.mean_length == pytest.approx(10 / 6)
    assert items.sites.tolist() == [[0, 0, 2, 8, 0, 10], [3, 2, 0, 3, 1, 4]]
    np.testing.assert_array_equal(items.values[..., 0], IMAGES)
    of_bool = items_of_arrays({"images": IMAGES > 100, "labels": LABELS}).values
    np.testing.assert_array_equal(of_bool[..., 0], 255 * (IMAGES > 100))
    of_float = items_of_arrays({"images": IMAGES[..., None] / 255.0, "labels": LABELS}).values
    np.testing.assert_allclose(of_float[..., 0], IMAGES / 255, rtol=1e-6)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"labels": None}, "it needs labels, and either images or sounds"),
        ({"labels": LABELS[1:]}, r"labels is <U5 \(5,\), where a text for each of 6 items"),
        ({"labels": np.arange(6)}, "labels is int64"),
        ({"labels": np.array(["a", " ", "b", "a", "b", "c"])}, r"item 1 \('1'\) has an empty label"),
        ({"labels": np.full(6, "a a")}, "all labels consist of the token 'a'"),
        ({"images": IMAGES[0]}, r"images is of shape \(8, 10\)"),
        ({"images": one_pixel(200.0)}, r"images, item 4: the pixel at row 2, column 3 is 200, .*float64.* in \[0, 1\]"),
        ({"images": one_pixel(np.nan)}, "images, item 4: the pixel at row 2, column 3 is nan, no number: replace it"),
        ({"images": IMAGES.astype(np.int64)}, "images, item 0: .*int64.*save bytes"),
        ({"images": IMAGES.astype(str)}, "images is <U3, neither bytes"),
        ({"names": np.array(list("uvwxyu"))}, "two items are named 'u'"),
        (BOXED | {"box_tokens": np.array(["c", "z"])}, "row 1 of box_items.*no label has the token 'z'"),
        (BOXED | {"box_items": np.array([6, 0])}, "row 0 .*there is no item 6"),
        (BOXED | {"boxes": np.add(EDGES, [[0] * 4, [0, 1, 0, 0]])}, "row 1 .*from 2 to 9 is empty or beyond the image"),
        (BOXED | {"boxes": np.zeros((2, 2), int)}, "the arrays of known motifs do not match"),
        ({"box_items": np.array([0])}, "no array box_tokens"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes, text):
    arrays = {"images": IMAGES, "labels": LABELS} | changes
    with pytest.raises(InputError, match=text):
        items_of_arrays({name: array for name, array in arrays.items() if array is not None})


def test_spans_of_sounds_are_frames():
    sounds = np.ones((2, 8000), np.int16)
    seconds = np.array([[0.5, 1.0], [0.0, 0.001]])
    spans = {"box_items": np.array([1, 1]), "box_tokens": np.array(["a", "b"]), "boxes": seconds}
    items = items_of_arrays({"sounds": sounds, "labels": np.array(["a", "b"]), **spans})
    assert items.spatial == (43, 1)
    assert items.sites.tolist() == [[1, 0, 21, 42, 0, 1], [1, 1, 0, 1, 0, 1]]
    with pytest.raises(InputError, match=r"the longest sound lasts 0\.0125 s"):
        items_of_arrays({"sounds": sounds[:, :100], "labels": np.array(["a", "b"])})


def test_parts_are_the_same_for_everyone_and_disjoint():
    found = parts(100, 0.1, 0.2)
    assert [len(part) for part in found.values()] == [70, 10, 20]
    assert sorted(np.concatenate(list(found.values())).tolist()) == list(range(100))


def test_a_file_that_is_no_npz_file_of_items_is_refused(tmp_path):
    path = tmp_path / "mine.npz"
    np.savez(path, images=IMAGES, labels=LABELS)
    assert read_items(str(path)).tokens == ("a", "b", "c")
    with pytest.raises(InputError, match="holds labels and motifs itself"):
        read_items(str(path), labels="labels.csv")
    np.savez(path, images=IMAGES, labels=LABELS.astype(object))
    with pytest.raises(InputError, match="has pickled objects, which are refused"):
        read_items(str(path))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match=r"mine\.npz: it is not a complete npz file"):
        read_items(str(path))
