"""chain_loss: losses of label sequences in padded batches for JAX, whose labels and masks may be traced."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from maxmargin.jax.structured_loss import evaluated
from maxmargin.neural.objectives import ScoreObjective, as_objective
from maxmargin.problem.contract.score_capabilities import ScoreLoss
from maxmargin.structures.sequences.chain_space import ChainScores
from maxmargin.structures.sequences.padded_chains import IGNORED, PaddedChains


def chain_loss(
    scores: ChainScores, labels: Any, objective: str | ScoreObjective = "hinge", cost: Any = None, n_jobs: int = 1
) -> Any:
    """Return the sum of the losses of the sequences of a padded batch, differentiable with respect to the scores.

    Parameters
    ----------
    scores : ChainScores
        `unary` (sequences, positions, K), `transitions` (K, K), `start` (K,) and `end` (K,); -inf forbids.
    labels : array of int (sequences, positions)
        The true labels; -100 at positions that are no part of their sequence.
    objective : str or objective
        As in `maxmargin.neural.loss`.
    cost : array (K, K), or None
        The cost of label k where the truth is j, at [j, k]; None: every mistake costs 1.
    n_jobs : int
        The number of threads.

    Returns
    -------
    array ()

    See Also
    --------
    structured_loss : Losses of other structures.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from maxmargin.jax import chain_loss
    >>> from maxmargin.tasks import ChainScores
    >>> scores = ChainScores(jnp.zeros((1, 3, 2)), jnp.zeros((2, 2)), jnp.zeros(2), jnp.zeros(2))
    >>> labels = jnp.array([[0, 1, -100]])
    >>> float(jax.jit(chain_loss)(scores, labels))
    2.0
    >>> jax.grad(chain_loss)(scores, labels).unary[0].tolist()
    [[-1.0, 1.0], [1.0, -1.0], [0.0, 0.0]]
    """
    chosen, K = as_objective(objective), np.shape(scores.start)[0]

    def evaluate(given: Any, truth: Any) -> ScoreLoss:
        space = PaddedChains(truth != IGNORED, K, truth, cost, n_jobs=n_jobs)
        return chosen.of(space, given)

    return evaluated(evaluate, scores, labels)


def chain_decode(scores: ChainScores, mask: Any, n_jobs: int = 1) -> Any:
    """Return the best labels of the sequences of a padded batch.

    Parameters
    ----------
    scores : ChainScores
        As for `chain_loss`.
    mask : array of bool (sequences, positions)
        True at the positions of the sequences.
    n_jobs : int
        The number of threads.

    Returns
    -------
    array of int (sequences, positions)
        The numbers of labels, -100 where the mask is False.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from maxmargin.jax import chain_decode
    >>> from maxmargin.tasks import ChainScores
    >>> unary = jnp.array([[[0.0, 1.0], [2.0, 0.0]]])
    >>> scores = ChainScores(unary, jnp.zeros((2, 2)), jnp.zeros(2), jnp.zeros(2))
    >>> chain_decode(scores, jnp.array([[True, True]])).tolist()
    [[1, 0]]
    """

    def decode(given: Any, known: Any) -> Any:
        arrays = ChainScores(*(np.asarray(each) for each in given))
        return PaddedChains(np.asarray(known), arrays.start.shape[0], n_jobs=n_jobs).best(arrays).found

    found = jax.ShapeDtypeStruct(jnp.shape(mask), jnp.int32)
    return jax.pure_callback(decode, found, scores, mask, vmap_method="sequential")
