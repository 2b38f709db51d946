"""Three structures with their decoders, and all of their outputs by enumeration."""

from itertools import permutations, product

import numpy as np
from scipy.optimize import linear_sum_assignment

# --- dependency trees: arcs head -> dependent of words 1 … n, 0 is the root; arc (h, d) is part h * n + d - 1


def n_words(n_parts):
    return int((np.sqrt(4 * n_parts + 1) - 1) / 2 + 0.5)


def heads_to_parts(heads):
    n = len(heads)
    return np.array([h * n + d for d, h in enumerate(heads)])


def all_trees(n_parts):
    n = n_words(n_parts)
    for heads in product(range(n + 1), repeat=n):
        if all(_reaches_root(heads, d) for d in range(1, n + 1)):
            yield heads_to_parts(heads)


def _reaches_root(heads, d):
    seen = set()
    while d and d not in seen:
        seen.add(d)
        d = heads[d - 1]
    return d == 0


def best_tree(scores, x=None):
    """Chu and Liu, Edmonds: the best head of every word, and cycles contracted as long as there are any."""
    n = n_words(len(scores))
    table = np.full((n + 1, n + 1), -np.inf)  # head, dependent
    table[:, 1:] = scores.reshape(n + 1, n)
    np.fill_diagonal(table, -np.inf)
    return heads_to_parts(_heads(table)[1:])


def _heads(table):
    n = len(table)
    heads = np.array([-1, *(int(np.argmax(table[:, d])) for d in range(1, n))])
    cycle = _cycle(heads)
    if not cycle:
        return heads
    rest = [v for v in range(n) if v not in cycle]
    inside = sum(table[heads[v], v] for v in cycle)
    small = np.full((len(rest) + 1, len(rest) + 1), -np.inf)
    enters, leaves = {}, {}
    for i, u in enumerate(rest):
        for j, v in enumerate(rest):
            small[i, j] = table[u, v]
        gains = [table[u, v] - table[heads[v], v] for v in cycle]
        enters[i] = cycle[int(np.argmax(gains))]
        small[i, -1] = inside + max(gains)
        scores = [table[v, u] for v in cycle]
        leaves[i] = cycle[int(np.argmax(scores))]
        small[-1, i] = max(scores)
    small[:, 0] = -np.inf
    found = _heads(small)
    for j in range(1, len(rest)):
        heads[rest[j]] = leaves[j] if found[j] == len(rest) else rest[found[j]]
    heads[enters[found[-1]]] = rest[found[-1]]
    return heads


def _cycle(heads):
    for start in range(1, len(heads)):
        path, v = [], start
        while v > 0 and v not in path:
            path.append(v)
            v = heads[v]
        if v > 0:
            return path[path.index(v) :]
    return []


# --- assignments with births and deaths: pair (i, j) is part i * m + j, then n deaths, then m births


def best_assignment(scores, x):
    """Every old item is paired with a new one or dies, every new one is paired or born (linear_sum_assignment)."""
    n, m = x.shape_of_pairs
    pairs, deaths, births = scores[: n * m].reshape(n, m), scores[n * m : n * m + n], scores[n * m + n :]
    table = np.full((n + m, n + m), -1e9 * (1 + np.abs(scores).sum()))
    table[:n, :m] = pairs
    table[np.arange(n), m + np.arange(n)] = deaths
    table[n + np.arange(m), np.arange(m)] = births
    table[n:, m:] = 0.0
    rows, columns = linear_sum_assignment(table, maximize=True)
    return np.array([_part(i, j, n, m) for i, j in zip(rows, columns, strict=True) if i < n or j < m], dtype=int)


def _part(i, j, n, m):
    if i < n and j < m:
        return i * m + j
    return n * m + i if i < n else n * m + n + j


def all_assignments(n, m):
    for partners in product(range(m + 1), repeat=n):  # m: dies
        used = [j for j in partners if j < m]
        if len(set(used)) == len(used):
            parts = [_part(i, j if j < m else m + i, n, m) for i, j in enumerate(partners)]
            yield np.array(parts + [_part(n + j, j, n, m) for j in range(m) if j not in used], dtype=int)


class Scene(np.ndarray):
    """Features of all pairs, deaths and births, with the numbers of old and new items."""

    @classmethod
    def of(cls, features, n, m):
        scene = np.asarray(features, dtype=float).view(cls)
        scene.shape_of_pairs = n, m
        return scene

    def __array_finalize__(self, other):
        self.shape_of_pairs = getattr(other, "shape_of_pairs", None)


# --- grid paths: cells of a rows × columns grid, from the upper left to the lower right, right or down


def best_path(scores, x):
    rows, columns = x.shape_of_pairs
    cells = scores.reshape(rows, columns)
    best = np.full((rows + 1, columns + 1), -np.inf)
    best[0, 1] = 0.0
    for i in range(rows):
        for j in range(columns):
            best[i + 1, j + 1] = cells[i, j] + max(best[i, j + 1], best[i + 1, j])
    i, j, path = rows - 1, columns - 1, []
    while i >= 0 and j >= 0:
        path.append(i * columns + j)
        if best[i, j + 1] >= best[i + 1, j]:
            i -= 1
        else:
            j -= 1
    return np.array(path[::-1])


def all_paths(rows, columns):
    steps = "d" * (rows - 1) + "r" * (columns - 1)
    for order in set(permutations(steps)):
        i = j = 0
        path = [0]
        for step in order:
            i, j = (i + 1, j) if step == "d" else (i, j + 1)
            path.append(i * columns + j)
        yield np.array(path)
