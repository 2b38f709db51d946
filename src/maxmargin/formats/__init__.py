"""File formats of structured outputs.

Readers take a path (compressed files by their suffix .gz, .xz or .bz2) or an open text file; malformed files raise a
ValueError that names the file and the line. What a writer writes, its reader reads back as it was, but
for brackets in the words of trees, which are written as -LRB- and -RRB-.
"""

from maxmargin.formats.a3m import read_a3m, write_a3m
from maxmargin.formats.brackets import read_trees, write_trees
from maxmargin.formats.fasta import Record, read_aligned_fasta, read_fasta, write_fasta
from maxmargin.formats.meme import MemeFile, MemeMotif, read_meme, write_meme
from maxmargin.formats.multiple import Annotations, MultipleAlignment
from maxmargin.formats.ncbi import SubstitutionMatrix, read_matrix, write_matrix
from maxmargin.formats.pairwise_text import render
from maxmargin.formats.stockholm import iterate_stockholm, read_stockholm, write_stockholm

__all__ = [
    "Annotations",
    "MemeFile",
    "MemeMotif",
    "MultipleAlignment",
    "Record",
    "SubstitutionMatrix",
    "iterate_stockholm",
    "read_a3m",
    "read_aligned_fasta",
    "read_fasta",
    "read_matrix",
    "read_meme",
    "read_stockholm",
    "read_trees",
    "render",
    "write_a3m",
    "write_fasta",
    "write_matrix",
    "write_meme",
    "write_stockholm",
    "write_trees",
]
