"""ClassHierarchy: named nodes below one root, each with one parent (a tree) or several (a lattice)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.inputs.labels.labels import in_order, plain


class ClassHierarchy:
    """A hierarchy of nodes with their ancestors and distances.

    parents : {child: its parents}. None as a parent is an unnamed root, which is never a class. Exactly one node (or
        None) has no parent.

    `nodes` are all named nodes and `leaves` those without children; both are sorted if possible, otherwise in order of
    appearance.
    """

    def __init__(self, parents: Mapping[Hashable, Sequence[Hashable]]):
        above = {**dict.fromkeys(p for several in parents.values() for p in several), **parents}
        roots = [node for node, several in above.items() if not several]
        order = _downwards({node: several or () for node, several in above.items()})
        if len(roots) > 1:
            raise ValueError(
                f"the taxonomy has {len(roots)} roots, nodes without a parent: {_some(roots)}; expected one. Give them "
                "a common parent, which may be None, a root without a name (in pairs the parent comes first)"
            )
        inner = {parent for several in parents.values() for parent in several}
        self.nodes = in_order(node for node in above if node is not None)
        self.leaves = in_order(node for node in self.nodes if node not in inner)
        # downwards: each column is the minimum of the columns of its parents, plus one step
        self._number = {node: k for k, node in enumerate([*self.nodes, *([None] if None in above else [])])}
        self._down = np.full((len(above), len(above)), np.inf, dtype=np.float32)
        for node in order:
            k = self._number[node]
            for parent in above[node] or ():
                np.minimum(self._down[:, k], self._down[:, self._number[parent]] + 1, out=self._down[:, k])
            self._down[k, k] = 0

    def attributes(self, classes: Sequence[Hashable]) -> tuple[list[Hashable], NDArray[np.bool_]]:
        """Return a row Λ(z) per class, which marks z and all nodes above it (Tsochantaridis et al. 2004, section 4.2).

        Its columns are the nodes that are returned with it. Nodes that are above all classes, such as the root, are
        left out, because they cancel in every comparison of two classes.
        """
        marks = np.isfinite(self._down[:, self._numbers(classes)]).T
        telling = [k for k in range(len(self.nodes)) if not marks[:, k].all()]
        return [self.nodes[k] for k in telling], marks[:, telling]

    def losses(self, classes: Sequence[Hashable]) -> Array:
        """Return the tree losses of all pairs: the height of the lowest common ancestor, in edges.

        Δ(y, z) = min over common ancestors c of max(edges from c down to y, edges from c down to z), along the shortest
        path if there are several. If all leaves are equally deep, this is the height of c in the tree (section 4.2 of
        the paper). An inner node and a node d edges below it have the loss d.
        """
        down = self._down[:, self._numbers(classes)]
        losses = np.full((len(classes), len(classes)), np.inf, dtype=np.float32)
        for row in down:
            below = np.flatnonzero(np.isfinite(row))
            square = np.ix_(below, below)
            losses[square] = np.minimum(losses[square], np.maximum.outer(row[below], row[below]))
        return losses.astype(np.float64)

    def _numbers(self, classes: Sequence[Hashable]) -> list[int]:
        return [self._number[label] for label in classes]


def read_hierarchy(taxonomy: Any, labels: Iterable[Hashable], where: str = "example") -> ClassHierarchy:
    """Return the hierarchy that a taxonomy describes, in any of its accepted forms.

    taxonomy : {child: parent} or {child: [parents]}; a list of (parent, child) pairs; a separator such as ".", if
        labels are paths ("6.2.0" below "6.2" below "6", all below an unnamed root); or None: all labels directly below
        an unnamed root.
    labels : the labels, needed for the last two forms. Errors refer to label i as `where` i.
    """
    if taxonomy is None:
        return ClassHierarchy({label: [None] for label in in_order(labels)})
    if isinstance(taxonomy, str):
        return ClassHierarchy(_paths(taxonomy, labels, where))
    try:
        parents = _mapped(taxonomy) if isinstance(taxonomy, Mapping) else _paired(taxonomy)
        if not any(parents.values()):
            raise ValueError("the taxonomy is empty; expected at least one node with a parent")
        return ClassHierarchy(parents)
    except TypeError as error:  # a name is not hashable
        raise ValueError(f"the name of a node of the taxonomy is not hashable: {error}") from None


def _mapped(taxonomy: Mapping[Any, Any]) -> dict[Hashable, list[Hashable]]:
    if None in taxonomy:
        raise ValueError("the taxonomy gives None a parent, but None stands for the unnamed root")
    several = (list, tuple, set, frozenset)
    return {
        plain(child): list(map(plain, above)) if isinstance(above, several) else [plain(above)]
        for child, above in taxonomy.items()
    }


def _paired(taxonomy: Any) -> dict[Hashable, list[Hashable]]:
    expected = "expected {child: parent}, {child: [parents]}, a list of (parent, child) pairs, a separator or None"
    try:
        pairs = list(taxonomy)
    except TypeError:
        raise ValueError(f"taxonomy is {taxonomy!r}; {expected}") from None
    parents: dict[Hashable, list[Hashable]] = {}
    for i, pair in enumerate(pairs):
        if isinstance(pair, str) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise ValueError(f"taxonomy[{i}] is {pair!r}; {expected}")
        parent, child = map(plain, pair)
        if child is None:
            raise ValueError(f"taxonomy[{i}] puts None below {parent!r}, but None stands for the unnamed root")
        parents.setdefault(child, []).append(parent)
    return parents


def _paths(separator: str, labels: Iterable[Hashable], where: str) -> dict[Hashable, list[Hashable]]:
    if not separator:
        raise ValueError("taxonomy is an empty string; expected a separator such as '.' or '/'")
    parents: dict[Hashable, list[Hashable]] = {}
    for i, label in enumerate(labels):
        if label in parents:
            continue
        name, example = plain(label), f"'a{separator}b'"
        if not isinstance(name, str):
            raise ValueError(f"{where} {i}: the label {name!r} is not a string; taxonomy={separator!r} reads {example}")
        parts = name.split(separator)
        if not all(parts):
            raise ValueError(
                f"{where} {i}: the label {name!r} has an empty part; taxonomy={separator!r} reads {example}"
            )
        path: list[Hashable] = [separator.join(parts[: k + 1]) for k in range(len(parts))]
        parents.update((below, [above]) for above, below in zip([None, *path], path, strict=False))
    return parents


def _downwards(parents: Mapping[Hashable, Sequence[Hashable]]) -> list[Hashable]:
    """Return the nodes with parents before their children; raise a ValueError that names a cycle."""
    children: dict[Hashable, list[Hashable]] = {node: [] for node in parents}
    missing = {}
    for node, above in parents.items():
        missing[node] = len(above)
        for parent in above:
            children[parent].append(node)
    ready = [node for node, count in missing.items() if count == 0]
    for node in ready:  # the list grows during the loop
        for child in children[node]:
            missing[child] -= 1
            if missing[child] == 0:
                ready.append(child)
    if len(ready) < len(parents):
        done = set(ready)
        way = [next(node for node in parents if node not in done)]
        while way[-1] not in way[:-1]:  # a walk upwards among the remaining nodes must close a cycle
            way.append(next(parent for parent in parents[way[-1]] if parent not in done))
        cycle = way[way.index(way[-1]) :]
        raise ValueError(f"the taxonomy has a cycle: {' below '.join(map(repr, cycle))}")
    return ready


def _some(names: Sequence[Hashable]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
