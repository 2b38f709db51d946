"""Methods that find the best labelling of a graph, given scores of its nodes and edges.

`PairwiseModel` is the problem, `Answer` is the result of every method, and `plan` chooses a method for a graph.
"""

from maxmargin.structures.graphs.inference.expansion import best_expansion
from maxmargin.structures.graphs.inference.forest import best_forest, forest_order, is_forest
from maxmargin.structures.graphs.inference.junction_tree import best_junction_tree, elimination_order
from maxmargin.structures.graphs.inference.messages import pass_messages
from maxmargin.structures.graphs.inference.min_cut import best_cut, best_roof_dual, submodular
from maxmargin.structures.graphs.inference.model import Accuracy, Answer, PairwiseModel, Relaxed
from maxmargin.structures.graphs.inference.plan import Plan, plan
from maxmargin.structures.graphs.inference.relaxation import best_relaxation

__all__ = [
    "Accuracy",
    "Answer",
    "PairwiseModel",
    "Plan",
    "Relaxed",
    "best_cut",
    "best_expansion",
    "best_forest",
    "best_junction_tree",
    "best_relaxation",
    "best_roof_dual",
    "elimination_order",
    "forest_order",
    "is_forest",
    "pass_messages",
    "plan",
    "submodular",
]
