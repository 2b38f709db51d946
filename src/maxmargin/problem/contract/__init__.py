"""What a structure provides: a task, its batch of examples, and sums over its outputs."""
