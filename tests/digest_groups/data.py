"""What digests are taken of: small data generated from fixed seeds, and kernels.

Whoever changes a number here can no longer compare digests with those of an earlier version. The same goes for what is
borrowed from other tests: example_tasks and the generators of structures/.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits, make_classification
from structures.clustering.walks import as_arrays, walks

from maxmargin import Tree, kernels, tasks

ANIMALS = {"cat": "pet", "dog": "pet", "pet": "animal", "cow": "animal", "oak": "plant", "animal": None, "plant": None}
SPECIES = np.array(["cat", "dog", "cow", "oak"])


def table(n=90, n_features=8, n_classes=4, seed=0):
    X, y = make_classification(
        n, n_features, n_informative=5, n_redundant=1, n_classes=n_classes, n_clusters_per_class=1, random_state=seed
    )
    return X, y


def images(n=80):
    X, y = load_digits(return_X_y=True)
    return X[:n] / 16, y[:n]


def rare(n=150, seed=0):
    X, y = make_classification(n, 8, n_informative=5, n_redundant=0, weights=[0.8], flip_y=0.03, random_state=seed)
    return X, y


def chains(n=16, n_labels=3, n_features=4, seed=0, noise=0.8):
    """Dense sequences whose labels mostly count upwards."""
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((n_labels, n_features))
    X, Y = [], []
    for _ in range(n):
        y = [int(rng.integers(n_labels))]
        for _ in range(int(rng.integers(2, 7))):
            y.append((y[-1] + 1) % n_labels if rng.random() < 0.7 else int(rng.integers(n_labels)))
        X.append(means[y] + noise * rng.standard_normal((len(y), n_features)))
        Y.append(y)
    return X, Y


def hidden_labels(Y, seed=0):
    """Some labels replaced by None, some by a set of two."""
    rng = np.random.default_rng(seed)
    shown = [[[k, k, k, None, {k, (k + 1) % 3}][rng.integers(5)] for k in y] for y in Y]
    shown[0] = list(Y[0])
    shown[1] = [None] * len(Y[1])
    return shown


def tagged(n=10, seed=0):
    """Sentences as lists of attribute strings, with BIO tags."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        words, tags = [], []
        for _ in range(int(rng.integers(2, 5))):
            kind = ("PER", "LOC", "O")[rng.integers(3)]
            for place in range(int(rng.integers(1, 3))):
                words.append(f"{kind}{place}{rng.integers(3)}" if rng.random() < 0.8 else f"rare{rng.integers(3)}")
                tags.append("O" if kind == "O" else f"{'I' if place else 'B'}-{kind}")
        before = ["<", *words]
        X.append([[f"word={w}", f"after={before[t]}", "bias"] for t, w in enumerate(words)])
        Y.append(tags)
    return X, Y


def token_dicts(X):
    """The same tokens as dicts of features of all kinds."""
    return [
        [{"word": t[0], "around": [t[0], t[1]], "length": len(t[0]) / 8, "bias": True} for t in sentence]
        for sentence in X
    ]


def treebank(n=12, seed=0):
    """Trees in which a phrase belongs to the verb or to the noun."""
    rng = np.random.default_rng(seed)
    words = {
        "D": ["the", "a"],
        "J": ["old", "big-eyed"],
        "N": ["dog", "Cat", "PARK", "bird-2", "42"],
        "V": ["saw", "chased"],
        "P": ["in", "near"],
        "O": ["of"],
    }

    def word(tag):
        return Tree(tag, [str(rng.choice(words[tag]))])

    def noun(depth):
        before = [word("D")] if rng.random() < 0.6 else []
        before += [word("J") for _ in range(int(rng.integers(0, 3))) if rng.random() < 0.5]
        found = Tree("NP", [*before, word("N")])
        if depth and rng.random() < 0.4:
            found = Tree("NP", [found, where("P" if rng.random() < 0.3 else "O", depth)])
        return found

    def where(tag, depth):
        return Tree("PP", [word(tag), noun(depth - 1)])

    trees = []
    for _ in range(n):
        rest = [noun(2)]
        if rng.random() < 0.5:
            rest.append(where("P" if rng.random() < 0.9 else "O", 1))
        trees.append(Tree("S", [noun(1), Tree("VP", [word("V"), *rest])]))
    return trees


def with_columns(pairs, seed=0):
    """The same sequences with a structure of three letters and a profile of two numbers at every position."""
    rng = np.random.default_rng(seed)

    def side(text):
        ss = "".join("HE-"["ACGT".index(a) % 3] if rng.random() < 0.8 else "-" for a in text)
        return {"residue": text, "ss": ss, "profile": rng.standard_normal((len(text), 2))}

    return [(side(a), side(b)) for a, b in pairs]


