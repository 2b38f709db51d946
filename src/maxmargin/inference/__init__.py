"""The best labelling of a graph with scores of nodes and edges: one file per method.

`PairwiseModel` is the problem, `Answer` what every method returns, and `plan` chooses the method that suits a graph.
"""

from maxmargin.inference.expansion import best_expansion
from maxmargin.inference.forest import best_forest, forest_order, is_forest
from maxmargin.inference.junction_tree import best_junction_tree, elimination_order
from maxmargin.inference.messages import pass_messages
from maxmargin.inference.min_cut import best_cut, best_roof_dual, submodular
from maxmargin.inference.model import Answer, PairwiseModel, Relaxed
from maxmargin.inference.plan import Plan, plan
from maxmargin.inference.relaxation import best_relaxation

__all__ = [
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
