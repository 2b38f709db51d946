"""ChainHead: the head of label sequences for PyTorch, with learnt scores of neighbouring labels."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from maxmargin.inputs.labels.labels import cost_matrix
from maxmargin.inputs.tokens.transitions import allowed_transitions
from maxmargin.neural.labeler_weights import LabelerWeights
from maxmargin.neural.objectives import ScoreObjective
from maxmargin.structures.sequences.chain_space import ChainScores
from maxmargin.structures.sequences.chain_sums import ChainSums
from maxmargin.structures.sequences.links import cut_links
from maxmargin.structures.sequences.padded_chains import IGNORED, PaddedChains
from maxmargin.torch.structured_loss import Reduction, StructuredLoss, as_array


class ChainHead(nn.Module):
    """Head of label sequences over an encoder that scores every label at every position.

    Its parameters `transitions` (K, K), `start` (K,) and `end` (K,) are scores of neighbouring, first and last labels.

    Parameters
    ----------
    labels : int or sequence
        The number of labels, or their names in the order of their numbers; `forbidden` needs names.
    forbidden : str or sequence of pairs
        As in `maxmargin.SequenceLabeler`: a chunk scheme such as "BIO", or pairs of neighbours that no output has.
    costs : dict, array or None
        The costs of mistakes, as in SequenceLabeler; None: every mistake costs 1.
    objective, reduction : str
        As in StructuredLoss.
    n_jobs : int or None
        The number of threads; None takes that of PyTorch.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.torch import ChainHead
    >>> head = ChainHead(["O", "B-X", "I-X"], forbidden="BIO")
    >>> scores = torch.tensor([[[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]], requires_grad=True)
    >>> mask = torch.tensor([[True, True, False]])
    >>> head.decode(scores, mask)
    tensor([[   1,    2, -100]])
    >>> head(scores, torch.tensor([[0, 0, -100]])).item()  # -100: no position of the sequence
    3.0
    """

    closed: Tensor | None

    def __init__(
        self,
        labels: int | Sequence[Hashable],
        forbidden: str | Sequence[tuple[Hashable, Hashable]] = (),
        costs: Any = None,
        objective: str | ScoreObjective = "hinge",
        reduction: Reduction = "mean",
        n_jobs: int | None = None,
    ):
        super().__init__()
        if isinstance(labels, int) and isinstance(forbidden, str):
            raise ValueError(f"forbidden={forbidden!r} needs the names of the labels, but labels is {labels}")
        self.labels = list(range(labels)) if isinstance(labels, int) else list(labels)
        self.n_jobs, self.loss, K = n_jobs, StructuredLoss(objective, reduction), len(self.labels)
        self.cost = cost_matrix(costs, self.labels)
        self.transitions, self.start, self.end = (nn.Parameter(torch.zeros(shape)) for shape in ((K, K), (K,), (K,)))
        rules = allowed_transitions(forbidden, {label: k for k, label in enumerate(self.labels)})
        closed = torch.as_tensor(rules, dtype=torch.float32) if np.isinf(rules).any() else None
        self.register_buffer("closed", closed, persistent=False)  # -inf for forbidden links, or None

    def forward(self, scores: Tensor, labels: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the loss of the scores (sequences, positions, K) at the true labels (sequences, positions).

        A position where the mask is False or the label is -100 is no part of its sequence: the positions before and
        after it are neighbours.
        """
        truth = as_array(labels)
        known = truth != IGNORED if mask is None else as_array(mask).astype(bool) & (truth != IGNORED)
        space = PaddedChains(known, len(self.labels), truth, self.cost, n_jobs=self._threads)
        return self.loss(space, self._scores(scores))

    def decode(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the numbers of the best labels (sequences, positions), -100 where the mask is False."""
        space, given = self._searched(scores, mask)
        return torch.as_tensor(space.best(given).found, dtype=torch.long, device=scores.device)

    def marginals(self, scores: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the probability of every label at every position, 0 where the mask is False."""
        space, given = self._searched(scores, mask)
        return torch.as_tensor(space.soft_best(given).indicator.unary, device=scores.device).to(scores.dtype)

    def n_best(self, scores: Tensor, n: int, mask: Tensor | None = None) -> list[list[tuple[Any, float]]]:
        """Return the n best label sequences of every sequence, with their scores, best first."""
        space, given = self._searched(scores, mask)
        return space.best_lists(given, n)

    def sums(self, scores: Tensor, mask: Tensor | None = None) -> ChainSums:
        """Return the distributions of label sequences: log-partitions, entropies, probabilities and samples."""
        space, given = self._searched(scores, mask)
        return space.sums(given)

    def load_weights(self, weights: LabelerWeights, layer: nn.Linear) -> None:
        """Copy the weights of a linear model into this head and the layer before it."""
        with torch.no_grad():
            layer.weight.copy_(torch.as_tensor(weights.features.T))
            for own, given in zip((self.transitions, self.start, self.end), weights[1:], strict=True):
                own.copy_(torch.as_tensor(np.where(np.isneginf(given), 0.0, given)))

    def labeler_weights(self, layer: nn.Linear) -> LabelerWeights:
        """Return copies of the weights of this head and of the layer before it, which has no bias."""
        if layer.bias is not None:
            raise ValueError("the layer has a bias, which linear models of chains do not have; expected bias=False")
        own = (layer.weight.T, self.transitions, self.start, self.end)
        return LabelerWeights(*(as_array(each).astype(float) for each in own))

    @property
    def _threads(self) -> int:
        return torch.get_num_threads() if self.n_jobs is None else self.n_jobs

    def _scores(self, scores: Tensor) -> ChainScores:
        """Return the scores with those of this head."""
        own: Any = (self.transitions, self.start, self.end)
        if self.closed is not None:
            links: Any = cut_links(self.closed, len(self.labels))
            own = (each + rule for each, rule in zip(own, links, strict=True))
        return ChainScores(scores, *own)

    def _searched(self, scores: Tensor, mask: Tensor | None) -> tuple[PaddedChains, ChainScores]:
        known = np.ones(scores.shape[:2], dtype=bool) if mask is None else as_array(mask)
        space = PaddedChains(known, len(self.labels), n_jobs=self._threads)
        return space, ChainScores(*(as_array(each) for each in self._scores(scores)))
