"""Small graphs, and all of their paths and trees."""

from itertools import combinations, product

import numpy as np
from hypothesis import strategies as st


@st.composite
def arc_lists(draw, n_nodes, most=9, acyclic=False):
    """Arcs between some nodes, in any order; two may have the same ends, and one may be a loop."""
    pairs = [(u, v) for u, v in product(range(n_nodes), repeat=2) if not acyclic or u < v]
    return draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=most))


def all_paths(arcs, source, target, directed=True):
    """The sets of arcs of all paths that visit no node twice."""
    found = set()

    def walk(at, seen, chosen):
        if at == target:
            found.add(frozenset(chosen))
            return
        for p, (u, v) in enumerate(arcs):
            for tail, head in [(u, v)] if directed else [(u, v), (v, u)]:
                if tail == at and head not in seen:
                    walk(head, seen | {head}, [*chosen, p])

    walk(source, {source}, [])
    return sorted(map(sorted, found))


def joined(n_nodes, edges):
    """Whether edges, in either direction, hold all nodes together."""
    group = np.arange(n_nodes)
    for u, v in edges:
        group[group == group[u]] = group[v]
    return len(set(group)) == 1


def all_spanning_trees(n_nodes, arcs):
    """Those of n - 1 edges that join all nodes."""
    return [
        chosen for chosen in combinations(range(len(arcs)), n_nodes - 1) if joined(n_nodes, [arcs[p] for p in chosen])
    ]


def all_arborescences(n_nodes, arcs, root):
    """Spanning trees with one arc into every node but the root."""
    others = [v for v in range(n_nodes) if v != root]
    return [chosen for chosen in all_spanning_trees(n_nodes, arcs) if sorted(arcs[p][1] for p in chosen) == others]
