"""What every other folder uses: array types, checks, errors, rounding, files and the decorator of compiled code."""
