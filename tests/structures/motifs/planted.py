"""Random strings, some of them with a planted motif, and a finder that has learnt it."""

from __future__ import annotations

from functools import cache

import numpy as np

from maxmargin import MotifFinder
from maxmargin.structures.motifs.alphabet import Alphabet
from maxmargin.structures.motifs.strings import Strings

COMPLEMENTS = str.maketrans("ACGT", "TGCA")
MOTIF = "TTGACGTCCA"
OPTIONS = {"length": len(MOTIF), "background_order": 0, "restarts": 2, "positive": "with"}


def planted(n=30, seed=0, motif=MOTIF, kept=0.9, lengths=(30, 50), alphabet="ACGT", both=True):
    """n strings with the motif and n without; (X, y, sites) with the place of the motif as (start, strand) or None."""
    rng = np.random.default_rng(seed)
    X, y, sites = [], [], []
    for i in range(2 * n):
        text = "".join(rng.choice(list(alphabet), int(rng.integers(*lengths))))
        if i < n:
            copy = "".join(a if rng.random() < kept else str(rng.choice(list(alphabet))) for a in motif)
            start, reverse = int(rng.integers(len(text) - len(motif) + 1)), bool(both and rng.random() < 0.5)
            written = copy[::-1].translate(COMPLEMENTS) if reverse else copy
            text = text[:start] + written + text[start + len(motif) :]
            sites.append((start, "-" if reverse else "+"))
        else:
            sites.append(None)
        X.append(text)
        y.append("with" if i < n else "without")
    return X, np.array(y), sites


@cache
def finder():
    """Fitted to the strings that `planted` makes by itself; no test may change it."""
    X, y, _ = planted()
    return MotifFinder(**OPTIONS).fit(X, y)


def found(sites, truth):
    """The share of planted motifs that are found, within two letters and on their strand."""
    return np.mean([abs(s.start - t[0]) <= 2 and s.strand == t[1] for s, t in zip(sites, truth, strict=True) if t])


def flipped(truth):
    """The same places on the other strand: nobody can say which of the two a motif is on."""
    return [site and (site[0], {"+": "-", "-": "+"}[site[1]]) for site in truth]


def dna_strings(X):
    """In flat arrays; all letters but those of DNA are unknown."""
    return Strings([Alphabet("ACGT").codes(x, "x", "skip") for x in X])
