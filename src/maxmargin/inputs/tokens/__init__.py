"""Tokens, their features, and the vocabularies that number them."""
