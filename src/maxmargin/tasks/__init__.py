"""Output spaces: one file each."""

from maxmargin.tasks.alignment import Alignment
from maxmargin.tasks.chain import Chain, Weighted
from maxmargin.tasks.contingency import Contingency
from maxmargin.tasks.gaps import Gaps
from maxmargin.tasks.grammar import Grammar
from maxmargin.tasks.groups import Groups, WeightedRows
from maxmargin.tasks.homologs import Aligned, Homologs
from maxmargin.tasks.multiclass import Multiclass
from maxmargin.tasks.ordinal import Ordinal
from maxmargin.tasks.ranking import Ranked, Ranking
from maxmargin.tasks.sequences import Sequences
from maxmargin.tasks.substitution import Match, PairFeatures
from maxmargin.tasks.taxonomy import Taxonomy
from maxmargin.tasks.views import Average, Column, Product, View, Window

__all__ = [
    "Aligned",
    "Alignment",
    "Average",
    "Chain",
    "Column",
    "Contingency",
    "Gaps",
    "Grammar",
    "Groups",
    "Homologs",
    "Match",
    "Multiclass",
    "Ordinal",
    "PairFeatures",
    "Product",
    "Ranked",
    "Ranking",
    "Sequences",
    "Taxonomy",
    "View",
    "Weighted",
    "WeightedRows",
    "Window",
]
