"""Small graphs that hypothesis draws: each holds together, by a tree that is drawn first."""

from itertools import combinations, pairwise, permutations

from hypothesis import strategies as st


@st.composite
def connected_graphs(draw, least=2, most=5):
    """(n, edges)."""
    n = draw(st.integers(least, most))
    tree = [(draw(st.integers(0, v - 1)), v) for v in range(1, n)]
    others = [edge for edge in combinations(range(n), 2) if edge not in tree]
    return n, draw(st.permutations([*tree, *_some(draw, others)]))


@st.composite
def rooted_digraphs(draw, least=2, most=5):
    """(n, arcs): all nodes can be reached from node 0, to which no arc leads."""
    n = draw(st.integers(least, most))
    tree = [(draw(st.integers(0, v - 1)), v) for v in range(1, n)]
    others = [(u, v) for u, v in permutations(range(n), 2) if v and (u, v) not in tree]
    return n, draw(st.permutations([*tree, *_some(draw, others)]))


@st.composite
def acyclic_graphs(draw, least=2, most=7):
    """(edges, source, sink): a path leads from source to sink; other arcs may lead nowhere."""
    n = draw(st.integers(least, most))
    names = draw(st.permutations([f"node {k}" for k in range(n)]))
    path = sorted({0, n - 1, *draw(st.sets(st.integers(0, n - 1)))})
    path = list(pairwise(path))
    others = [edge for edge in combinations(range(n), 2) if edge not in path]
    first, last = draw(st.sampled_from([(0, n - 1), path[0]]))
    edges = draw(st.permutations([*path, *_some(draw, others)]))
    return [(names[u], names[v]) for u, v in edges], names[first], names[last]


def _some(draw, values):
    return [value for value in values if draw(st.booleans())]
