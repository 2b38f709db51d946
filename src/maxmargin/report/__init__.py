"""Reports of fitted models, each a single self-contained HTML page."""
