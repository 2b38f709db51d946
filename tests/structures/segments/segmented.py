"""Small problems of segments: X of attribute lists, Y of tags."""

import numpy as np

TYPES = ["PER", "LOC"]


def segmented(n=20, seed=0, longest=7, spans=False):
    """Sentences whose words tell, most of the time, in which segment they are."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        T, t, tags, given = int(rng.integers(2, longest + 1)), 0, [], []
        while t < T:
            k, length = int(rng.integers(3)), min(int(rng.integers(1, 4)), T - t)
            if k == 2:
                tags.append("O")
                t += 1
                continue
            given.append((t, t + length, TYPES[k]))
            tags += [f"{'I' if d else 'B'}-{TYPES[k]}" for d in range(length)]
            t += length
        shown = [tag if rng.random() < 0.85 else "O" for tag in tags]
        X.append([[f"word={tag}{int(rng.integers(2))}", f"kind={tag[2:]}", "bias"] for tag in shown])
        Y.append(given if spans else tags)
    return X, Y


def text(tokens, begin, end):
    """Features of a whole segment: its words, and how many."""
    return [f"text={' '.join(token[0] for token in tokens[begin:end])}", f"even={(end - begin) % 2}"]
