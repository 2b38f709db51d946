"""Plain-Python versions of what compiled kernels compute: as slow and as obvious as possible."""
