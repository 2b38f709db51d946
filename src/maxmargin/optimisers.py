"""Optimisers: solvers of combinatorial problems whose costs can be learnt, such as shortest paths and assignments.

`CostSolver` is the contract of an optimiser, and `Optimiser` is the base class for user-defined ones.
"""

from maxmargin.structures.parts.optimisers.arborescence import Arborescence
from maxmargin.structures.parts.optimisers.assignment import Assignment
from maxmargin.structures.parts.optimisers.base import CostSolver, Optimiser
from maxmargin.structures.parts.optimisers.dag_path import DagPath
from maxmargin.structures.parts.optimisers.grid_path import GridPath
from maxmargin.structures.parts.optimisers.knapsack import Knapsack
from maxmargin.structures.parts.optimisers.linear_program import LinearProgram
from maxmargin.structures.parts.optimisers.min_cost_flow import MinCostFlow
from maxmargin.structures.parts.optimisers.shortest_path import ShortestPath
from maxmargin.structures.parts.optimisers.spanning_tree import SpanningTree

__all__ = [
    "Arborescence",
    "Assignment",
    "CostSolver",
    "DagPath",
    "GridPath",
    "Knapsack",
    "LinearProgram",
    "MinCostFlow",
    "Optimiser",
    "ShortestPath",
    "SpanningTree",
]
