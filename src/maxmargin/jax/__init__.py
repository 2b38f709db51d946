"""Losses for JAX over every score space, differentiable, under jit and vmap. They need `jax`."""

from maxmargin.jax.chain_loss import chain_decode, chain_loss
from maxmargin.jax.structured_loss import structured_loss

__all__ = ["chain_decode", "chain_loss", "structured_loss"]
