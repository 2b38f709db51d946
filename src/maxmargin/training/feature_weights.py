"""Refuse to show weights of single features for models with a kernel, which have none."""

from __future__ import annotations

from typing import Any


def refuse_kernel(model: Any) -> None:
    """Raise an AttributeError if a model has a kernel, for attributes that show weights of single features."""
    if model.kernel is not None:
        instead = "training examples in support_" if hasattr(model, "support_") else "features that kernel_map_ makes"
        raise AttributeError(
            f"{type(model).__name__} with a kernel has no weights of features: its model is made of the {instead}"
        )
