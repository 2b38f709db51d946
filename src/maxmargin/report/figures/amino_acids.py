"""Letters of amino acids, as figures group them."""

from __future__ import annotations

# Amino acids by the chemistry of their side chains: sulphur; small; acids, their amides and the like; bases; aliphatic;
# aromatic. Behind them, letters that stand for several of them, and rare ones.
GROUPS = ("C", "STPAG", "NDEQ", "HRK", "MILV", "FYW", "BZJXUO*")
ONLY_IN_PROTEINS = set("EFILPQ")  # the other letters of amino acids are codes of nucleotides, too
