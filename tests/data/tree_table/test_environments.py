import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparseid.data.tree_table.environments import (
    clustered_tree,
    parse_arcs,
    parse_newick,
    read_nodes,
    split_environments,
    tree_of_nodes,
)
from sparseid.errors import InputError

TREE = "(((a,b)ab,(c,(d,e)de)cde)top,f);"


def test_the_part_of_a_tree_above_the_environments():
    named = tree_of_nodes(parse_newick(TREE), ["a", "b", "c", "d"])
    assert named.arcs.tolist() == ["ab", "a", "b", "cde", "c", "d"]  # without f and e, the root and de have one child
    assert named.tree.incidence.tolist() == [
        [1, 1, 0, 0, 0, 0],
        [1, 0, 1, 0, 0, 0],
        [0, 0, 0, 1, 1, 0],
        [0, 0, 0, 1, 0, 1],
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("((a,b);", "a parenthesis is not closed"),
        ("(a,b));", "character 6: a parenthesis is closed that was not opened"),
        ("(a,b)", "ends with a semicolon"),
        ("a,b;", "character 2: a comma outside of parentheses"),
        ("(a,(b,c);", "character 9: a parenthesis is not closed"),
        ("(a,b)x(c,d)y;", r"character 7: '\(' where a comma, a parenthesis or a semicolon is expected"),
        ("(a,b)(c,d);", r"character 6: '\(' where a comma"),
        ("(a(b,c),d);", r"character 3: '\(' where a comma"),
        ("('a'b,c);", "character 5: 'b' where a comma"),
        ("(a[c]b,c);", "character 6: 'b' where a comma"),
        ("('a''b'c,d);", "character 8: 'c' where a comma"),
        ("(a:1:2,b);", "character 5: ':' where a comma"),
        ("(a:1'x',b);", "character 5: \"'x'\" where a comma"),
        ("(a:one,b);", "character 4: 'one' where a length is expected"),
        ("(a:,b);", "character 4: ',' where a length is expected"),
        ("(a,b):;", "character 7: ';' where a length is expected"),
        ("(a,b);(c,d);", r"character 7: '\(' follows the tree, which ends with a semicolon: remove it"),
        ("(a,b);\n\n c", "character 10: 'c' follows the tree"),
        ("(a,b);;", "character 7: ';' follows the tree"),
        ("(a,'b);", "character 4: a quote is not closed"),
        ("(a,[b);", "character 4: a comment is not closed"),
        ("(a,b]);", "character 5: a comment is closed that was not opened"),
        ("", "character 1: a tree in Newick format ends with a semicolon"),
        ("(a,b)\n", "character 7: a tree in Newick format ends with a semicolon"),
    ],
)
def test_newick_that_is_not_well_formed_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        parse_newick(text)


def test_newick_as_programs_write_it():
    nodes = parse_newick("(\n 'T cell, CD4':0.1[&90],\n 'it''s':1e-3,(B cell:1,NK:2)0.95:3\n)root:0;\n")
    assert nodes.names == ["root", "T cell, CD4", "it's", "0.95", "B cell", "NK"]
    assert nodes.parents == [-1, 0, 0, 0, 3, 3]
    nodes = parse_newick("[&R] ( (,):.5 , a[&h=1] : [x] 1E-3 [y] ) [done] ; [the end]\n")
    assert nodes.names == ["", "", "", "", "a"]
    assert nodes.parents == [-1, 0, 1, 1, 0]


def test_names_that_look_like_numbers_stay_text(tmp_path):
    names = ["1", "01", "1.0", "1e3", "True", "NA"]
    (tmp_path / "tree.nwk").write_text(f"[&R](({','.join(names[:3])})left,({','.join(names[3:])}):1);\n")
    (tmp_path / "tree.csv").write_text("child,parent\n" + "".join(f"{name},01.\n" for name in names))
    for file in ("tree.nwk", "tree.csv"):
        found = read_nodes(tmp_path / file)
        assert set(names) < set(found.names)
        tree = tree_of_nodes(found, names).tree
        assert [found.names[place] for place in map(found.names.index, names)] == names
        assert len(set(tree.observed.tolist())) == 6


def test_the_place_of_an_error_is_that_in_the_file(tmp_path):
    (tmp_path / "tree.nwk").write_bytes(b"\xef\xbb\xbf\n\n(a,b);\n(c,d);\n")
    with pytest.raises(InputError, match=r"tree.nwk: character 10: '\(' follows the tree"):
        read_nodes(tmp_path / "tree.nwk")


