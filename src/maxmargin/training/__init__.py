"""Training of estimators: fitting, options, warm starts, checkpoints, and the choice of C."""
