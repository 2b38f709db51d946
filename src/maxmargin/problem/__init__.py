"""The problem that solvers solve: planes, the objective and its dual, the contract of tasks, and the oracle."""
