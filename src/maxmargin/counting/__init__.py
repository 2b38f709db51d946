"""Counting-based training: output sets whose moments are known in closed form, the trainer and the decoders."""

from maxmargin.counting.arborescences import Arborescences
from maxmargin.counting.assignments import Assignments
from maxmargin.counting.classes import Multiclass, Ordinal
from maxmargin.counting.cycles import CyclicPermutations, HamiltonianCycles
from maxmargin.counting.dag_paths import DagPaths
from maxmargin.counting.graphs import Cliques, Graphs, KCliques
from maxmargin.counting.hierarchy import Hierarchy, HierarchyPaths
from maxmargin.counting.matchings import Matchings, PerfectMatchings
from maxmargin.counting.orders import PartialTournaments, Permutations
from maxmargin.counting.output_set import Decoded, Eigenspace, OutputSet
from maxmargin.counting.paths import Paths
from maxmargin.counting.sequences import Sequences
from maxmargin.counting.spanning_trees import SpanningTrees
from maxmargin.counting.subsets import Multilabel, Subsets
from maxmargin.counting.training import Residual

__all__ = [
    "Arborescences",
    "Assignments",
    "Cliques",
    "CyclicPermutations",
    "DagPaths",
    "Decoded",
    "Eigenspace",
    "Graphs",
    "HamiltonianCycles",
    "Hierarchy",
    "HierarchyPaths",
    "KCliques",
    "Matchings",
    "Multiclass",
    "Multilabel",
    "Ordinal",
    "OutputSet",
    "PartialTournaments",
    "Paths",
    "PerfectMatchings",
    "Permutations",
    "Residual",
    "Sequences",
    "SpanningTrees",
    "Subsets",
]
