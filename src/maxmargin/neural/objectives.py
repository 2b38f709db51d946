"""Objectives that train scores: each returns the loss of every input, and the gradient with respect to the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole
from maxmargin.neural.score_hinges import hinge, soft_hinge, totals
from maxmargin.neural.score_trees import difference, mapped, perturbed, scaled
from maxmargin.neural.slack_search import most_violated, slack_violation
from maxmargin.problem.contract.score_capabilities import ScoreLoss
from maxmargin.problem.contract.scored import ScoreSpace, need_truth


class ScoreObjective(Protocol):
    """A loss of scores.

    Order of calls: any. Nothing is set, so that one objective serves all batches.
    """

    def of(self, space: ScoreSpace, scores: Any, weights: Array | None = None) -> ScoreLoss:
        """Return the loss of every input, and the gradient of Σ_j weights[j] · loss_j with respect to the scores."""


@dataclass(frozen=True)
class Hinge:
    """The structured hinge, the loss of large-margin training.

    Margin rescaling: max_z [score(z) + Δ(y, z)] - score(y). Slack rescaling: max_z Δ(y, z) (1 + score(z) - score(y)),
    which does not ask for larger margins from outputs with larger losses; its search is exact for classes, parse trees,
    and label sequences with costs that are whole numbers, and repeated searches approximate it elsewhere.

    Parameters
    ----------
    rescaling : "margin" or "slack"

    See Also
    --------
    SoftmaxMargin : Its smooth form.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> space = tasks.ClassSpace.of_labels([0], n_labels=3)
    >>> neural.Hinge().of(space, np.array([[1.0, 0.5, -1.0]]))
    ScoreLoss(values=array([0.5]), gradient=array([[-1.,  1.,  0.]]))
    """

    rescaling: Literal["margin", "slack"] = "margin"

    def __post_init__(self) -> None:
        if self.rescaling not in ("margin", "slack"):
            raise ValueError(f"rescaling is {self.rescaling!r}; expected 'margin' or 'slack'")

    def of(self, space: ScoreSpace, scores: Any, weights: Array | None = None) -> ScoreLoss:
        if self.rescaling == "margin":
            return hinge(space, scores, 1.0, weights)
        need_truth(space.truth)
        found = most_violated(space, scores)
        losses = space.losses(found)
        values = slack_violation(losses, totals(space, scores, space.truth) - totals(space, scores, found))
        slopes = np.where(values > 0, losses, 0.0) * (1.0 if weights is None else weights)
        gradient = difference(space.indicator(found, slopes), space.indicator(space.truth, slopes))
        return ScoreLoss(np.maximum(values, 0.0), gradient)


@dataclass(frozen=True)
class SoftmaxMargin:
    """The smooth hinge (1/b) log Σ_z exp b [score(z) + Δ(y, z)] - score(y).

    A large sharpness b approaches the hinge.

    Parameters
    ----------
    sharpness : float
        b > 0.

    See Also
    --------
    Hinge : The limit of large sharpness.
    Likelihood : The same without the loss Δ.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> space = tasks.ClassSpace.of_labels([0], n_labels=3)
    >>> neural.SoftmaxMargin(sharpness=100.0).of(space, np.array([[1.0, 0.5, -1.0]])).values.round(3)
    array([0.5])
    """

    sharpness: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.sharpness < np.inf:
            raise ValueError(f"sharpness is {self.sharpness!r}; expected a positive number")

    def of(self, space: ScoreSpace, scores: Any, weights: Array | None = None) -> ScoreLoss:
        return soft_hinge(space, scores, 1.0, self.sharpness, weights)


@dataclass(frozen=True)
class Likelihood:
    """The negative log-likelihood log Σ_z exp score(z) - score(y) of a conditional random field.

    See Also
    --------
    SoftmaxMargin : The same with a loss of mistakes.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> space = tasks.ClassSpace.of_labels([0], n_labels=2)
    >>> neural.Likelihood().of(space, np.zeros((1, 2))).gradient
    array([[-0.5,  0.5]])
    """

    def of(self, space: ScoreSpace, scores: Any, weights: Array | None = None) -> ScoreLoss:
        return soft_hinge(space, scores, 0.0, 1.0, weights)


@dataclass(frozen=True)
class Perturbed:
    """The Fenchel-Young loss of a perturbed maximum, which needs the search for best outputs alone.

        E max_z ⟨scores + scale · noise, z⟩ - ⟨scores + scale · noise, y⟩,      gradient  E z* - y

    The noise is Gaussian, and the expectation a mean over samples. The same noise is drawn in every call, so that the
    loss is a function of the scores.

    Parameters
    ----------
    scale : float
        The standard deviation of the noise.
    n_samples : int
        The number of samples; each takes one search.
    random_state : int
        The seed of the noise.

    References
    ----------
    Berthet, Blondel, Teboul, Cuturi, Vert, Bach: Learning with Differentiable Perturbed Optimizers (NeurIPS 2020).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> space = tasks.ClassSpace.of_labels([0], n_labels=2)
    >>> neural.Perturbed(scale=0.1, n_samples=4).of(space, np.array([[3.0, 0.0]])).values
    array([0.])
    """

    scale: float = 1.0
    n_samples: int = 8
    random_state: int = 0

    def __post_init__(self) -> None:
        check_whole("n_samples", self.n_samples, least=1)
        if not 0 < self.scale < np.inf:
            raise ValueError(f"scale is {self.scale!r}; expected a positive number")

    def of(self, space: ScoreSpace, scores: Any, weights: Array | None = None) -> ScoreLoss:
        rng, share = np.random.default_rng(self.random_state), 1.0 / self.n_samples
        each = np.full(len(space), share) if weights is None else share * np.asarray(weights, dtype=float)
        values, gradient = np.zeros(len(space)), None
        for _ in range(self.n_samples):
            found = hinge(space, perturbed(scores, self.scale, rng), 0.0, each)
            values += share * found.values
            gradient = found.gradient if gradient is None else mapped(np.add, gradient, found.gradient)
        return ScoreLoss(values, gradient)


@dataclass(frozen=True)
class SPOPlus:
    """The surrogate SPO+ of the regret of decisions: the hinge at twice the scores.

    For decisions z with true costs c and predicted costs ĉ it is  max_z [(c - 2ĉ)·z] + 2ĉ·z* - c·z*, where z* is the
    best decision at the true costs. Any other structure has it, too.

    See Also
    --------
    maxmargin.tasks.DecisionSpace : Decisions of an optimiser, by predicted costs.

    References
    ----------
    Elmachtoub and Grigas: Smart "Predict, then Optimize" (Management Science 68, 2022).

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import neural, tasks
    >>> space = tasks.ClassSpace.of_labels([0], n_labels=2)
    >>> neural.SPOPlus().of(space, np.array([[0.25, 0.0]]))
    ScoreLoss(values=array([0.5]), gradient=array([[-2.,  2.]]))
    """

    def of(self, space: ScoreSpace, scores: Any, weights: Array | None = None) -> ScoreLoss:
        found = hinge(space, scaled(2.0, scores), 1.0, weights)
        return ScoreLoss(found.values, scaled(2.0, found.gradient))


OBJECTIVES: dict[str, type[Any]] = {
    "hinge": Hinge,
    "softmax_margin": SoftmaxMargin,
    "likelihood": Likelihood,
    "perturbed": Perturbed,
    "spo_plus": SPOPlus,
}


def as_objective(objective: str | ScoreObjective) -> ScoreObjective:
    """Return an objective, which may be given by its name."""
    if isinstance(objective, str):
        if objective not in OBJECTIVES:
            raise ValueError(f"objective is {objective!r}; expected one of {', '.join(map(repr, OBJECTIVES))}")
        made: ScoreObjective = OBJECTIVES[objective]()
        return made
    return objective
