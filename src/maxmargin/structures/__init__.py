"""One folder per kind of output: task, batch, estimator, measures, pictures and compiled code."""