@given(st.recursive(st.just([]), lambda inner: st.lists(inner, min_size=2, max_size=3), max_leaves=12))
def test_a_written_tree_is_read_back(tree):
    names, parents = [], []

    def written(node, parent):
        number = len(names)
        names.append(f"n{number}")
        parents.append(parent)
        inside = ",".join(written(child, number) for child in node)
        return f"({inside})n{number}" if node else f"n{number}"

    assert parse_newick(written(tree, -1) + ";") == (names, parents, ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,above\na,b\n", "begins with a parenthesis, a csv file with the names child,parent"),
        ("child,parent\na\n", "line 2 has 1 fields"),
        ("child,parent,Child\na,b,c\n", "line 1: the column child is there twice: remove or rename one of them"),
        ("child,parent\na,r\nb,r\na,b\n", "line 4: 'a' already has a parent"),
        ("child,parent\n,r\n", "line 2: the child is missing"),
        ("child,parent\na,r\nb,s\n", "one node without a parent, not 2 (r, s)"),
        ("child,parent\na,r\nr,\nr,b\n", "line 4: 'r' already is the root"),
        ("child,parent\nr,b\nr,\na,r\n", "line 3: 'r' already has a parent, 'b'"),
        ("child,parent\na,b\nb,a\n", "the parents form a circle, a -> b -> a: one of these nodes has another parent"),
        ("child,parent\na,a\n", "a circle, a -> a:"),
        ("child,parent\na,r\nx,b\nb,c\nc,d\nd,b\n", "a circle, b -> c -> d -> b:"),
        (
            "child,parent\n" + "".join(f"n{number},n{(number + 1) % 9}\n" for number in range(9)),
            "n0 -> n1 -> n2 -> n3 -> n4 -> ... -> n0:",
        ),
    ],
)
def test_arcs_that_are_no_tree_are_refused(tmp_path, text, said):
    path = tmp_path / "tree.csv"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        read_nodes(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.keys == ("data.tree",)


def test_arcs_and_newick_give_the_same_tree():
    arcs = "parent,child\nab,a\nab,b\n,r\nr,ab\nr,c\n"
    first, second = (
        tree_of_nodes(nodes, ["a", "b", "c"]) for nodes in (parse_arcs(arcs), parse_newick("((a,b)ab,c)r;"))
    )
    order = [first.arcs.tolist().index(name) for name in second.arcs]
    np.testing.assert_array_equal(first.tree.incidence[:, order], second.tree.incidence)


def test_environments_that_are_not_in_the_tree_are_refused_with_the_nearest():
    nodes = parse_newick("(liver,lung,kidney);")
    with pytest.raises(InputError, match="no node 'livre'; did you mean: liver"):
        tree_of_nodes(nodes, ["livre", "lung"])
    with pytest.raises(InputError, match="no node 'brain'; its nodes: liver, lung, kidney"):
        tree_of_nodes(nodes, ["brain", "lung"])
    for text, twice in {"(a,a,b);": "a", "((a,x)ab,(b,c)ab);": "ab", "((a,x)'95',(b,c)'95');": "95"}.items():
        with pytest.raises(InputError, match=f"several nodes '{twice}': make names unique"):
            tree_of_nodes(parse_newick(text), ["a", "b"])


def test_supports_of_branches_are_no_names():
    named = tree_of_nodes(parse_newick("((a,b)100:1,(c,(d,e)95/0.9)100:2)root;"), list("abcde"))
    assert named.arcs.tolist() == ["a+b", "a", "b", "c+d+e", "c", "d+e", "d", "e"]
    observed = tree_of_nodes(parse_newick("((1,2)3,(4,5)6);"), list("1234"))  # an inner node can be an environment
    assert observed.arcs.tolist() == ["3", "1", "2", "4"]
    quoted = tree_of_nodes(parse_newick("((a,b)'95',(c,d)7);"), list("abcd"))
    assert quoted.arcs.tolist() == ["95", "a", "b", "c+d", "c", "d"]


def test_unnamed_nodes_have_different_names():
    environments = list("abcdefgh")
    nested = "".join(["(" * 7, "a", *(f",{name})" for name in environments[1:]), ";"])
    arcs = tree_of_nodes(parse_newick(nested), environments).arcs.tolist()
    assert arcs[:4] == ["a+b+c+d+e+2 more", "a+b+c+d+e+1 more", "a+b+c+d+e", "a+b+c+d"]
    assert len(set(arcs)) == len(arcs)
    combined = tree_of_nodes(parse_newick("((a,b),a+b,c);"), ["a", "b", "a+b", "c"]).arcs.tolist()
    assert combined == ["(a+b)", "a", "b", "a+b", "c"]


def test_inner_nodes_can_be_environments():
    named = tree_of_nodes(parse_newick("((a,b)ab,c);"), ["ab", "a", "c"])
    paths = dict(zip(named.arcs.tolist(), named.tree.incidence.T.tolist(), strict=True))
    assert paths == {"ab": [1, 1, 0], "a": [0, 1, 0], "c": [0, 0, 1]}


def test_clusters_of_environments_are_those_whose_means_are_near():
    numbers = np.repeat(np.arange(4), 5)
    features = np.array([[0.0], [10.0], [0.5], [10.7]])[numbers]
    named = clustered_tree(features, numbers, ["a", "b", "c", "d"])
    assert set(named.arcs) == {"a", "b", "c", "d", "a+c", "b+d"}
    assert named.tree.incidence.sum(axis=1).tolist() == [2, 2, 2, 2]


def test_every_environment_is_in_each_part():
    environments = np.array(["x"] * 20 + ["y"] * 8 + ["z"] * 4)
    parts = split_environments(environments, 0.25, 0.25)
    assert sorted(np.concatenate(parts).tolist()) == list(range(32))
    assert [[np.count_nonzero(environments[part] == name) for name in "xyz"] for part in parts] == [
        [10, 4, 2],
        [5, 2, 1],
        [5, 2, 1],
    ]
    with pytest.raises(InputError, match="environment 'z' has 3 rows, of which 1 would train, and two are needed"):
        split_environments(environments[:-1], 0.25, 0.25)
    with pytest.raises(InputError, match="the only environment is 'x'"):
        split_environments(environments[:20], 0.25, 0.25)
