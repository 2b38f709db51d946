"""A label for every token of a sequence."""
