"""The option `start` of motifs: the initial positions of the motif in training.

    None, "words"    the best matches of a motif that is made from a word of the strings; see words.py
    "windows"        random windows, as in the paper
    a pattern        its best matches: a string of letters, IUPAC codes and dots such as "WTTTAYRTTTW", or a matrix of
                     scores or frequencies with a row for every position and a column for every letter
    weights          their best matches: an array as long as w, such as the w_ of another model

The first two are guesses, which differ between restarts; the others are weights, from which training runs once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.structures.motifs.alphabet import Alphabet
from maxmargin.structures.motifs.patterns import centred, pattern_scores
from maxmargin.structures.motifs.scored_windows import ScoredWindows

GUESSES = ("words", "windows")
EXPECTED = "start must be 'words', 'windows', a pattern or weights"


def is_guess(start: Any) -> bool:
    """Return whether the first positions of the motif are guessed; otherwise given weights find them."""
    return start is None or (isinstance(start, str) and start in GUESSES)


def given_weights(task: ScoredWindows) -> Array | None:
    """Return the weights that `task.start` gives, or None if positions are guessed; `setup` must have set the sizes."""
    if is_guess(task.start):
        return None
    values = _scores(task.start, task.alphabet_) if isinstance(task.start, str) else _numbers(task.start)
    size = len(task.alphabet_)
    if values.ndim == 1:
        if len(values) != task.dim:
            raise ValueError(f"start has {len(values)} weights; expected {task.dim}, or a matrix (positions, {size})")
        return values
    if values.ndim != 2 or values.shape[1] != size:
        raise ValueError(
            f"start is an array of shape {values.shape}; expected (positions, {size}), a column for each of "
            f"{task.alphabet_.letters}, or ({task.dim},), all weights"
        )
    if not 1 <= len(values) <= task.length:
        raise ValueError(f"start has {len(values)} positions; expected 1 to {task.length}, the length of the motif")
    weights = np.zeros(task.dim)
    task.split_weights(weights).motif[:] = centred(values, task.length)
    return weights


def _scores(pattern: str, alphabet: Alphabet) -> Array:
    try:
        return pattern_scores(pattern, alphabet)
    except ValueError as error:
        raise ValueError(f"{EXPECTED}; {error}") from None


def _numbers(start: Any) -> Array:
    try:
        values = np.array(start, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{EXPECTED}, got an object of type {type(start).__name__}") from None
    if not np.isfinite(values).all():
        raise ValueError("start has NaN or infinite values; expected finite numbers")
    return values
