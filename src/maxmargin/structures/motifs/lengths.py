"""The choice of the length of a motif: the one with the smallest error on held-out strings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from maxmargin.base.checks import check_whole
from maxmargin.structures.motifs.examples import MotifExamples
from maxmargin.training.trainer import Trainer


def possible_lengths(length: Any) -> list[int]:
    """Return the lengths to choose from, in ascending order: `length` is a whole number or several."""
    several = isinstance(length, Iterable) and not isinstance(length, str)
    lengths = sorted({check_whole("length", each, least=1) for each in (length if several else [length])})
    if not lengths:
        raise ValueError("length is empty; expected a whole number, or several to choose from")
    return lengths


def chosen_length(
    lengths: Sequence[int],
    examples: MotifExamples,
    trained: Callable[[int, MotifExamples], Trainer],
    rng: np.random.Generator,
) -> tuple[int, dict[int, float]]:
    """Return the length with the smallest error on held-out strings (ties by the objective), and the errors of all.

    trained : a function that returns the model of a length, trained on some examples.
    """
    kept, tested = examples.split(rng)
    errors, objectives = {}, {}
    for length in lengths:
        model = trained(length, kept)
        found = np.array([z.has for z in model.task_.decode(model.w_, tested.X)])
        errors[length] = float(np.average(found != tested.has, weights=tested.weights))
        objectives[length] = model.certificate_.primal
    return min(lengths, key=lambda length: (errors[length], objectives[length])), errors
