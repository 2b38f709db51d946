"""Decisions of an optimiser of the user's own, whose costs are learnt so that they turn out well."""
