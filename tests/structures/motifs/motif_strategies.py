"""Small motif problems for hypothesis: strings with and without unknown letters, all kinds of motifs, whole weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from strategies import whole

from maxmargin.structures.motifs.task import Motif


class MotifProblem(NamedTuple):
    """A task that is set up, its data and weights."""

    task: Motif
    X: list[str]
    Y: list[bool]
    w: np.ndarray


@st.composite
def motif_problems(draw, most=4, longest=12):
    """Lengths from 1 on, orders from none to 3, one or both strands; letters N where unknown ones are skipped."""
    alphabet = draw(st.sampled_from(["ACGT", "ACGT", "AB", "XYZ"]))
    strands = draw(st.integers(1, 2)) if alphabet == "ACGT" else 1
    length = draw(st.integers(1, 6))
    unknown = draw(st.sampled_from(["error", "skip"]))
    task = Motif(length, draw(st.sampled_from([None, 0, 1, 2, 3])), strands, alphabet, unknown)
    letters = st.sampled_from(alphabet + ("NN" if unknown == "skip" else ""))
    text = st.text(letters, min_size=length, max_size=longest)
    known = st.text(st.sampled_from(alphabet), min_size=length, max_size=length)
    whole_window = st.tuples(text, known, text).map("".join)  # unknown letters elsewhere
    X = draw(st.lists(whole_window, min_size=1, max_size=most))
    Y = draw(st.lists(st.booleans(), min_size=len(X), max_size=len(X)))
    task.setup(X, Y)
    return MotifProblem(task, X, Y, draw(whole(task.dim)))
