"""The best labelling of graphs with few cycles by variable elimination: exact, at a cost that grows with the width.

Nodes are removed one by one; each leaves a table over its remaining neighbours, and links these to one another. The
tables have at most K^(width + 1) entries, where the width, the largest number of such neighbours, depends on the order.
The removed nodes with their neighbours are the cliques of a junction tree.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.structures.graphs.inference.model import Answer, PairwiseModel, checked_edges

MOST_ENTRIES = 200_000  # limit for one table: 11 labels in a clique of 5 nodes, two labels in one of 17
MOST_IN_ALL = 2_000_000  # limit for all tables: some ten milliseconds
MOST_ENTANGLED = 10_000  # the most remaining nodes for which a search for an order is worthwhile


class EliminationTables(NamedTuple):
    """The steps of an elimination as the compiled function takes them, see compiled/elimination.py."""

    variables: NDArray[np.int64]  # the variable that each step removes
    scopes: NDArray[np.int64]  # the other variables of each step's tables, slowest digit first
    scope_bounds: NDArray[np.int64]  # step s has scopes[scope_bounds[s] : scope_bounds[s + 1]]
    levels: NDArray[np.int64]  # where the tables of every level of every step begin in the next four arrays
    base: NDArray[np.int64]  # where each table begins in the scores
    own: NDArray[np.int64]  # the stride of each table along the variable that is removed
    strides: NDArray[np.int64]  # its strides along the variables of the scope, 0 for those that it does not contain
    stride_bounds: NDArray[np.int64]  # where these strides begin
    message: NDArray[np.int64]  # where each step's message begins in the scores; its last variable has stride 1


class Elimination(NamedTuple):
    """An order in which nodes are removed."""

    order: list[int]  # all nodes
    # for each removed node: itself, then its neighbours at that time, the last to be removed last
    cliques: list[list[int]]
    width: int  # neighbours in the largest clique
    n_labels: int  # K, the number of labels of a node
    n_entries: int  # the number of entries of all tables
    tables: EliminationTables  # the tables of every step, for compiled code


def elimination_order(
    n_nodes: int, edges: Any, n_labels: int, most_entries: int = MOST_ENTRIES, most_in_all: int = MOST_IN_ALL
) -> Elimination | None:
    """Return a good elimination order of a graph, or None if it needs larger tables than allowed.

    The next node is always the one whose neighbours lack the fewest links (min-fill), on a tie the one with fewest
    neighbours. The best order is hard to find; this one is optimal if the graph is a forest or a cycle.

    Parameters
    ----------
    n_nodes : int
        The number of nodes.
    edges : array of shape (E, 2)
        The node numbers of the ends of every edge.
    n_labels : int
        The number of labels K.
    most_entries : int
        The largest size of one table, K^(width + 1).
    most_in_all : int
        The largest sum of all sizes, which is the cost of a search.

    Returns
    -------
    Elimination or None, which can be reused for all scores of the graph.
    """
    edges = checked_edges(n_nodes, edges)
    cliques = _min_fill(n_nodes, edges, n_labels, most_entries, most_in_all)
    if cliques is None:
        return None
    order = [clique[0] for clique in cliques]
    place = {node: step for step, node in enumerate(order)}
    cliques = [[clique[0], *sorted(clique[1:], key=place.__getitem__, reverse=True)] for clique in cliques]
    return Elimination(
        order,
        cliques,
        max((len(clique) - 1 for clique in cliques), default=0),
        n_labels,
        sum(n_labels ** len(clique) for clique in cliques),
        _tables(n_nodes, edges, n_labels, cliques, place),
    )


def best_junction_tree(model: PairwiseModel, elimination: Elimination | None = None) -> Answer:
    """Find the best labelling of a graph of small width, with a proof.

    Parameters
    ----------
    model : PairwiseModel
        The model.
    elimination : Elimination or None
        `elimination_order` of the graph and its number of labels, if it is known already.

    Returns
    -------
    Answer.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.inference import PairwiseModel, best_junction_tree
    >>> model = PairwiseModel.of(np.zeros((3, 2)), [(0, 1), (1, 2), (0, 2)], [np.eye(2)] * 3)
    >>> best_junction_tree(model).value
    3.0

    See Also
    --------
    best_forest : for graphs without cycles.   best_relaxation : for graphs with many.
    """
    from maxmargin.structures.graphs.compiled.elimination import eliminate

    n_labels = model.n_labels
    if elimination is None:
        elimination = elimination_order(model.n_nodes, model.edges, n_labels)
    if elimination is None:
        raise ValueError(
            f"the graph of {model.n_nodes} nodes and {model.n_edges} edges has too many cycles for {n_labels} labels: "
            f"elimination needs a table of more than {MOST_ENTRIES} entries, or {MOST_IN_ALL} in total. Use a "
            "relaxation"
        )
    if elimination.n_labels != n_labels or len(elimination.order) != model.n_nodes:
        raise ValueError(
            f"the order of elimination is for {len(elimination.order)} nodes and {elimination.n_labels} labels; "
            f"the model has {model.n_nodes} and {n_labels}"
        )
    scores = np.empty(model.unary.size + model.pair.size + elimination.n_entries // n_labels)
    scores[: model.unary.size] = model.unary.ravel()
    scores[model.unary.size : model.unary.size + model.pair.size] = model.pair.ravel()
    labels = np.empty(model.n_nodes, dtype=np.int32)
    tables, width = elimination.tables, elimination.width
    offsets, digits = np.empty(len(tables.base), dtype=np.int64), np.empty(width, dtype=np.int64)
    found = eliminate(scores, n_labels, tables, offsets, digits, np.empty((width + 1, n_labels)), labels)
    value = model.value(labels)
    return Answer(labels, value, max(value, float(found)))


def _min_fill(
    n_nodes: int, edges: NDArray[np.int32], n_labels: int, most_entries: int, most_in_all: int
) -> list[list[int]] | None:
    """Remove the nodes; return each with the neighbours that it has at that time."""
    near: list[set[int]] = [set() for _ in range(n_nodes)]
    for i, j in edges.tolist():
        near[i].add(j)
        near[j].add(i)
    if max(n_labels, 2) ** (min(map(len, near), default=0) + 1) > most_entries:
        return None  # no node has few enough neighbours to begin with
    # lacking[i]: the number of unlinked pairs of neighbours of node i, updated after each removal
    lacking = [
        sum(len(near[i]) - 1 - len(near[i] & near[j]) for j in near[i]) // 2 if len(near[i]) > 1 else 0
        for i in range(n_nodes)
    ]
    queue = [(lacking[i], len(near[i]), i) for i in range(n_nodes)]
    heapify(queue)
    gone = [False] * n_nodes
    cliques: list[list[int]] = []
    in_all = 0
    while queue:
        missing, degree, node = heappop(queue)
        if gone[node] or missing != lacking[node] or degree != len(near[node]):
            continue  # it has another entry
        entries = max(n_labels, 2) ** (degree + 1)  # with one label tables are small, but scopes need not be
        in_all += entries
        entangled = missing > 1 and n_nodes - len(cliques) > MOST_ENTANGLED
        if entries > most_entries or in_all > most_in_all or entangled:
            return None
        gone[node] = True
        around = near[node]
        cliques.append([node, *around])
        changed = set(around)
        for i in around:
            near[i].discard(node)
            lacking[i] -= len(near[i]) - len(near[i] & around)
        if missing:
            members = sorted(around)
            for at, i in enumerate(members):
                for j in members[at + 1 :]:
                    if j in near[i]:
                        continue
                    both = near[i] & near[j]
                    for other in both:
                        lacking[other] -= 1
                    changed |= both
                    lacking[i] += len(near[i]) - len(both)
                    lacking[j] += len(near[j]) - len(both)
                    near[i].add(j)
                    near[j].add(i)
        for i in changed:
            heappush(queue, (lacking[i], len(near[i]), i))
    return cliques


def _tables(
    n_nodes: int, edges: NDArray[np.int32], n_labels: int, cliques: list[list[int]], place: dict[int, int]
) -> EliminationTables:
    """Return which tables each step adds up, and their layout in memory: unary scores, pair scores, messages."""
    links: list[list[tuple[int, dict[int, int]]]] = [[] for _ in cliques]  # per step: where a table begins, its strides
    for step, clique in enumerate(cliques):
        links[step].append((clique[0] * n_labels, {clique[0]: 1}))
    begin = n_nodes * n_labels
    for i, j in edges.tolist():
        links[min(place[i], place[j])].append((begin, {i: n_labels, j: 1}))
        begin += n_labels * n_labels
    message = []
    for clique in cliques:
        message.append(begin)
        scope = clique[1:]
        if scope:
            powers = {node: n_labels**power for power, node in enumerate(reversed(scope))}
            links[place[scope[-1]]].append((begin, powers))
        begin += n_labels ** len(scope)
    scopes = [clique[1:] for clique in cliques]
    flat: list[tuple[int, int, list[int]]] = []  # tables by step and, within a step, by level
    sizes: list[int] = []  # how many a level has
    for clique, scope, own in zip(cliques, scopes, links, strict=True):
        digit = {node: d for d, node in enumerate(scope)}
        by_level: list[list[tuple[int, int, list[int]]]] = [[] for _ in range(len(scope) + 1)]
        for start, steps in own:
            level = 1 + max((digit[node] for node in steps if node in digit), default=-1)
            by_level[level].append((start, steps[clique[0]], [steps.get(node, 0) for node in scope]))
        sizes += map(len, by_level)
        flat += [table for level_tables in by_level for table in level_tables]

    def joined(parts: list[list[int]]) -> NDArray[np.int64]:
        return np.array([number for part in parts for number in part], dtype=np.int64)

    def bounds(lengths: list[int]) -> NDArray[np.int64]:
        return np.append(0, np.cumsum(lengths)).astype(np.int64)

    strides = [table[2] for table in flat]
    return EliminationTables(
        variables=np.array([clique[0] for clique in cliques], dtype=np.int64),
        scopes=joined(scopes),
        scope_bounds=bounds(list(map(len, scopes))),
        levels=bounds(sizes),
        base=np.array([table[0] for table in flat], dtype=np.int64),
        own=np.array([table[1] for table in flat], dtype=np.int64),
        strides=joined(strides),
        stride_bounds=bounds(list(map(len, strides)))[:-1],
        message=np.array(message, dtype=np.int64),
    )
