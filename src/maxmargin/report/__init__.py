"""Reports of fitted models: one page of HTML that needs nothing else."""
