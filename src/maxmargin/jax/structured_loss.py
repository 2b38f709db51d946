"""structured_loss: the losses of maxmargin.neural as functions of JAX arrays."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from maxmargin.neural.objectives import ScoreObjective, as_objective
from maxmargin.problem.contract.score_capabilities import ScoreLoss
from maxmargin.problem.contract.scored import ScoreSpace

Evaluate = Callable[[Any, Any], ScoreLoss]  # (scores, data) as numpy arrays -> losses of inputs, and their gradient


def structured_loss(space: ScoreSpace, scores: Any, objective: str | ScoreObjective = "hinge") -> Any:
    """Return the sum of the losses of all inputs of a score space, differentiable with respect to the scores.

    The function may be compiled by jit, and mapped by vmap over several scores of the same space; the loss itself is
    computed by a callback on the CPU.

    Parameters
    ----------
    space : ScoreSpace
        The outputs of n inputs, with their truths.
    scores : arrays
        In the form that the space describes.
    objective : str or objective
        As in `maxmargin.neural.loss`.

    Returns
    -------
    array ()

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from maxmargin.jax import structured_loss
    >>> from maxmargin.tasks import ClassSpace
    >>> space = ClassSpace.of_labels([0, 2], n_labels=3)
    >>> jax.grad(lambda scores: structured_loss(space, scores))(jnp.zeros((2, 3))).tolist()
    [[-1.0, 1.0, 0.0], [1.0, 0.0, -1.0]]
    """
    chosen = as_objective(objective)
    return evaluated(lambda given, _: chosen.of(space, given), scores, ())


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def evaluated(evaluate: Evaluate, scores: Any, data: Any) -> Any:
    """Return the sum of the losses that `evaluate` returns, with its gradient with respect to the scores."""
    return _called(evaluate, scores, data)[0]


def _called(evaluate: Evaluate, scores: Any, data: Any) -> tuple[Any, Any]:
    """Return the sum of losses and its gradient, by one callback."""
    kinds = jax.tree.map(lambda each: jax.ShapeDtypeStruct(jnp.shape(each), jnp.result_type(each)), scores)
    wide = jnp.result_type(*jax.tree.leaves(scores))

    def call(given: Any, known: Any) -> tuple[Any, Any]:
        found = evaluate(jax.tree.map(np.asarray, given), jax.tree.map(np.asarray, known))
        slopes = jax.tree.map(lambda own, kind: np.asarray(own, dtype=kind.dtype), found.gradient, kinds)
        return np.asarray(found.values.sum(), dtype=wide), slopes

    result: tuple[Any, Any] = jax.pure_callback(
        call, (jax.ShapeDtypeStruct((), wide), kinds), scores, data, vmap_method="sequential"
    )
    return result


def _forward(evaluate: Evaluate, scores: Any, data: Any) -> tuple[Any, Any]:
    value, slopes = _called(evaluate, scores, data)
    return value, (slopes, jax.tree.map(lambda each: np.zeros(jnp.shape(each), dtype=jax.dtypes.float0), data))


def _backward(_: Evaluate, kept: Any, slope: Any) -> tuple[Any, Any]:
    slopes, none = kept
    return jax.tree.map(lambda each: slope * each, slopes), none


evaluated.defvjp(_forward, _backward)
