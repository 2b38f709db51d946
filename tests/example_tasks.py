"""Tasks as a user would write them, in plain Python, and the ways in which such a task can be wrong."""

from __future__ import annotations

from itertools import product

import numpy as np

from maxmargin import Task
from maxmargin.base.search import Search
from maxmargin.problem.contract.examples import Examples

ANIMALS = {
    "cat": "pet",
    "dog": "pet",
    "pet": "animal",
    "cow": "animal",
    "oak": "plant",
    "animal": "top",
    "plant": "top",
}  # child: parent


class Interval(Task):
    """The interval [a, b) of a signal x; Δ counts the positions that only one of two intervals covers. Few outputs."""

    def setup(self, X, Y):
        self.dim = 3

    def psi(self, x, z):
        a, b = z
        return np.array([x[a:b].sum(), b - a, float(a == 0)])

    def loss(self, y, z):
        return float(len(set(range(*y)) ^ set(range(*z))))

    def outputs(self, x):
        return [(a, b) for a in range(len(x)) for b in range(a + 1, len(x) + 1)]


class Tags(Task):
    """One of several tags for a bag of words, with sparse Ψ = (indices, values) in which indices repeat."""

    def __init__(self, n_words=4):
        self.n_words = n_words

    def setup(self, X, Y):
        self.tags_ = sorted(set(Y))
        self.dim = self.n_words * len(self.tags_)

    def psi(self, x, z):
        return self.n_words * self.tags_.index(z) + np.asarray(x, dtype=int), np.ones(len(x))

    def loss(self, y, z):
        return 0.0 if y == z else 1.0 + 0.5 * abs(self.tags_.index(y) - self.tags_.index(z))

    def outputs(self, x):
        return self.tags_


class Pairs(Task):
    """Binary labels that interact in all pairs: Ψ = (Σ z_i x_i, Σ_{i<j} z_i z_j g_ij). No `outputs`."""

    def setup(self, X, Y):
        self.dim = X[0][0].shape[1] + 1

    def psi(self, x, z):
        features, links = x
        z = np.asarray(z, dtype=float)
        return np.append(z @ features, z @ np.triu(links, 1) @ z)

    def loss(self, y, z):
        return float(np.count_nonzero(np.asarray(y) != np.asarray(z)))

    def argmax(self, w, x, y=None):
        return max(every_labelling(x), key=lambda z: self.psi(x, z) @ w + (0.0 if y is None else self.loss(y, z)))


def every_labelling(x):
    """All outputs of Pairs."""
    return list(product((0, 1), repeat=len(x[0])))


class Sloppy(Interval):
    """Interval with a decoder that sees every other output only, and says so."""

    search = Search.UNDERGENERATING

    def argmax(self, w, x, y=None):
        return max(self.outputs(x)[::2], key=lambda z: self.psi(x, z) @ w + (0.0 if y is None else self.loss(y, z)))

    def pack(self, X, Y):
        return Examples(self, X, Y)  # which does not list outputs, so that rescaled ones are searched


class Points(Task):
    """Outputs with given losses and margins: at w = (1,) output k has points[k] = (Δ, m). Output 0 is the truth."""

    def __init__(self, points=((0.0, 0.0),)):
        self.points = points

    def setup(self, X, Y):
        self.dim = 1

    def psi(self, x, z):
        return np.array([-self.points[z][1]])

    def loss(self, y, z):
        return float(self.points[z][0])

    def argmax(self, w, x, y=None):
        return max(range(len(self.points)), key=lambda z: self.psi(x, z) @ w + (0.0 if y is None else self.loss(y, z)))


def interval_data(n=6, seed=0, longest=5):
    """Signals with integer values; the interval covers the larger ones."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        x = rng.integers(-2, 3, rng.integers(2, longest + 1)).astype(float)
        a = int(rng.integers(0, len(x)))
        b = int(rng.integers(a + 1, len(x) + 1))
        x[a:b] += 1
        X.append(x)
        Y.append((a, b))
    return X, Y


def tag_data(n=8, seed=0):
    rng = np.random.default_rng(seed)
    X = [rng.integers(0, 4, rng.integers(1, 6)).tolist() for _ in range(n)]
    Y = [("noun", "verb", "other")[i % 3] for i in range(n)]
    return X, Y


def pair_data(n=5, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        size = int(rng.integers(1, 4))
        X.append((rng.integers(-2, 3, (size, 2)).astype(float), rng.integers(-1, 2, (size, size)).astype(float)))
        Y.append(tuple(int(label) for label in rng.integers(0, 2, size)))
    return X, Y


class Bags(Task):
    """A bag of instances has a label because of one of them, and which one is hidden: z = (label, instance).

    Ψ is the instance's features at the label. Every label of a bag has as many explanations as there are instances.
    """

    latent = True

    def __init__(self, n_labels=3, listed=False):
        self.n_labels = n_labels
        self.listed = listed  # Ψ as (indices, values)

    def setup(self, X, Y):
        self.dim = X[0].shape[1] * self.n_labels

    def psi(self, x, z):
        label, instance = z
        width = x.shape[1]
        if self.listed:
            return label * width + np.arange(width), x[instance]
        full = np.zeros(self.dim)
        full[label * width : (label + 1) * width] = x[instance]
        return full

    def loss(self, y, z):
        return float(abs(y - z[0]))

    def outputs(self, x):
        return [(label, instance) for label in range(self.n_labels) for instance in range(len(x))]

    def label(self, z):
        return z[0]


def bag_data(n=6, seed=0, largest=3, n_labels=3):
    """Bags of integer vectors; one instance of each points to the label."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for i in range(n):
        x = rng.integers(-2, 3, (rng.integers(1, largest + 1), 2)).astype(float)
        y = i % n_labels
        x[rng.integers(len(x))] += [y - 1, abs(y - 1)]
        X.append(x)
        Y.append(y)
    return X, Y


def partial_sequences(n=6, seed=0):
    """For Chain: sequences with three labels, some of which are not known (None) or known to be one of two."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        labels = rng.integers(0, 3, rng.integers(1, 4)).tolist()
        X.append(rng.integers(-1, 2, (len(labels), 2)).astype(float) + np.eye(3)[labels][:, :2])
        Y.append([[label, label, None, {label, (label + 1) % 3}][rng.integers(4)] for label in labels])
    Y[0] = list(range(3))[: len(Y[0])]
    return X, Y
