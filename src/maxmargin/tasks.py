"""Tasks: the definitions of structured outputs, and the score spaces in which they are searched."""

from maxmargin.inputs.labels.weighted import Weighted
from maxmargin.inputs.tokens.tokens import Sequences
from maxmargin.kernels.joint_kernel import JointKernelTask
from maxmargin.problem.contract.pieces import Pieces, Unit
from maxmargin.problem.contract.scored import BestOutputs, Scored, ScoreSpace, inner
from maxmargin.structures.alignment.alignment_space import AlignmentScores, AlignmentSpace
from maxmargin.structures.alignment.gaps import Gaps
from maxmargin.structures.alignment.homologs import Aligned, Homologs
from maxmargin.structures.alignment.substitution import Match, PairFeatures
from maxmargin.structures.alignment.task import Alignment
from maxmargin.structures.alignment.views import Average, Column, Product, View, Window
from maxmargin.structures.assignment.frames import Frames
from maxmargin.structures.assignment.task import Links
from maxmargin.structures.classes.class_space import ClassSpace
from maxmargin.structures.classes.label_set_space import LabelSetSpace
from maxmargin.structures.classes.multiclass import Multiclass
from maxmargin.structures.classes.ordinal import Ordinal
from maxmargin.structures.classes.taxonomy import Taxonomy
from maxmargin.structures.clustering.correlation import Clustered, Correlation
from maxmargin.structures.clustering.forest import Forest, Linked
from maxmargin.structures.clustering.pairs import Pairs
from maxmargin.structures.decisions.decision_space import DecisionSpace
from maxmargin.structures.decisions.observations import Observed
from maxmargin.structures.decisions.task import Decisions
from maxmargin.structures.dependencies.arc_space import ArcSpace
from maxmargin.structures.dependencies.task import Dependencies
from maxmargin.structures.diversity.documents import Documents
from maxmargin.structures.diversity.task import Chosen, Diversity
from maxmargin.structures.graphs.graph_space import GraphScores, GraphSpace
from maxmargin.structures.graphs.nodes import Nodes
from maxmargin.structures.graphs.task import Graph
from maxmargin.structures.motifs.task import Motif, Occurrence
from maxmargin.structures.parsing.task import Grammar
from maxmargin.structures.parsing.tree_space import TreeScores, TreeSpace
from maxmargin.structures.parts.numbers import PricedParts
from maxmargin.structures.parts.part_space import PartSpace
from maxmargin.structures.parts.task import Parts
from maxmargin.structures.ranking.contingency import Contingency
from maxmargin.structures.ranking.groups import Groups
from maxmargin.structures.ranking.ranking import Ranked, Ranking
from maxmargin.structures.ranking.ranking_space import RankingSpace
from maxmargin.structures.ranking.row_labels import WeightedRows
from maxmargin.structures.ranking.topk import TopK
from maxmargin.structures.segments.segment_space import SegmentScores, SegmentSpace
from maxmargin.structures.segments.segment_text import SegmentText
from maxmargin.structures.segments.task import SemiMarkov
from maxmargin.structures.sequences.chain_space import ChainScores, ChainSpace
from maxmargin.structures.sequences.padded_chains import PaddedChains
from maxmargin.structures.sequences.task import Chain

__all__ = [
    "Aligned",
    "Alignment",
    "AlignmentScores",
    "AlignmentSpace",
    "ArcSpace",
    "Average",
    "BestOutputs",
    "Chain",
    "ChainScores",
    "ChainSpace",
    "Chosen",
    "ClassSpace",
    "Clustered",
    "Column",
    "Contingency",
    "Correlation",
    "DecisionSpace",
    "Decisions",
    "Dependencies",
    "Diversity",
    "Documents",
    "Forest",
    "Frames",
    "Gaps",
    "Grammar",
    "Graph",
    "GraphScores",
    "GraphSpace",
    "Groups",
    "Homologs",
    "JointKernelTask",
    "LabelSetSpace",
    "Linked",
    "Links",
    "Match",
    "Motif",
    "Multiclass",
    "Nodes",
    "Observed",
    "Occurrence",
    "Ordinal",
    "PaddedChains",
    "PairFeatures",
    "Pairs",
    "PartSpace",
    "Parts",
    "Pieces",
    "PricedParts",
    "Product",
    "Ranked",
    "Ranking",
    "RankingSpace",
    "ScoreSpace",
    "Scored",
    "SegmentScores",
    "SegmentSpace",
    "SegmentText",
    "SemiMarkov",
    "Sequences",
    "Taxonomy",
    "TopK",
    "TreeScores",
    "TreeSpace",
    "Unit",
    "View",
    "Weighted",
    "WeightedRows",
    "Window",
    "inner",
]
