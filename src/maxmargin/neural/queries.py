"""Questions about scores: best outputs, lists of them, probabilities, entropies and samples."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.problem.contract.score_capabilities import ListingSpace, SoftSpace
from maxmargin.problem.contract.scored import ScoreSpace, Summable


def decode(space: ScoreSpace, scores: Any) -> Any:
    """Return the output with the highest score of every input.

    Parameters
    ----------
    space : ScoreSpace
        The outputs of n inputs; truths are not needed.
    scores : arrays
        The scores, in the form that the space describes.

    Returns
    -------
    outputs
        In the form that the space describes.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> neural.decode(tasks.ClassSpace(2, 3), np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 0.0]]))
    array([1, 0], dtype=int32)
    """
    return space.best(scores).found


def n_best(space: ScoreSpace, scores: Any, n: int) -> list[list[tuple[Any, float]]]:
    """Return the n outputs with the highest scores of every input, best first.

    Parameters
    ----------
    space : ScoreSpace
        A space that lists outputs: of classes, label sequences, segments or parse trees.
    scores : arrays
        The scores, in the form that the space describes.
    n : int
        The number of outputs; inputs that have fewer have shorter lists.

    Returns
    -------
    list of lists of (output, score)

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> neural.n_best(tasks.ClassSpace(1, 3), np.array([[0.0, 2.0, 1.0]]), 2)
    [[(1, 2.0), (2, 1.0)]]
    """
    check_whole("n", n, least=1)
    if not isinstance(space, ListingSpace):
        raise ValueError(f"{type(space).__name__} cannot list its best outputs; use decode for the best one")
    return space.best_lists(scores, n)


def marginals(space: ScoreSpace, scores: Any) -> Any:
    """Return the expected number of uses of every score under p(z) ∝ exp score(z): probabilities of parts of outputs.

    Parameters
    ----------
    space : ScoreSpace
        A space that sums over outputs.
    scores : arrays
        The scores, in the form that the space describes.

    Returns
    -------
    arrays
        In the form of the scores; scores that all inputs share have sums over inputs.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> neural.marginals(tasks.ClassSpace(1, 2), np.array([[0.0, 0.0]]))
    array([[0.5, 0.5]])
    """
    if not isinstance(space, SoftSpace):
        raise ValueError(f"{type(space).__name__} cannot sum over all outputs, so that it has no probabilities")
    return space.soft_best(scores).indicator


def entropies(space: ScoreSpace, scores: Any) -> Array:
    """Return the entropy of p(z) ∝ exp score(z) of every input.

    Parameters
    ----------
    space : ScoreSpace
        A space that sums over outputs.
    scores : arrays
        The scores, in the form that the space describes.

    Returns
    -------
    array (n,)
        In nats.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> neural.entropies(tasks.ClassSpace(1, 2), np.array([[0.0, 0.0]])).round(4)
    array([0.6931])
    """
    return _summable(space).sums(scores).entropies


def sample(space: ScoreSpace, scores: Any, n: int, random_state: int = 0) -> list[list[Any]]:
    """Draw n outputs of every input from p(z) ∝ exp score(z).

    Parameters
    ----------
    space : ScoreSpace
        A space that sums over outputs.
    scores : arrays
        The scores, in the form that the space describes.
    n : int
        The number of outputs of every input.
    random_state : int
        The seed.

    Returns
    -------
    list of lists of outputs

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> neural.sample(tasks.ClassSpace(1, 2), np.array([[0.0, -np.inf]]), 3)
    [[0, 0, 0]]
    """
    check_whole("n", n, least=1)
    return _summable(space).sums(scores).sample(np.random.default_rng(random_state), n)


def _summable(space: ScoreSpace) -> Summable:
    if not isinstance(space, Summable):
        raise ValueError(f"{type(space).__name__} cannot sum over all outputs, so that it has no probabilities")
    return space
