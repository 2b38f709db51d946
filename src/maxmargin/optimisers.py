"""Solvers that come along: the cheapest, or most valuable, set of parts, for those who learn costs.

`CostSolver` is the contract, `Optimiser` the base class of a solver of one's own.
"""

from maxmargin.structures.parts.solvers.arborescence import Arborescence
from maxmargin.structures.parts.solvers.assignment import Assignment
from maxmargin.structures.parts.solvers.base import CostSolver, Optimiser
from maxmargin.structures.parts.solvers.dag_path import DagPath
from maxmargin.structures.parts.solvers.grid_path import GridPath
from maxmargin.structures.parts.solvers.knapsack import Knapsack
from maxmargin.structures.parts.solvers.linear_program import LinearProgram
from maxmargin.structures.parts.solvers.min_cost_flow import MinCostFlow
from maxmargin.structures.parts.solvers.shortest_path import ShortestPath
from maxmargin.structures.parts.solvers.spanning_tree import SpanningTree

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
