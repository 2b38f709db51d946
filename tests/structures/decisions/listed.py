"""Optimisers that list their decisions, for the proofs, and tasks that can show the list."""

from itertools import combinations, product

import numpy as np

from maxmargin.tasks import Decisions


class Listed:
    """The best of these decisions."""

    def __init__(self, outputs, sense="min"):
        self.outputs = np.asarray(outputs, dtype=float)
        self.sense = sense
        self.n_parts = self.outputs.shape[1]

    def __call__(self, costs):
        values = self.outputs @ costs
        return self.outputs[np.argmin(values) if self.sense == "min" else np.argmax(values)]

    def check(self, z):
        return bool((self.outputs == z).all(axis=1).any())


class Together(Listed):
    """The same, many at once."""

    def solve_many(self, costs):
        return np.array([self(each) for each in costs])


class EachByItself:
    """Every part by itself: it is chosen where it pays. Takes any number of parts."""

    def __call__(self, costs):
        return costs < 0

    def solve_many(self, costs):
        return costs < 0

    def __repr__(self):  # without an address, which would make names of tests differ from process to process
        return "EachByItself()"


class Nonnegative(Together):
    """Believes that costs are >= 0, and says so."""

    nonnegative = True
    same_size = True

    def __call__(self, costs):
        assert (costs >= 0).all()
        return super().__call__(costs)


class Hasty(Together):
    """Looks at every other decision only."""

    exact = False

    def __call__(self, costs):
        return Listed(self.outputs[::2], self.sense)(costs)


class ListedDecisions(Decisions):
    """Decisions of listing optimisers; x is a Case."""

    def outputs(self, x):
        return (x.optimiser or self.optimiser).outputs


def subsets(n, k):
    """All choices of k of n parts."""
    return [np.isin(np.arange(n), chosen).astype(float) for chosen in combinations(range(n), k)]


def some_sets(rng, n_parts, n_outputs=6):
    """Different decisions of zeros and ones, by chance."""
    every = np.array(list(product([0.0, 1.0], repeat=n_parts)))
    return every[rng.permutation(len(every))[:n_outputs]]


def some_points(rng, n_parts, n_outputs=6, scale=1.0):
    """Decisions of any numbers."""
    return scale * rng.standard_normal((n_outputs, n_parts))