def planted(n=12, seed=0, motif="TTGACGTC", kept=0.9, alphabet="ACGT"):
    """n strings with a motif on either strand and n without."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(2 * n):
        text = "".join(rng.choice(list(alphabet), int(rng.integers(20, 30))))
        if i < n:
            copy = "".join(a if rng.random() < kept else str(rng.choice(list(alphabet))) for a in motif)
            if rng.random() < 0.5 and alphabet == "ACGT":
                copy = copy[::-1].translate(str.maketrans("ACGT", "TGCA"))
            start = int(rng.integers(len(text) - len(motif) + 1))
            text = text[:start] + copy + text[start + len(motif) :]
        X.append(text)
        y.append("with" if i < n else "without")
    return X, np.array(y)


def near_pairs(X, most=1.5):
    """The same sets with their nearer pairs listed only, as sparse features."""
    found = []
    for x in X:
        i, j = np.triu_indices(len(x), 1)
        near = x[i, j, 0] < most
        listed = np.column_stack([i[near], j[near]])
        found.append(tasks.Pairs(len(x), listed, sparse.csr_array(x[i[near], j[near]])))
    return found


def graphs(n=6, n_nodes=8, n_labels=3, extra=3, edge_features=None, alike=0.6, seed=0):
    """Random trees with `extra` more edges: (features, edges) or (features, edges, edge_features).

    A share `alike` of neighbours in the tree have the same label, others any other one.
    """
    rng = np.random.default_rng(seed)
    means = rng.standard_normal((n_labels, 3))
    X, Y = [], []
    for _ in range(n):
        edges = [(int(rng.integers(v)), v) for v in range(1, n_nodes)]
        while len(edges) < n_nodes - 1 + extra:
            u, v = sorted(rng.choice(n_nodes, 2, replace=False).tolist())
            if (u, v) not in edges:
                edges.append((u, v))
        y = np.zeros(n_nodes, dtype=int)
        y[0] = rng.integers(n_labels)
        for u, v in edges[: n_nodes - 1]:
            y[v] = (y[u] + (0 if rng.random() < alike else rng.integers(1, n_labels))) % n_labels
        features = np.hstack([means[y] + rng.standard_normal((n_nodes, 3)), np.ones((n_nodes, 1))])
        if edge_features is None:
            X.append((features, np.array(edges)))
        else:
            X.append((features, np.array(edges), rng.random((len(edges), edge_features))))
        Y.append(y)
    return X, Y


def pictures(n=4, n_labels=2, size=5, seed=0, **grid):
    """Grids with a patch of another label."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        y = np.zeros((size, size), dtype=int)
        for label in range(1, n_labels):
            a, b = rng.integers(0, size - 1, 2)
            y[a : a + 3, b : b + 3] = label
        image = np.stack([y + 0.7 * rng.standard_normal(y.shape), np.ones(y.shape)], axis=2)
        X.append(tasks.Nodes.grid(image, **grid))
        Y.append(y)
    return X, Y


def trips(n=10, seed=0, shortest=1):
    """Inputs of two features and routes through some of six points."""
    rng = np.random.default_rng(seed)
    points = ["inn", "zoo", "bay", "hill", "port", "mill"]
    X = rng.standard_normal((n, 2))
    routes = [rng.permutation(points)[: rng.integers(shortest, 6)].tolist() for _ in range(n)]
    return X, routes


def drawn(output_set, n=8, n_features=3, seed=0):
    """Inputs, and outputs of the set by lot."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_features))
    return X, [output_set.sample(rng) for _ in range(n)]


def linked(n=8, seed=0):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        size = int(rng.integers(1, 4))
        X.append((rng.standard_normal((size, 2)), rng.integers(-1, 2, (size, size)).astype(float)))
        Y.append(tuple(int(k) for k in rng.integers(0, 2, size)))
    return X, Y


def sentences(**options):
    trees = treebank(**options)
    return [tree.tokens() for tree in trees], trees


def clusters():
    X, Y = walks(6, longest=5)
    X = as_arrays(X)
    return X, Y, near_pairs(X)


def intersections(A, B):
    """A kernel function of two matrices."""
    return np.minimum(np.abs(A)[:, None, :], np.abs(B)[None, :, :]).sum(axis=2)


def rbf(X, gamma):
    """A kernel matrix that is computed beforehand."""
    return np.exp(-gamma * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def rbf_map(n_components, **options):
    return kernels.KernelMap(kernel="rbf", n_components=n_components, **options)
