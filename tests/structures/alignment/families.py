"""Families of sequences: what rankers of homologs are tested on."""

import numpy as np

from maxmargin.tasks import Aligned

LETTERS = "ACDEFG"


def families(n=12, seed=0, length=10, decoys=4):
    """Native sequences, a changed copy of each among strangers, and where it is; (X, Y)."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        native = rng.integers(len(LETTERS), size=length)
        copy = [int(letter) ^ 1 if rng.random() < 0.7 else int(letter) for letter in native]  # A and C, D and E, …
        lost = int(rng.integers(1, length - 1))
        pairs = [(i, i - (i > lost)) for i in range(length) if i != lost]
        candidates = [rng.integers(len(LETTERS), size=length) for _ in range(decoys)]
        place = int(rng.integers(decoys + 1))
        candidates.insert(place, np.delete(copy, lost))
        X.append((_text(native), [_text(candidate) for candidate in candidates]))
        Y.append(Aligned(place, pairs))
    return X, Y


def _text(numbers):
    return "".join(LETTERS[k] for k in numbers)
