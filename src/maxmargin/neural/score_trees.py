"""Arithmetic on scores, which are arrays, or NamedTuples and lists of arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from maxmargin.base.arrays import Array


def mapped(fn: Callable[..., Any], *scores: Any) -> Any:
    """Return scores of the same form, with fn of the arrays at every place."""
    first = scores[0]
    if isinstance(first, tuple | list):
        each = [mapped(fn, *own) for own in zip(*scores, strict=True)]
        return type(first)(*each) if hasattr(first, "_fields") else type(first)(each)
    return fn(*scores)


def leaves(scores: Any) -> Iterator[Any]:
    """Yield the arrays of scores in their order, without converting them."""
    if isinstance(scores, tuple | list):
        for each in scores:
            yield from leaves(each)
    else:
        yield scores


def rebuilt(form: Any, arrays: Iterator[Any]) -> Any:
    """Return scores in the form of others, made of these arrays in their order."""
    return mapped(lambda _: next(arrays), form)


def difference(one: Any, other: Any) -> Any:
    """Return one - other."""
    return mapped(np.subtract, one, other)


def scaled(factor: float, scores: Any) -> Any:
    """Return factor · scores, where scores of -inf stay so."""
    return mapped(lambda each: factor * np.asarray(each), scores)


def perturbed(scores: Any, scale: float, rng: np.random.Generator) -> Any:
    """Return scores with Gaussian noise of this standard deviation added to every number."""

    def moved(each: Any) -> Array:
        return np.asarray(each) + scale * rng.standard_normal(np.shape(each))

    return mapped(moved, scores)
