"""File formats of sequences, alignments and substitution matrices: one file each."""
