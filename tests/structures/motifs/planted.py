"""Random strings, some of them with a planted motif."""

from __future__ import annotations

import numpy as np

COMPLEMENTS = str.maketrans("ACGT", "TGCA")
MOTIF = "TTGACGTCCA"


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
