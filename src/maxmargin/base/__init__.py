"""Foundations that every other folder uses: array types, checks, errors, rounding, files and the kernel decorator."""
