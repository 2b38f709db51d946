"""Output spaces: one file each."""

from maxmargin.tasks.alignment import Alignment
from maxmargin.tasks.chain import Chain, Weighted
from maxmargin.tasks.contingency import Contingency
from maxmargin.tasks.forest import Forest, Linked
from maxmargin.tasks.gaps import Gaps
from maxmargin.tasks.grammar import Grammar
from maxmargin.tasks.groups import Groups, WeightedRows
from maxmargin.tasks.homologs import Aligned, Homologs
from maxmargin.tasks.joint_kernel import JointKernelTask
from maxmargin.tasks.motif import Motif, Occurrence
from maxmargin.tasks.multiclass import Multiclass
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
    "Column",
    "Contingency",
    "Forest",
    "Gaps",
    "Grammar",
    "Groups",
    "Homologs",
    "JointKernelTask",
    "Linked",
    "Match",
    "Motif",
    "Multiclass",
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
