"""The training examples of motifs: labelled strings, and a background or sampled controls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_real
from maxmargin.inputs.labels.labels import plain
from maxmargin.problem.oracle.sample_weights import normalised_weights
from maxmargin.structures.motifs.markov import MarkovChain
from maxmargin.structures.motifs.strings import Strings
from maxmargin.structures.motifs.task import Motif

CONTROLS = 10  # controls sampled per string, if there are no strings without the motif
HELD_OUT = 0.25  # share of the strings that is held out to choose a length


class MotifExamples(NamedTuple):
    """Training examples of a motif."""

    X: list[Any]  # the strings
    has: NDArray[np.bool_]  # whether each string has the motif
    weights: Array  # the weight of each string
    labelled: int  # only the first `labelled` examples can be held out; the others are background
    classes: NDArray[Any]  # two labels in sorted order
    positive: Any  # the label of strings with the motif

    def take(self, index: NDArray[np.intp]) -> MotifExamples:
        X = [self.X[i] for i in index]
        return self._replace(X=X, has=self.has[index], weights=self.weights[index], labelled=len(X))

    def split(self, rng: np.random.Generator) -> tuple[MotifExamples, MotifExamples]:
        """Return examples to train on, and a held-out share of the labelled strings of each class."""
        out = np.zeros(len(self.X), dtype=bool)
        for label in (True, False):
            members = np.flatnonzero(self.has[: self.labelled] == label)
            if len(members) < 4:
                raise ValueError(
                    f"a length is chosen on held-out strings, but only {len(members)} strings are "
                    f"{'with' if label else 'without'} the motif; expected 4 or more, or a single length"
                )
            out[rng.choice(members, max(1, round(HELD_OUT * len(members))), replace=False)] = True
        return self.take(np.flatnonzero(~out)), self.take(np.flatnonzero(out))


def motif_examples(
    task: Motif,
    X: Any,
    y: Any,
    sample_weight: Any,
    background: Any,
    *,
    positive: Any,
    background_weight: Any,
    seed: int,
) -> MotifExamples:
    """Return all examples for a task that is set up; see MotifFinder.fit.

    seed : the seed of the controls, which are generated if there is neither y nor background.
    """
    X = strings_of(X)
    if not X:
        raise ValueError("no examples given: X is empty; expected at least one string")
    classes, has = _classes(X, y, positive)
    weights = normalised_weights(sample_weight, len(X))
    if not weights[has].any():
        raise ValueError("all sequences that have the motif have weight 0; expected a positive weight of at least one")
    data = task.windows(X)
    others = _background(task, X, has, background)
    if y is None:
        others = others or _controls(data.strings, task, np.random.default_rng(seed))
        price = weights.sum() / len(others)
    else:
        price = _checked_weight(background_weight)
    return MotifExamples(
        X + others,
        np.append(has, np.zeros(len(others), dtype=bool)),
        np.append(weights, np.full(len(others), price)),
        len(X) + (len(others) if y is None else 0),
        classes,
        classes[1] if positive is None else positive,
    )


def strings_of(X: Any, name: str = "X") -> list[Any]:
    """Return a list; raise a ValueError if X is a single string or not a collection."""
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        raise ValueError(f"{name} is of type {type(X).__name__}; expected a list of strings")
    return list(X)


def _classes(X: list[Any], y: Any, positive: Any) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Return the sorted labels, and which strings have the motif."""
    if y is None:
        if positive is not None:
            raise ValueError(f"positive={positive!r} names a class, but there is no y; use positive=None, or give y")
        return np.array([False, True]), np.ones(len(X), dtype=bool)
    y = np.asarray(y)
    if y.ndim != 1 or len(y) != len(X):
        raise ValueError(f"y has the shape {y.shape}; expected ({len(X)},), a class for every string of X")
    classes = np.unique(y)
    if len(classes) != 2:
        found = ", ".join(repr(plain(label)) for label in classes[:5])
        hint = "; leave y out if all strings have the motif" if len(classes) == 1 else ""
        raise ValueError(f"y has {len(classes)} classes ({found}); expected two, with and without the motif{hint}")
    if positive is not None and positive not in classes.tolist():
        raise ValueError(f"positive={positive!r} is not one of the classes {classes.tolist()}")
    return classes, y == (classes[1] if positive is None else positive)


def _background(task: Motif, X: list[Any], has: NDArray[np.bool_], background: Any) -> list[Any]:
    if background is None:
        return []
    others = strings_of(background, "background")
    if not others:
        raise ValueError("background is empty; leave it out, or give strings without the motif")
    task.windows(others, "background sequence")
    with_motif = {x.upper(): i for i, x in enumerate(X) if has[i]}
    for i, x in enumerate(others):
        if x.upper() in with_motif:
            raise ValueError(
                f"background sequence {i} is the same as sequence {with_motif[x.upper()]}, which has the motif; "
                "expected strings without the motif"
            )
    return others


def _controls(strings: Strings, task: Motif, rng: np.random.Generator) -> list[str]:
    """Return strings as long as the given ones, drawn from their Markov chain."""
    chain = MarkovChain(strings, len(task.alphabet_), task.background_order or 0)
    lengths = np.repeat(np.diff(strings.begins), CONTROLS).tolist()
    return [task.alphabet_.text(codes) for codes in chain.draw(lengths, rng)]


def _checked_weight(weight: Any) -> float:
    if not is_real(weight) or not 0 < float(weight) < np.inf:
        raise ValueError(f"background_weight must be a positive number, got {weight!r}")
    return float(weight)
