"""Checks of dependency trees that users give."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np

from maxmargin.base.checks import is_whole
from maxmargin.inputs.labels.labels import plain


class HeadsOfWords(NamedTuple):
    """A tree: the head of every word, 0 for the root or the number of a word from 1 on; labels if there are any."""

    heads: list[int]  # the head of every word
    labels: list[Hashable] | None

    def as_given(self) -> list[Any]:
        """Return the tree in the form that users give: heads, or pairs of head and label."""
        return list(self.heads) if self.labels is None else list(zip(self.heads, self.labels, strict=True))


def read_heads(y: Any, name: str) -> HeadsOfWords:
    """Read a list of heads, or of (head, label); `name` names the tree in messages."""
    if isinstance(y, str) or not isinstance(y, Sequence | np.ndarray):
        raise ValueError(f"{name} is {y!r}; expected a list of heads, or of pairs (head, label)")
    if len(y) == 0:
        raise ValueError(f"{name} is empty; expected a head for every word")
    given = y.tolist() if isinstance(y, np.ndarray) else list(y)
    if all(is_whole(head) for head in given):
        return HeadsOfWords([int(head) for head in given], None)
    heads, labels = [], []
    for m, pair in enumerate(given, 1):
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not is_whole(pair[0]):
            raise ValueError(f"{name}: word {m} has {pair!r}; expected a head, a whole number, or a pair (head, label)")
        heads.append(int(pair[0]))
        labels.append(plain(pair[1]))
    return HeadsOfWords(heads, labels)


def check_tree(heads: Sequence[int], n: int, name: str, single_root: bool = False, projective: bool = False) -> None:
    """Raise a ValueError that names the word, unless these are the heads of a tree over n words."""
    if len(heads) != n:
        raise ValueError(f"{name} has {len(heads)} heads; expected {n}, one for every word")
    for m, head in enumerate(heads, 1):
        if not 0 <= head <= n:
            raise ValueError(f"{name}: word {m} has the head {head}; expected 0, the root, or a word from 1 to {n}")
    roots = [m for m, head in enumerate(heads, 1) if head == 0]
    if not roots:
        raise ValueError(f"{name} has no root: no word has the head 0")
    cycle = first_cycle(heads)
    if cycle:
        raise ValueError(f"{name} is not a tree: the words {' -> '.join(map(str, [*cycle, cycle[0]]))} form a cycle")
    if single_root and len(roots) > 1:
        raise ValueError(
            f"{name} has {len(roots)} roots, the words {', '.join(map(str, roots))}; expected one word with the head 0 "
            "(single_root=False allows more)"
        )
    crossing = first_crossing(heads) if projective else None
    if crossing:
        (a, b), (c, d) = crossing
        raise ValueError(
            f"{name} is not projective: the arcs {a} - {b} and {c} - {d} cross; leave such sentences out, or use "
            "projective=False"
        )


def first_cycle(heads: Sequence[int]) -> list[int]:
    """Return the words of a cycle, each followed by its head; an empty list if there is none."""
    done = [False] * (len(heads) + 1)
    done[0] = True
    for start in range(1, len(heads) + 1):
        path, m = [], start
        while not done[m]:
            done[m] = True
            path.append(m)
            m = heads[m - 1]
        if m in path:
            return path[path.index(m) :]
    return []


def first_crossing(heads: Sequence[int]) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Return two arcs that cross, as pairs of their ends; None if the tree is projective.

    The arc from the root counts like the others, with the root before the first word.
    """
    arcs = sorted((min(m, head), max(m, head)) for m, head in enumerate(heads, 1))
    for k, (a, b) in enumerate(arcs):
        for c, d in arcs[k + 1 :]:
            if a < c < b < d:
                return (a, b), (c, d)
    return None
