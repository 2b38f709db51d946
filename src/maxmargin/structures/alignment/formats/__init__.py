"""File formats of sequences, alignments and substitution matrices, one per file."""
