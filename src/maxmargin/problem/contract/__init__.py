"""The contract of structures: a task, its batch of examples with its capabilities, and sums over its outputs."""
