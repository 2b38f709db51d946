"""The target of a query: the set of k documents that training takes as the true output."""

from __future__ import annotations

import numpy as np

from maxmargin.structures.diversity.subtopics import Subtopics
from maxmargin.structures.diversity.word_coverage import WordCoverage, entropy


def target(coverage: WordCoverage, subtopics: Subtopics, k: int) -> list[int]:
    """Choose z*, one of the sets of k documents that cover the largest weight of subtopics.

    Among the documents with the needed subtopics, it greedily takes those that cover most words by the importance
    -r log2 r; ties go to the first. If fewer than k are needed, the rest are chosen in the same way among documents
    with any subtopic, then among the others.
    """
    left = list(subtopics.best(k))
    values, covered = entropy(coverage.n_documents / coverage.n), np.zeros(coverage.n_items, dtype=bool)
    own = [frozenset(each.tolist()) for each in subtopics.numbers]
    chosen: list[int] = []
    while len(chosen) < k:
        free = [d for d in range(coverage.n) if d not in chosen]
        needed = [d for d in free if own[d] in left]
        candidates = needed or [d for d in free if own[d]] or free
        gains = [float(values[items[~covered[items]]].sum()) for items in map(coverage.contents, candidates)]
        best = candidates[int(np.argmax(gains))]
        chosen.append(best)
        covered[coverage.contents(best)] = True
        left = [each for each in left if each != own[best]]
    return chosen
