"""Counting-based training: output sets whose moments are known in closed form, the trainer and the decoders."""

from maxmargin.counting.sets.arborescences import Arborescences
from maxmargin.counting.sets.assignments import Assignments
from maxmargin.counting.sets.classes import Multiclass, Ordinal
from maxmargin.counting.sets.cycles import CyclicPermutations, HamiltonianCycles
from maxmargin.counting.sets.dag_paths import DagPaths
from maxmargin.counting.sets.graphs import Cliques, Graphs, KCliques
from maxmargin.counting.sets.hierarchy import Hierarchy, HierarchyPaths
from maxmargin.counting.sets.matchings import Matchings, PerfectMatchings
from maxmargin.counting.sets.orders import PartialTournaments, Permutations
from maxmargin.counting.sets.output_set import Decoded, Eigenspace, OutputSet
from maxmargin.counting.sets.paths import Paths
from maxmargin.counting.sets.sequences import Sequences
from maxmargin.counting.sets.spanning_trees import SpanningTrees
from maxmargin.counting.sets.subsets import Multilabel, Subsets
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
