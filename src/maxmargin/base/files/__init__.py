"""Model files: what a fitted model is, as plain data, and the bytes that it is written as."""
