"""What needs no training: predictions that a trained model should be compared with.

Orders of the documents of a query, for `Diversifier`: by lot, by the words that they cover, by relevance.
"""

from maxmargin.structures.diversity.orders import (
    essential_pages,
    marginal_relevance,
    okapi,
    random_order,
    unweighted_words,
)

__all__ = ["essential_pages", "marginal_relevance", "okapi", "random_order", "unweighted_words"]
