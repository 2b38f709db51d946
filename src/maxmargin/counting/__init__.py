"""Counting-based training: output sets whose moments are known in closed form, their trainer and their decoders."""

from maxmargin.counting.certificate import CountingCertificate
from maxmargin.counting.sets.arborescences import Arborescences
from maxmargin.counting.sets.assignments import Assignments
from maxmargin.counting.sets.classes import Classes, OrderedClasses
from maxmargin.counting.sets.cycles import CyclicPermutations, HamiltonianCycles
from maxmargin.counting.sets.dag_paths import DagPaths
from maxmargin.counting.sets.graphs import Cliques, EdgeSets, KCliques
from maxmargin.counting.sets.hierarchy import HierarchyLabels, HierarchyPaths
from maxmargin.counting.sets.matchings import Matchings, PerfectMatchings
from maxmargin.counting.sets.orders import PartialTournaments, Permutations
from maxmargin.counting.sets.output_set import DecodedOutput, Eigenspace, OutputSet
from maxmargin.counting.sets.paths import Paths
from maxmargin.counting.sets.sequences import LabelSequences
from maxmargin.counting.sets.spanning_trees import SpanningTrees
from maxmargin.counting.sets.subsets import AllSubsets, Subsets

__all__ = [
    "AllSubsets",
    "Arborescences",
    "Assignments",
    "Classes",
    "Cliques",
    "CountingCertificate",
    "CyclicPermutations",
    "DagPaths",
    "DecodedOutput",
    "EdgeSets",
    "Eigenspace",
    "HamiltonianCycles",
    "HierarchyLabels",
    "HierarchyPaths",
    "KCliques",
    "LabelSequences",
    "Matchings",
    "OrderedClasses",
    "OutputSet",
    "PartialTournaments",
    "Paths",
    "PerfectMatchings",
    "Permutations",
    "SpanningTrees",
    "Subsets",
]
