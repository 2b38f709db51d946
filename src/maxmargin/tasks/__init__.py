"""Output spaces: one file each."""

from maxmargin.tasks.chain import Chain, Weighted
from maxmargin.tasks.contingency import Contingency
from maxmargin.tasks.groups import Groups, WeightedRows
from maxmargin.tasks.multiclass import Multiclass
from maxmargin.tasks.ordinal import Ordinal
from maxmargin.tasks.ranking import Ranked, Ranking
from maxmargin.tasks.sequences import Sequences
from maxmargin.tasks.taxonomy import Taxonomy

__all__ = [
    "Chain",
    "Contingency",
    "Groups",
    "Multiclass",
    "Ordinal",
    "Ranked",
    "Ranking",
    "Sequences",
    "Taxonomy",
    "Weighted",
    "WeightedRows",
]
