"""Examples in files, by kind: a module has the three functions of `base.FilesOfKind`."""
