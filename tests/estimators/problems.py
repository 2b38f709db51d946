"""Small problems for the tests of estimators, and a task in plain Python."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.utils import estimator_checks

from maxmargin import Task

CHECKS_WITHOUT_DATA = [
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_tags_renamed,
    estimator_checks.check_valid_tag_types,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
    estimator_checks.check_mixin_order,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_set_params,
]

LABELS = ["det", "noun", "verb"]
AFTER = np.array([[0.05, 0.9, 0.05], [0.2, 0.1, 0.7], [0.7, 0.2, 0.1]])


def sequences(n=24, seed=0, form="dense"):
    """Sequences of three labels that prefer a cycle, with noisy features; (X, Y)."""
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        labels = [int(rng.integers(3))]
        for _ in range(int(rng.integers(1, 6))):
            labels.append(int(rng.choice(3, p=AFTER[labels[-1]])))
        shown = [k if rng.random() < 0.75 else int(rng.integers(3)) for k in labels]
        X.append(_seen(shown, rng, form))
        Y.append([LABELS[k] for k in labels])
    return X, Y


def _seen(shown, rng, form):
    numbers = rng.random(len(shown)).round(3)
    if form == "attributes":
        return [[f"word={3 * k + int(3 * u)}", f"kind={k}", "bias"] for k, u in zip(shown, numbers, strict=True)]
    if form == "dicts":
        return [
            {"word": str(3 * k + int(3 * u)), "size": float(u), "upper": k == 0}
            for k, u in zip(shown, numbers, strict=True)
        ]
    matrix = np.column_stack([np.eye(3)[shown], numbers])
    return sparse.csr_array(matrix) if form == "sparse" else matrix


FORMS = ["dense", "sparse", "attributes", "dicts"]


class Threshold(Task):
    """Which of a few numbers is the largest after weighting: a task as a user writes one."""

    def __init__(self, scale=1.0):
        self.scale = scale

    def setup(self, X, Y):
        self.dim = X[0].shape[1]

    def psi(self, x, z):
        return self.scale * x[z]

    def loss(self, y, z):
        return float(y != z)

    def outputs(self, x):
        return range(len(x))


def choices(n=20, seed=0):
    """For Threshold: five rows each, the right one first by a hidden weight vector, sometimes another."""
    rng = np.random.default_rng(seed)
    hidden = np.array([1.0, -2.0, 0.5])
    X = [rng.standard_normal((5, 3)) for _ in range(n)]
    return X, [int(np.argmax(x @ hidden + 0.5 * rng.standard_normal(5))) for x in X]
