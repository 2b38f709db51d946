"""StructuredLoss: the losses of maxmargin.neural as a layer of PyTorch, for scores that are tensors."""

from __future__ import annotations

import warnings
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from maxmargin.neural.objectives import ScoreObjective, as_objective
from maxmargin.neural.score_trees import leaves, rebuilt
from maxmargin.problem.contract.scored import ScoreSpace

Reduction = Literal["mean", "sum", "none"]
_copied: set[str] = set()  # the kinds of devices whose copies were announced


def as_array(tensor: Tensor) -> Any:
    """Return the numbers of a tensor as an array on the CPU, of float32 or float64; warn once if this copies them."""
    if (kind := tensor.device.type) != "cpu" and kind not in _copied:
        _copied.add(kind)
        warnings.warn(f"maxmargin computes on the CPU: scores are copied from {kind}, and gradients back", stacklevel=3)
    narrow = tensor.dtype in (torch.float16, torch.bfloat16)
    return (tensor.detach().float() if narrow else tensor.detach()).cpu().numpy()


class _LossOfScores(torch.autograd.Function):
    """The reduced loss of scores. Its gradient is computed with it; that of "none" waits for the slopes of inputs."""

    @staticmethod
    def forward(
        ctx: Any, space: ScoreSpace, objective: ScoreObjective, reduction: Reduction, form: Any, *tensors: Tensor
    ) -> Tensor:
        scores, n = rebuilt(form, map(as_array, tensors)), max(len(space), 1)
        found = objective.of(space, scores, np.full(len(space), 1.0 / n) if reduction == "mean" else None)
        ctx.save_for_backward(*tensors)
        ctx.gradient = found.gradient
        ctx.again = (space, objective, scores) if reduction == "none" else None
        values = found.values if reduction == "none" else found.values.sum() / (n if reduction == "mean" else 1)
        wide = any(each.dtype == torch.float64 for each in tensors)
        return torch.as_tensor(values, dtype=torch.float64 if wide else torch.float32, device=tensors[0].device)

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Any:
        [slope], gradient, factor = slopes, ctx.gradient, 1.0 if ctx.again is not None else float(slopes[0])
        if ctx.again is not None:
            space, objective, scores = ctx.again
            gradient = objective.of(space, scores, as_array(slope).astype(float)).gradient
        moved: list[Tensor | None] = []
        for own, given, needed in zip(leaves(gradient), ctx.saved_tensors, ctx.needs_input_grad[4:], strict=True):
            each = torch.as_tensor(np.ascontiguousarray(own)).to(given) if needed else None
            if each is not None and ctx.again is None and factor != 1.0:
                each = each * factor
            moved.append(_Once.apply(each, given) if each is not None and torch.is_grad_enabled() else each)
        return (None, None, None, None, *moved)


class _Once(torch.autograd.Function):
    """The identity, which refuses to be differentiated."""

    @staticmethod
    def forward(ctx: Any, gradient: Tensor, given: Tensor) -> Tensor:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Any:
        raise RuntimeError("losses of maxmargin have first derivatives only: they cannot be differentiated twice")


class StructuredLoss(nn.Module):
    """Loss of scores over any score space.

    The scores are tensors in the form that the space describes: one tensor, or a NamedTuple or list of tensors. The
    batch is computed on the CPU.

    Parameters
    ----------
    objective : str or objective
        As in `maxmargin.neural.loss`.
    reduction : "mean", "sum" or "none"
        The mean or the sum over inputs, or the loss of every input.

    Examples
    --------
    >>> import torch
    >>> from maxmargin.tasks import ClassSpace
    >>> from maxmargin.torch import StructuredLoss
    >>> scores = torch.zeros(2, 3, requires_grad=True)
    >>> loss = StructuredLoss("hinge")(ClassSpace.of_labels([0, 2], n_labels=3), scores)
    >>> loss.backward()
    >>> loss.item(), scores.grad.tolist()
    (1.0, [[-0.5, 0.5, 0.0], [0.5, 0.0, -0.5]])
    """

    def __init__(self, objective: str | ScoreObjective = "hinge", reduction: Reduction = "mean"):
        super().__init__()
        if reduction not in get_args(Reduction):
            raise ValueError(f"reduction is {reduction!r}; expected 'mean', 'sum' or 'none'")
        self.objective, self.reduction = as_objective(objective), reduction

    def forward(self, space: ScoreSpace, scores: Any) -> Tensor:
        """Return the loss of the scores of the inputs in `space`: a number, or one for each input."""
        tensors = tuple(leaves(scores))
        form = rebuilt(scores, iter(range(len(tensors))))
        found: Tensor = _LossOfScores.apply(space, self.objective, self.reduction, form, *tensors)
        return found
