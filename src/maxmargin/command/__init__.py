"""The command line: `maxmargin fit`, `predict`, `score` and others, over files. The library knows nothing of it."""
