"""loss: the losses of scores over any score space, and their gradient."""

from __future__ import annotations

from typing import Any

from maxmargin.base.arrays import Array
from maxmargin.neural.objectives import ScoreObjective, as_objective
from maxmargin.problem.contract.score_capabilities import ScoreLoss
from maxmargin.problem.contract.scored import ScoreSpace


def loss(
    space: ScoreSpace, scores: Any, objective: str | ScoreObjective = "hinge", weights: Array | None = None
) -> ScoreLoss:
    """Return the loss of every input, and the gradient of their weighted sum with respect to the scores.

    Parameters
    ----------
    space : ScoreSpace
        The outputs of n inputs with their truths, such as `maxmargin.tasks.PaddedChains`.
    scores : arrays
        The scores, in the form that the space describes.
    objective : str or ScoreObjective
        "hinge", "softmax_margin", "likelihood", "perturbed" or "spo_plus", or an object with its parameters, such as
        `Hinge(rescaling="slack")`.
    weights : array (n,), or None
        The weights of the inputs in the gradient; None: all are 1.

    Returns
    -------
    ScoreLoss
        `values` (n,), the loss of every input without its weight, and `gradient`, in the form of the scores.

    See Also
    --------
    maxmargin.tasks.ScoreSpace : What a space is.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> space = tasks.PaddedChains.of_lengths([2, 1], 2, n_labels=2, truth=[[0, 1], [1, 0]])
    >>> scores = tasks.ChainScores(np.zeros((2, 2, 2)), *space.no_links)
    >>> found = neural.loss(space, scores, "likelihood")
    >>> found.values.round(4)
    array([1.3863, 0.6931])
    >>> found.gradient.unary[1]
    array([[ 0.5, -0.5],
           [ 0. ,  0. ]])
    """
    return as_objective(objective).of(space, scores, weights)
