"""Output spaces: one file each."""

from maxmargin.tasks.alignment import Alignment
from maxmargin.tasks.chain import Chain, Weighted
from maxmargin.tasks.contingency import Contingency
from maxmargin.tasks.correlation import Clustered, Correlation
from maxmargin.tasks.diversity import Chosen, Diversity
from maxmargin.tasks.documents import Documents
from maxmargin.tasks.forest import Forest, Linked
from maxmargin.tasks.gaps import Gaps
from maxmargin.tasks.grammar import Grammar
from maxmargin.tasks.graph import Graph
from maxmargin.tasks.groups import Groups, WeightedRows
from maxmargin.tasks.homologs import Aligned, Homologs
from maxmargin.tasks.joint_kernel import JointKernelTask
from maxmargin.tasks.motif import Motif, Occurrence
from maxmargin.tasks.multiclass import Multiclass
from maxmargin.tasks.nodes import Nodes
from maxmargin.tasks.ordinal import Ordinal
from maxmargin.tasks.pairs import Pairs
from maxmargin.tasks.ranking import Ranked, Ranking
from maxmargin.tasks.sequences import Sequences
from maxmargin.tasks.substitution import Match, PairFeatures
from maxmargin.tasks.taxonomy import Taxonomy
from maxmargin.tasks.topk import TopK
from maxmargin.tasks.views import Average, Column, Product, View, Window

__all__ = [
    "Aligned",
    "Alignment",
    "Average",
    "Chain",
    "Chosen",
    "Clustered",
    "Column",
    "Contingency",
    "Correlation",
    "Diversity",
    "Documents",
    "Forest",
    "Gaps",
    "Grammar",
    "Graph",
    "Groups",
    "Homologs",
    "JointKernelTask",
    "Linked",
    "Match",
    "Motif",
    "Multiclass",
    "Nodes",
    "Occurrence",
    "Ordinal",
    "PairFeatures",
    "Pairs",
    "Product",
    "Ranked",
    "Ranking",
    "Sequences",
    "Taxonomy",
    "TopK",
    "View",
    "Weighted",
    "WeightedRows",
    "Window",
]
