"""Taxonomy: one class per example, in a tree or lattice of classes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import inf
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import sparse

from maxmargin.base.checks import is_real
from maxmargin.base.files.fields import LabelArray
from maxmargin.base.files.objects import Field, Fields
from maxmargin.inputs.labels.hierarchy import read_hierarchy
from maxmargin.inputs.labels.labels import Labels, label_array, plain
from maxmargin.structures.classes.attributes import Attributed
from maxmargin.structures.classes.multiclass import width

PredictAt = Literal["leaves", "nodes"]
TaxonomyMeasure = Literal["tree", "error"]


class Taxonomy(Attributed):
    """Ψ(x, z) = x ⊗ Λ(z), where Λ(z) is 1 at z, and `sharing` at all nodes above it.

    Every node has a weight vector, and the score of a class is the sum of the scores on its way from the root: what
    tells a node from its siblings is learnt from all classes below it. The root, which all classes share, has none.
    sharing=1 is the model of Tsochantaridis et al. 2004, section 4.2; sharing=0 gives every class one weight vector of
    its own, as Multiclass does. Between the two, weights of nodes above are penalised 1/sharing² as much as a class's.

    X is a dense or sparse (n, F) matrix.

    Parameters
    ----------
    taxonomy : dict, list of pairs, str or None
        {child: parent} or, in a lattice, {child: [parents]}; a list of (parent, child) pairs; a separator such as ".",
        where labels are paths ("6.2.0" is below "6.2" is below "6"); or None: no hierarchy, as in MulticlassSVC. There
        must be one root; the parent None is a root without a name, for {"cat": "animal", "animal": None, …}.
    classes : sequence or None
        The labels, where they are not all in the data and are not named by the taxonomy (it is a separator or None).
    sharing : float
        How much classes share what they have in common: 0 gives every class weights of its own (the taxonomy then
        serves the measure), 1 is the paper's model, in which weights of nodes above cost no more than a class's.
    measure : "tree" or "error"
        What a mistake costs. "tree": the height of the first common ancestor of truth and prediction, in edges (the
        larger of the two numbers where they are not equally deep). "error": 1.
    costs : None, dict or array
        A price list, which takes the place of `measure`: {label: cost of missing it}, or a matrix cost[true, predicted]
        in the order of the classes.
    predict_at : "leaves" or "nodes"
        Which nodes are classes: the leaves, and a training label at an inner node is an error; or all nodes with a
        name, so that training labels and predictions may be less specific.
    kernel : None, str, callable or Kernel
        None, or a kernel of rows (maxmargin.kernels), whose features take the place of x.
    """

    saved: ClassVar[Fields] = {"nodes_": LabelArray("n_attributes_"), "inner_": Field()}

    def __init__(
        self,
        taxonomy: Any = None,
        classes: Sequence[Hashable] | None = None,
        sharing: float = 0.5,
        measure: TaxonomyMeasure = "tree",
        costs: Any = None,
        predict_at: PredictAt = "leaves",
        kernel: Any = None,
    ):
        self.taxonomy = taxonomy
        self.classes = classes
        self.sharing = sharing
        self.measure = measure
        self.costs = costs
        self.predict_at = predict_at
        self.kernel = kernel

    def setup(self, X: Any, Y: Any) -> None:
        if self.predict_at not in ("leaves", "nodes"):
            raise ValueError(f"predict_at must be 'leaves' or 'nodes', got {self.predict_at!r}")
        if not is_real(self.sharing) or not 0 <= float(self.sharing) < inf:
            raise ValueError(f"sharing must be a number >= 0 (0 shares nothing, 1 all), got {self.sharing!r}")
        if self.classes is not None and not (self.taxonomy is None or isinstance(self.taxonomy, str)):
            raise ValueError("classes is for taxonomy=None or a separator; this taxonomy names its classes itself")
        self.n_features_ = width(X)
        read = (Y, "example") if self.classes is None else (self.classes, "class")
        hierarchy = read_hierarchy(self.taxonomy, *read)
        classes = hierarchy.nodes if self.predict_at == "nodes" else hierarchy.leaves
        if len(classes) < 2:
            raise ValueError(f"only one class was found ({classes!r}); a classifier needs at least two classes")
        nodes, marks = classes, sparse.eye_array(len(classes))
        if self.sharing > 0:
            nodes, above = hierarchy.attributes(classes)
            place = {node: v for v, node in enumerate(nodes)}
            own = [(k, place[label]) for k, label in enumerate(classes) if label in place]
            marks = float(self.sharing) * sparse.lil_array(above, dtype=float)
            marks[tuple(np.transpose(own))] = 1.0
        self._describe(classes, self._costs("tree", lambda: hierarchy.losses(classes)), X, Y, marks)
        self.nodes_ = label_array(nodes, Y)
        self.inner_: set[Hashable] = set(hierarchy.nodes) - set(classes)

    def _numbers(self, Y: Any) -> Labels:
        for i, label in enumerate(Y):
            if label in self.inner_:
                raise ValueError(
                    f"example {i}: the label {plain(label)!r} is an inner node of the taxonomy; expected a leaf (with "
                    "predict_at='nodes' inner nodes are classes too)"
                )
        return super()._numbers(Y)
