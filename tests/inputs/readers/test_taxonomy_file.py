import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.formats import read_taxonomy, write_taxonomy


def test_nodes_and_what_is_above_them():
    assert read_taxonomy(io.StringIO("# pets\ncat pet\ndog\tpet\n\npet animal\n")) == {
        "cat": ["pet"],
        "dog": ["pet"],
        "pet": ["animal"],
    }
    # where several have nothing above them, there is a root without a name
    assert read_taxonomy(io.StringIO("cat pet\nlion wild\nwild\n")) == {
        "cat": ["pet"],
        "lion": ["wild"],
        "wild": [None],
        "pet": [None],
    }
    tree = read_taxonomy(io.StringIO("a x\nb x\nc y\n"))
    model = mm.TaxonomySVC(tree).fit([[1, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    assert model.nodes_.tolist() == ["a", "b", "c", "x", "y"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "which is empty: the file has no nodes"),
        ("a b\na c\n", "line 2: the node 'a' begins a second line"),
        ("a a\n", "line 1: found 'a a'; expected a node and its parents, all different"),
        ("a\t\tb\n", "line 1: found"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text, message):
    with pytest.raises(ValueError, match=message):
        read_taxonomy(io.StringIO(text))


names = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=5)
names = names.filter(lambda name: name[0] != "#") | st.just("two words")


@given(st.lists(names, min_size=2, max_size=6, unique=True), st.data())
def test_what_is_written_is_read(nodes, data):
    parents = {}
    for k, node in enumerate(nodes[1:], 1):  # each is below some of those before it
        parents[node] = data.draw(st.lists(st.sampled_from(nodes[:k]), min_size=1, max_size=2, unique=True))
    file = io.StringIO()
    write_taxonomy(file, parents)
    assert read_taxonomy(io.StringIO(file.getvalue())) == parents
    with pytest.raises(ValueError, match="cannot be the name of a node"):
        write_taxonomy(io.StringIO(), {"a\tb": ["c"]})
