"""Model files: fitted models as plain data, and the bytes of their files."""
