"""Searches with ambiguous queries: what diversifiers are tested on."""

import numpy as np


def searches(n=12, seed=0, fields=False, documents_each=24):
    """Queries with five subtopics of different size; (X, Y).

    A document has some of the four words of its subtopic, words that all documents have, and words of its own: the more
    of these, the less it is about anything.
    """
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for q in range(n):
        documents, subtopics = [], []
        for d in range(documents_each):
            topic = int(rng.choice(6, p=[0.3, 0.2, 0.15, 0.1, 0.05, 0.2]))
            words = [f"q{q}t{topic}w{j}" for j in range(4) if topic < 5 and rng.random() < 0.7]
            words += [f"common{j}" for j in range(3) if rng.random() < 0.8]
            words += [f"q{q}d{d}w{j}" for j in range(rng.integers(2, 5) + 4 * (topic == 5))]
            documents.append({"title": " ".join(words[:2]), "body": " ".join(words)} if fields else " ".join(words))
            subtopics.append({f"t{topic}"} if topic < 5 else set())
        X.append(documents)
        Y.append(subtopics)
    return X, Y
