"""Output spaces: one file each."""

from maxmargin.tasks.chain import Chain, Weighted
from maxmargin.tasks.multiclass import Multiclass
from maxmargin.tasks.sequences import Sequences

__all__ = ["Chain", "Multiclass", "Sequences", "Weighted"]
