import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparseid.data.mlp_mixture.masks import FAMILIES, circulant
from sparseid.masks import as_mask, evidence, regions
from sparseid.methods.ddl.explain import explain, warnings_of


def text(mask):
    return "\n".join(explain(as_mask(mask)))


def verdicts(mask):
    """Return name, verdict and reason of each latent as they are printed."""
    lines = text(mask).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("latent"))
    place = lines[start].index("why")
    rows = lines[start + 1 : lines.index("", start)]
    parts = [(*row[:place].split(maxsplit=1), row[place:]) for row in rows]
    return [(name, verdict.strip(), why) for name, verdict, why in parts]


def test_a_latent_is_told_apart_by_named_observations():
    assert [row[1:] for row in verdicts(circulant(3, 2))] == [
        ("yes", "the only latent that x1 and x3 both read (clause 3)"),
        ("yes", "the only latent that x1 and x2 both read (clause 3)"),
        ("yes", "the only latent that x2 and x3 both read (clause 3)"),
    ]
    lower = verdicts(FAMILIES["lower_triangular"](3))
    assert lower[0][2] == "the only latent that x1 reads (clause 3)"
    assert lower[2][2] == "the only latent that x3 reads and x2 does not (clause 1, if latents are independent)"


def test_blocks_say_with_whom():
    mask = [[1, 1, 0], [1, 1, 1], [0, 0, 1]]
    assert [row[1] for row in verdicts(mask)] == ["in its block", "in its block", "yes"]
    assert verdicts(mask)[0][2] == "the same observations read z2"
    assert "Blocks: z1 and z2 | z3\n" in text(mask)
    assert "Sufficient Diversity does not hold: 1 of 3" in text(mask)


def test_what_is_said_of_whole_masks():
    assert "Structural sparsity also holds" in text(np.eye(3))
    lower = text(FAMILIES["lower_triangular"](3))
    assert "Sufficient Diversity holds" in lower
    assert "dependent latents leave 1 of 3 identified" in lower


def test_pairs_are_shown_with_what_they_rest_on():
    lines = text([[1, 0, 0], [1, 1, 1], [1, 1, 1]]).splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("May a true latent"))
    assert [line.split() for line in lines[start + 2 : start + 5]] == [
        ["z1", "yes", "no", "no"],
        ["z2", "no?", "yes", "yes"],
        ["z3", "no?", "yes", "yes"],
    ]
    assert any("can" in line and "no?" in line for line in lines[start + 5 :])
    assert "no?" not in text(FAMILIES["lower_triangular"](3))


def test_a_latent_without_a_clause_but_alone_in_its_region_is_identified():
    mask = [[1, 0, 1, 1, 1], [1, 0, 0, 0, 0], [1, 1, 1, 0, 1], [0, 0, 1, 0, 0], [1, 0, 1, 1, 1]]
    name, verdict, why = verdicts(mask)[4]
    assert (name, verdict) == ("z5", "yes")
    assert "no clause" in why
    assert "independent" in why


@pytest.mark.parametrize(
    ("mask", "says"),
    [
        ([[1, 0], [0, 0], [0, 1]], ["x2 reads no latent"]),
        ([[1, 0], [1, 0]], ["no observation reads z2"]),
        ([[1, 1, 1], [1, 1, 1]], ["z1, z2 and z3 are read only by x1 and x2", "no theorem holds"]),
    ],
)
def test_warnings_say_what_no_longer_holds(mask, says):
    warnings = list(warnings_of(as_mask(mask)))
    assert len(warnings) == 1
    assert all(part in warnings[0] for part in says)


def test_warnings_name_the_latents_of_the_mask():
    """Also behind a column that no observation reads."""
    first, second = warnings_of(as_mask([[0, 0, 1, 1, 1], [0, 0, 1, 0, 1]]))
    assert first.startswith(
        "z3, z4 and z5 are read only by x1 and x2: 3 latents need at least 3 observations. g cannot"
    )
    assert second.startswith(
        "no observation reads z1 and z2: g is not injective in them, and nothing can be learned about"
    )


def test_without_an_injective_g_nothing_is_identified():
    assert {row[1] for row in verdicts([[1, 0], [1, 0]])} == {"yes", "no"}
    assert {row[1] for row in verdicts([[1, 1]])} == {"no"}
    assert "Theorem 3" not in text([[1, 1]])


@given(arrays(bool, st.tuples(st.integers(1, 5), st.integers(1, 4))))
def test_every_mask_is_answered_for_and_only_those_that_can_be_without_a_warning(mask):
    rows, single = verdicts(mask), [block[0] for block in regions(mask) if len(block) == 1]
    assert [row[0] for row in rows] == [f"z{number}" for number in range(1, mask.shape[1] + 1)]
    identified = [number for number, row in enumerate(rows) if row[1] == "yes"]
    assert set(identified) <= set(single)
    if not list(warnings_of(mask)):
        assert identified == single
        assert {latent for latent, clauses in enumerate(evidence(mask)) if clauses} <= set(identified)
