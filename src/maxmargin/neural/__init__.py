"""Losses of scores with their gradients, over every score space: what trains a structured head of a neural network."""

from maxmargin.neural.labeler_weights import LabelerWeights
from maxmargin.neural.losses import loss
from maxmargin.neural.objectives import Hinge, Likelihood, Perturbed, ScoreObjective, SoftmaxMargin, SPOPlus
from maxmargin.neural.queries import decode, entropies, marginals, n_best, sample
from maxmargin.problem.contract.score_capabilities import ScoreLoss

__all__ = [
    "Hinge",
    "LabelerWeights",
    "Likelihood",
    "Perturbed",
    "SPOPlus",
    "ScoreLoss",
    "ScoreObjective",
    "SoftmaxMargin",
    "decode",
    "entropies",
    "loss",
    "marginals",
    "n_best",
    "sample",
]
