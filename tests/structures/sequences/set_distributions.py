"""Distributions of sequences and models for which the coverage of prediction sets is simulated, adversarial ones among
them. The features of a position are the scores of its labels, so that a distribution decides everything about the
model, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from maxmargin import SequenceLabeler

K = 3


@cache
def plain_model(links: float = 0.0, **options: Any) -> SequenceLabeler:
    """Make a model of the labels 0, 1 and 2 whose unit scores are the features; random links of this size."""
    rows = [np.eye(K)[[0, 1, 2, 0]], np.eye(K)[[2, 1, 0]]]
    model = SequenceLabeler(max_passes=1, classes=[0, 1, 2], **options).fit(rows, [[0, 1, 2, 0], [2, 1, 0]])
    w = links * np.random.default_rng(0).standard_normal(len(model.w_))
    w[-K * K :] = np.eye(K).ravel()
    model.w_ = w
    return model


def banned_model() -> SequenceLabeler:
    """Make a model that never predicts label 2 after label 0."""
    return plain_model(0.5, forbidden=((0, 2),))


def long_model() -> SequenceLabeler:
    """Make a model that remembers two labels."""
    return plain_model(0.5, order=2)


class Distribution(NamedTuple):
    """A model, and a function that draws one sequence of unit scores and its labels."""

    model: Callable[[], SequenceLabeler]
    draw: Callable[[np.random.Generator], tuple[Any, list[Any]]]
    most: int = 300


def labels(rng, low, high):
    return rng.integers(K, size=rng.integers(low, high + 1))


def seen_through(strength, noise, low, high, scale=1.0, offset=0.0):
    """Scores that say the label with some strength, which may be negative, through noise."""

    def draw(rng):
        y = labels(rng, low, high)
        return scale * (strength * np.eye(K)[y] + noise * rng.standard_normal((len(y), K)) + offset), y.tolist()

    return draw


def of_whole_numbers(rng):
    """Scores with many ties."""
    y = labels(rng, 1, 4)
    return np.round(np.eye(K)[y] + 0.7 * rng.standard_normal((len(y), K))), y.tolist()


def of_nothing(rng):
    """Equal scores for all labels."""
    y = labels(rng, 1, 3)
    return np.zeros((len(y), K)), y.tolist()


def of_one_input(rng):
    """The same scores always, and labels by chance."""
    return np.array([[0.3, 0.1, 0.2], [0.1, 0.3, 0.3]]), rng.choice(K, 2, p=[0.1, 0.2, 0.7]).tolist()


def with_rare_label(rng):
    """Labels of which 95 in 100 are the same, and the others always look like it."""
    y = np.where(rng.random(rng.integers(1, 5)) < 0.95, 0, 2)
    return 2 * np.eye(K)[np.zeros_like(y)] + rng.standard_normal((len(y), K)), y.tolist()


def with_heavy_tails(rng):
    """Cauchy scores."""
    y = labels(rng, 1, 4)
    return np.eye(K)[y] + rng.standard_cauchy((len(y), K)), y.tolist()


def easy_or_hard(rng):
    """Short sequences that are easy, and long ones that are labelled the other way."""
    if rng.random() < 0.5:
        return seen_through(4.0, 1.0, 1, 1)(rng)
    return seen_through(-2.0, 1.0, 4, 5)(rng)


def against_temperatures(share):
    """One label of either of two kinds. A temperature that is fitted without the new one makes it look the worst one.

    With low temperatures the first kind has the more probable truths, with high ones the second kind.
    """

    def draw(rng):
        jitter = 0.01 * rng.standard_normal(K)
        if rng.random() < share:
            return np.array([[1.0, 0.5, -8.0]]) + jitter, [1]
        return np.array([[0.0, -0.05, -0.05]]) + jitter, [0]

    return draw


def in_several(draw, times):
    """Sequences of several such positions."""

    def several(rng):
        found = [draw(rng) for _ in range(times)]
        return np.concatenate([x for x, _ in found]), [k for _, y in found for k in y]

    return several


def with_unknown(share):
    """Some positions have a label that the model does not know."""

    def draw(rng):
        x, y = seen_through(2.0, 1.0, 1, 3)(rng)
        return x, ["unknown" if rng.random() < share else k for k in y]

    return draw


def with_open_labels(rng):
    """Some labels are missing or sets."""
    x, y = seen_through(1.0, 1.0, 1, 4)(rng)
    return x, [[None, {k, 0}, k, k][rng.integers(4)] for k in y]


def with_empty(rng):
    """Some sequences have no positions."""
    return seen_through(1.0, 1.0, 0, 2)(rng)


DISTRIBUTIONS = {
    "good": Distribution(plain_model, seen_through(3.0, 1.0, 1, 4)),
    "weak": Distribution(plain_model, seen_through(0.5, 1.0, 2, 4)),
    "linked": Distribution(lambda: plain_model(1.0), seen_through(2.0, 1.0, 2, 5)),
    "the other way": Distribution(plain_model, seen_through(-3.0, 1.0, 3, 3)),
    "the other way, single": Distribution(plain_model, seen_through(-3.0, 0.5, 1, 1)),
    "the other way, linked": Distribution(lambda: plain_model(1.0), seen_through(-1.0, 1.0, 2, 4)),
    "noise": Distribution(plain_model, seen_through(0.0, 1.0, 3, 3)),
    "noise, single": Distribution(plain_model, seen_through(0.0, 1.0, 1, 1)),
    "huge": Distribution(plain_model, seen_through(1.0, 1.0, 1, 4, scale=1e12)),
    "tiny": Distribution(plain_model, seen_through(1.0, 1.0, 1, 4, scale=1e-12)),
    "far from zero": Distribution(plain_model, seen_through(1.0, 1.0, 1, 4, offset=1e6)),
    "huge, the other way": Distribution(plain_model, seen_through(-1.0, 1.0, 1, 3, scale=1e12)),
    "ties": Distribution(plain_model, of_whole_numbers),
    "all equal": Distribution(plain_model, of_nothing),
    "one input": Distribution(plain_model, of_one_input),
    "rare label": Distribution(plain_model, with_rare_label),
    "heavy tails": Distribution(plain_model, with_heavy_tails),
    "easy or hard": Distribution(plain_model, easy_or_hard),
    "against temperatures": Distribution(plain_model, against_temperatures(0.2)),
    "against temperatures, three": Distribution(plain_model, in_several(against_temperatures(0.2), 3)),
    "unknown labels": Distribution(plain_model, with_unknown(0.05)),
    "many unknown labels": Distribution(plain_model, with_unknown(0.3)),
    "forbidden labels": Distribution(banned_model, seen_through(2.0, 1.0, 2, 3)),
    "open labels": Distribution(plain_model, with_open_labels),
    "empty sequences": Distribution(plain_model, with_empty),
    "two labels remembered": Distribution(long_model, seen_through(1.0, 1.0, 1, 4)),
    "long": Distribution(plain_model, seen_through(2.0, 1.0, 7, 7), 2500),
}
