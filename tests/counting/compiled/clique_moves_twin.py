"""Plain twins of the tabu searches for heavy sets of vertices: every value is computed from scratch."""

import numpy as np


def value_of(W, h, members):
    inside = np.flatnonzero(members)
    return float(sum(W[u, v] for k, u in enumerate(inside) for v in inside[k + 1 :]) + sum(h[u] for u in inside))


def flip_search(W, h, members, tenures, best, highest):
    """(best, highest) after one search."""

    def choose(members, free, highest):
        after = {v: value_of(W, h, moved(members, v)) for v in range(len(h))}
        allowed = [v for v in after if v in free or after[v] > highest]
        return (max(allowed, key=after.get),) if allowed else None  # the first of the best

    return _search(W, h, members, tenures, best, highest, choose, [(v,) for v in range(len(h))])


def swap_search(W, h, members, tenures, best, highest):
    """(best, highest) after one search."""

    def choose(members, free, highest):
        inner, outer = [v for v in free if members[v]], [v for v in free if not members[v]]
        if not inner or not outer:
            return None
        out = max(inner, key=lambda u: value_of(W, h, moved(members, u)))
        return out, max(outer, key=lambda v: value_of(W, h, moved(members, out, v)))

    pairs = [(u, v) for u in range(len(h)) for v in range(len(h)) if u != v]
    return _search(W, h, members, tenures, best, highest, choose, pairs)


def moved(members, *vertices):
    other = members.copy()
    other[list(vertices)] ^= True
    return other


def _search(W, h, members, tenures, best, highest, choose, moves):
    free_at = np.zeros(len(h), dtype=int)
    if value_of(W, h, members) > highest:
        best, highest = members, value_of(W, h, members)
    for step, tenure in enumerate(tenures):
        move = choose(members, [v for v in range(len(h)) if free_at[v] <= step], highest)
        if move is None:
            break
        members = moved(members, *move)
        free_at[list(move)] = step + 1 + tenure
        if value_of(W, h, members) > highest:
            best, highest = members, value_of(W, h, members)
    while True:
        after = {
            move: value_of(W, h, moved(best, *move))
            for move in moves
            if len(move) == 1 or best[move[0]] > best[move[1]]
        }
        move = max(after, key=after.get, default=None)
        if move is None or after[move] <= highest:
            return best, highest
        best, highest = moved(best, *move), after[move]
