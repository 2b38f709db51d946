"""Training data packed into folders, which are read as memory maps."""
