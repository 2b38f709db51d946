"""Layers for PyTorch: losses over every score space, and a head for label sequences. They need `torch`."""

from maxmargin.torch.chain_head import ChainHead
from maxmargin.torch.structured_loss import StructuredLoss

__all__ = ["ChainHead", "StructuredLoss"]
