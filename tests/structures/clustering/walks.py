"""Sets of points whose clusters are walks: what clusterers are tested on."""

import numpy as np

from maxmargin.tasks import Pairs


def as_arrays(X):
    """The same with a feature vector for every pair of items, in symmetric arrays."""
    arrays = []
    for x in X:
        array = np.zeros((x.n_items, x.n_items, x.n_features))
        array[tuple(x.pairs.T)] = x.features
        arrays.append(array + array.transpose(1, 0, 2))
    return arrays


def walks(n=12, seed=0, longest=7):
    """Points on winding walks, one walk a cluster: its ends are far apart, and near the ends of others; (X, Y).

    Features of pairs: their distance, whether their colours differ (which one point in ten has wrong), and noise.
    """
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        points, labels, colours = [], [], []
        for k in range(int(rng.integers(2, 5))):
            at, direction = rng.random(2) * 4, rng.random() * 2 * np.pi
            for _ in range(int(rng.integers(1, longest + 1))):
                points.append(at)
                labels.append(f"walk {k}")
                colours.append(k % 3 if rng.random() < 0.9 else int(rng.integers(3)))
                direction += rng.normal() * 0.5
                at = at + 0.3 * np.array([np.cos(direction), np.sin(direction)])
        order = rng.permutation(len(points))
        points, colours = np.array(points)[order], np.array(colours)[order]
        distance = np.linalg.norm(points[:, None] - points[None, :], axis=2)
        noise = rng.normal(size=distance.shape)
        features = np.stack([distance, colours[:, None] != colours[None, :], np.triu(noise) + np.triu(noise, 1).T], 2)
        X.append(Pairs.from_array(features))
        Y.append([labels[i] for i in order])
    return X, Y
