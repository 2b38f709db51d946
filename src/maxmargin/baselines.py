"""Baselines: predictions without training, with which a trained model should be compared.

For `Diversifier`, these are orders of the documents of a query: random, by the words that they cover, or by relevance.
"""

from maxmargin.structures.diversity.orders import (
    essential_pages,
    marginal_relevance,
    okapi,
    random_order,
    unweighted_words,
)

__all__ = ["essential_pages", "marginal_relevance", "okapi", "random_order", "unweighted_words"]
