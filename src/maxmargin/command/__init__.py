"""The command line over files: `maxmargin fit`, `predict`, `score` and others. The library does not depend on it."""
