"""Readers and writers of examples in files, one module per kind with the functions of `base.FilesOfKind`."""
