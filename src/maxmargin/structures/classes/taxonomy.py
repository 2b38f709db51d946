"""Taxonomy: hierarchical classification with a tree or lattice of classes."""

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
    """Hierarchical classification: Ψ(x, z) = x ⊗ Λ(z), where Λ(z) is 1 at z, and `sharing` at all nodes above it.

    Every node has a weight vector, and the score of a class is the sum of the scores on its path from the root: the
    difference between a node and its siblings is learnt from all classes below it. The root, which all classes share,
    has none. sharing=1 is the model of Tsochantaridis et al. 2004, section 4.2; sharing=0 gives every class one weight
    vector of its own, as in Multiclass. Between the two, weights of inner nodes are penalised 1/sharing² as much as
    those of classes.

    X is a dense or sparse (n, F) matrix.

    Parameters
    ----------
    taxonomy : dict, list of pairs, str or None
        {child: parent} or, in a lattice, {child: [parents]}; a list of (parent, child) pairs; a separator such as ".",
        if labels are paths ("6.2.0" is below "6.2", which is below "6"); or None: no hierarchy, as in MulticlassSVC.
        There must be one root; the parent None is a root without a name, for {"cat": "animal", "animal": None, …}.
    classes : sequence or None
        The labels, if the data may not contain all of them and the taxonomy (a separator or None) does not name them.
    sharing : float
        How much weight classes share through common ancestors: with 0 every class has only weights of its own (the
        taxonomy then only defines the measure); 1 is the model of the paper.
    measure : "tree" or "error"
        The cost of a mistake. "tree": the height of the first common ancestor of truth and prediction, in edges (the
        larger of the two numbers if they are not equally deep). "error": 1.
    costs : None, dict or array
        Costs of mistakes, which replace `measure`: {label: cost of missing it}, or a matrix cost[true, predicted] in
        the order of the classes.
    predict_at : "leaves" or "nodes"
        The nodes that are classes: the leaves, so that a training label at an inner node is an error; or all nodes with
        a name, so that training labels and predictions may be less specific.
    kernel : None, str, callable or Kernel
        A kernel of rows (maxmargin.kernels), whose features replace x.

    See Also
    --------
    maxmargin.TaxonomySVC : The estimator.
    Ordinal : Classes with an order.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import tasks
    >>> task = tasks.Taxonomy({"cat": "animal", "dog": "animal", "animal": None, "fern": None})
    >>> task.setup(np.eye(3), ["cat", "dog", "fern"])
    >>> task.loss("cat", "dog"), task.loss("cat", "fern")
    (1.0, 2.0)
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
            raise ValueError(
                "this taxonomy names its classes itself; use classes only with taxonomy=None or a separator"
            )
        self.n_features_ = width(X)
        read = (Y, "example") if self.classes is None else (self.classes, "class")
        hierarchy = read_hierarchy(self.taxonomy, *read)
        classes = hierarchy.nodes if self.predict_at == "nodes" else hierarchy.leaves
        if len(classes) < 2:
            raise ValueError(f"only one class was found ({classes!r}); a classifier needs at least two classes")
        nodes, marks = classes, sparse.eye_array(len(classes))
        if self.sharing > 0:
            nodes, above = hierarchy.attributes(classes)
            numbers = {node: v for v, node in enumerate(nodes)}
            own = [(k, numbers[label]) for k, label in enumerate(classes) if label in numbers]
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
