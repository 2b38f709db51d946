"""Labels in a hierarchy: one label, or several labels with their ancestors."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.counting.sets.indicator import indicator
from maxmargin.counting.sets.items import Items
from maxmargin.counting.sets.one_label import OneLabel
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace, OutputSet
from maxmargin.counting.sets.scores import finite_scores
from maxmargin.counting.sets.spectra import DENSE, decomposed
from maxmargin.inputs.labels.hierarchy import read_hierarchy
from maxmargin.inputs.labels.labels import plain


class HierarchyLabels(OneLabel):
    """The set of labels of a tree or lattice of nodes; φ_i(y) = 1 if node i is y or an ancestor of y.

    This is the poset regression of Gärtner and Vembu 2009, section 5.2, with two corrections: the order is reflexive
    (with a strict one two sibling leaves have the same features), and sums are over the labels that an output can be,
    not over all nodes. With n_i labels at or below node i, of |L|,

        μ_i = n_i / |L|,     M_ij = #{labels at or below both i and j} / |L|.

    Products with S are computed from the scores of all labels, in O(Σ number of nodes above a label). Nodes that are
    above every label, such as the root, have no variance and no coordinate.

    Parameters
    ----------
    taxonomy : dict, list, str or None
        {child: parent} or, in a lattice, {child: [parents]}; a list of (parent, child) pairs; a separator such as ".",
        if labels are paths ("6.2" is below "6"); or None: all labels directly below a root. There must be one root; the
        parent None is an unnamed root.
    labels : str or sequence
        "leaves", "nodes" (all that have a name), or a sequence of the nodes that an output can be. A separator or None
        needs the sequence. Outputs are labels.

    Examples
    --------
    >>> from maxmargin.counting import HierarchyLabels
    >>> tree = {"cat": "animal", "dog": "animal", "animal": None, "oak": None}
    >>> HierarchyLabels(tree).coordinates
    ['animal', 'cat', 'dog', 'oak']
    >>> HierarchyLabels(tree).decode([1.0, 0.5, 0.0, 1.2]).y
    'cat'

    See Also
    --------
    HierarchyPaths : several labels at once.   maxmargin.TaxonomySVC : learns such labels with a large margin.
    """

    def __init__(self, taxonomy: Any, labels: str | Sequence[Hashable] = "leaves"):
        self.taxonomy = taxonomy
        self.labels = labels
        _ = self._ways

    @cached_property
    def _ways(self) -> _Ways:
        return _Ways(self.taxonomy, self.labels)

    @property
    def _items(self) -> Items:
        return self._ways.labels

    @property
    def coordinates(self) -> list[Hashable]:
        """The node of every coordinate of φ."""
        return list(self._ways.nodes)

    @property
    def dim(self) -> int:
        return len(self._ways.nodes)

    def mean(self) -> Array:
        return np.asarray(self._ways.marks.sum(0)) / len(self._ways.labels)

    def cov_apply(self, F: Array) -> Array:
        scores = F @ self._ways.marks.T
        return (scores - scores.mean(1, keepdims=True)) @ self._ways.marks / len(self._ways.labels)

    def cov_spectrum(self) -> list[Eigenspace] | None:
        """Return the eigenspaces, or None if they are not few or the set is large.

        They are few if all inner nodes of a level have equal subtrees: eigenvectors are then contrasts of siblings.
        """
        return decomposed(self.covariance()) if self.dim <= DENSE else None

    def features(self, y: Any) -> Array:
        k, marks = self._ways.number(y), self._ways.marks
        return indicator(marks.indices[marks.indptr[k] : marks.indptr[k + 1]], self.dim)

    def decode(self, f: Array) -> DecodedOutput:
        scores = self._ways.marks @ finite_scores(f, self.dim)
        best = int(np.argmax(scores))
        return DecodedOutput(self._ways.labels.names[best], float(scores[best]), True)


class _Ways:
    """The labels of a hierarchy and the nodes above each."""

    def __init__(self, taxonomy: Any, labels: Any):
        every = isinstance(labels, str)
        if every and labels not in ("leaves", "nodes"):
            raise ValueError(f"labels must be 'leaves', 'nodes' or a sequence of nodes, got {labels!r}")
        if every and (taxonomy is None or isinstance(taxonomy, str)):
            raise ValueError(f"taxonomy={taxonomy!r} does not name its nodes; give labels as a sequence")
        given = Items(() if every else labels, least=0 if every else 2, called="label")
        hierarchy = read_hierarchy(taxonomy, given.names, "label")
        self.inner = set(hierarchy.nodes)
        if every:
            given = Items(hierarchy.leaves if labels == "leaves" else hierarchy.nodes, least=2, called="label")
        for name in given.names:
            if name not in self.inner:
                raise ValueError(f"labels names {name!r}, which is not a node of the taxonomy")
        self.labels = given
        self.inner -= set(given.names)
        self.nodes, marks = hierarchy.attributes(given.names)
        self.marks = sparse.csr_array(marks, dtype=np.float64)  # (labels, nodes)

    def number(self, y: Any) -> int:
        try:
            known = plain(y) in self.inner
        except TypeError:
            known = False
        if known:
            raise ValueError(f"{plain(y)!r} is a node but not one of the labels; expected {self.labels.described()}")
        return self.labels.number(y)


class HierarchyPaths(OutputSet):
    """The set of all sets of nodes of a tree that contain all ancestors of their nodes; φ is the indicator of nodes.

    A set is the union of any number of paths down from the root, or empty. The subtree of v can be cut in f(v) = 1 + Π
    f(c) ways, the product over its children c, where v itself may be excluded. Given its parent, v is in an output with
    probability q_v = 1 - 1/f(v), independently of everything else, so that

        log |Y| = Σ_roots log f,     μ_v = Π_{u at or above v} q_u,     S_uv = μ_u μ_v (1/μ_lca(u,v) - 1),           (1)

    where the last is Σ over the common ancestors a of u and v of μ_u μ_v (1 - q_a)/μ_a: two products with the matrix of
    ancestors apply S. Gärtner and Vembu 2009 count single paths only (HierarchyLabels, section 5.2); this applies their
    scheme to documents with several categories.

    Parameters
    ----------
    taxonomy : dict or list
        {child: parent} or a list of (parent, child) pairs with one root; the parent None is an unnamed root, which no
        output contains. Outputs are frozensets of nodes.

    Examples
    --------
    >>> from maxmargin.counting import HierarchyPaths
    >>> tree = {"cat": "animal", "dog": "animal", "animal": None, "oak": None}
    >>> sorted(HierarchyPaths(tree).decode([1.0, -1.0, 1.0, -1.0]).y)
    ['animal', 'dog']

    See Also
    --------
    HierarchyLabels : one label at a time.
    """

    indicators = True

    def __init__(self, taxonomy: Any):
        self.taxonomy = taxonomy
        _ = self._tree

    @cached_property
    def _tree(self) -> _Tree:
        return _Tree(self.taxonomy)

    @property
    def coordinates(self) -> list[Hashable]:
        """The node of every coordinate of φ."""
        return list(self._tree.nodes.names)

    @property
    def dim(self) -> int:
        return len(self._tree.nodes)

    def log_size(self) -> float:
        return float(self._tree.log_cuts[self._tree.roots].sum())

    def mean(self) -> Array:
        return self._tree.mean.copy()

    def cov_apply(self, F: Array) -> Array:
        way, mean = self._tree, self._tree.mean
        weighed = ((F * mean) @ way.above.T) * (way.left_out / mean)
        return (weighed @ way.above) * mean

    def cov_spectrum(self) -> list[Eigenspace] | None:
        """Return the eigenspaces, which are few if all nodes of a level have equal subtrees, otherwise None."""
        return decomposed(self.covariance()) if self.dim <= DENSE else None

    def features(self, y: Any) -> Array:
        way = self._tree
        chosen = set(way.nodes.numbers(y, "set of nodes"))
        for v in chosen:
            if way.parent[v] >= 0 and way.parent[v] not in chosen:
                node, above = way.nodes.names[v], way.nodes.names[way.parent[v]]
                raise ValueError(
                    f"the set contains {node!r} but not {above!r}, which is above it; expected all nodes on the paths "
                    "from the root"
                )
        return indicator(sorted(chosen), self.dim)

    def decode(self, f: Array) -> DecodedOutput:
        way, f = self._tree, finite_scores(f, self.dim)
        best = f.copy()
        for v in way.downwards[::-1]:
            best[v] = max(best[v], 0.0)
            if way.parent[v] >= 0:
                best[way.parent[v]] += best[v]
        chosen = self._grown(best > 0)
        return DecodedOutput(frozenset(way.nodes.named(chosen)), float(np.sum(f[chosen])), True)

    def outputs(self) -> Iterator[frozenset]:
        way = self._tree

        def cuts(siblings: list[int]) -> Iterator[tuple[int, ...]]:
            each = [[(), *((v, *below) for below in cuts(way.children[v]))] for v in siblings]
            return (sum(combined, ()) for combined in product(*each))

        return (frozenset(way.nodes.named(numbers)) for numbers in cuts(way.roots))

    def sample(self, rng: np.random.Generator) -> frozenset:
        return frozenset(self._tree.nodes.named(self._grown(rng.random(self.dim) >= self._tree.left_out)))

    def _grown(self, wanted: NDArray[np.bool_]) -> list[int]:
        """Return the wanted nodes whose ancestors are all wanted."""
        taken = wanted.copy()
        for v in self._tree.downwards:
            if self._tree.parent[v] >= 0:
                taken[v] &= taken[self._tree.parent[v]]
        return np.flatnonzero(taken).tolist()


class _Tree:
    """A tree as arrays over its named nodes."""

    def __init__(self, taxonomy: Any):
        if taxonomy is None or isinstance(taxonomy, str):
            raise ValueError(f"taxonomy={taxonomy!r} does not name its nodes; expected {{child: parent}} or pairs")
        hierarchy = read_hierarchy(taxonomy, ())
        self.nodes = Items(hierarchy.nodes, called="node")
        d = len(self.nodes)
        above = np.ones((d, d), dtype=bool)  # [u, v]: u is v or above v; nodes above all labels have no coordinate
        telling, marks = hierarchy.attributes(hierarchy.nodes)
        above[[self.nodes.number(node) for node in telling]] = marks.T
        depth = above.sum(0)
        self.downwards = np.argsort(depth, kind="stable").tolist()
        self.parent = [-1] * d
        self.children: list[list[int]] = [[] for _ in range(d)]
        for v in self.downwards:
            ancestors = np.flatnonzero(above[:, v] & (depth < depth[v]))
            if len(ancestors):
                p = int(ancestors[np.argmax(depth[ancestors])])
                if depth[p] != depth[v] - 1:
                    raise ValueError(
                        f"node {self.nodes.names[v]!r} has several parents; expected a tree, with one parent per node "
                        "(HierarchyLabels reads lattices)"
                    )
                self.parent[v] = p
                self.children[p].append(v)
        self.roots = [v for v in range(d) if self.parent[v] < 0]
        self.above = sparse.csr_array(above, dtype=np.float64)
        self.log_cuts = np.empty(d)  # log f of (1)
        for v in self.downwards[::-1]:
            self.log_cuts[v] = np.logaddexp(0.0, self.log_cuts[self.children[v]].sum())
        self.left_out = np.exp(-self.log_cuts)  # 1 - q
        self.mean = np.empty(d)
        for v in self.downwards:
            self.mean[v] = (1 - self.left_out[v]) * (self.mean[self.parent[v]] if self.parent[v] >= 0 else 1.0)
