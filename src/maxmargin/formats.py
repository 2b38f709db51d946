"""File formats of structured outputs: readers and writers.

Readers take a path or an open text file; files with the suffix .gz, .xz or .bz2 are decompressed. A malformed file
raises a ValueError that names the file and the line. The functions `iterate_…` read a few examples at a time. A
compressed file whose content exceeds 8 MB and 200 times the size of the file is refused.

A reader returns exactly the data that were written, with three exceptions: brackets in the words of trees are written
as -LRB- and -RRB-; dicts of features in CRFsuite's format are read as names and numbers; and text labels of CSV tables
that look like numbers are read as numbers. docs/reference/formats.md has an example of each format.
"""

from maxmargin.inputs.readers.jsonl_rows import (
    iterate_jsonl_rows,
    iterate_multilabel_jsonl,
    read_jsonl_rows,
    read_multilabel_jsonl,
    write_jsonl_rows,
    write_multilabel_jsonl,
)
from maxmargin.inputs.readers.mulan import iterate_mulan_rows, read_mulan_rows, write_mulan_rows
from maxmargin.inputs.readers.multilabel_rows import MultilabelRows
from maxmargin.inputs.readers.named_rows import NamedRows
from maxmargin.inputs.readers.svmlight import (
    SvmlightRows,
    iterate_multilabel_svmlight,
    iterate_svmlight,
    read_multilabel_svmlight,
    read_svmlight,
    write_svmlight,
)
from maxmargin.inputs.readers.tables import iterate_table_rows, read_table_rows, write_table_rows
from maxmargin.inputs.readers.taxonomy_file import read_taxonomy, write_taxonomy
from maxmargin.inputs.spans.files import iterate_spans, read_spans, write_spans
from maxmargin.inputs.spans.span import AnnotatedText, Span
from maxmargin.inputs.tokens.chunk_schemes import scheme_of
from maxmargin.structures.alignment.formats.a3m import read_a3m, write_a3m
from maxmargin.structures.alignment.formats.fasta import (
    SequenceRecord,
    iterate_fasta,
    read_aligned_fasta,
    read_fasta,
    write_fasta,
)
from maxmargin.structures.alignment.formats.multiple import Annotations, MultipleAlignment
from maxmargin.structures.alignment.formats.ncbi import SubstitutionMatrix, read_matrix, write_matrix
from maxmargin.structures.alignment.formats.pairs import (
    SequencePair,
    iterate_fasta_pairs,
    read_fasta_pairs,
    write_fasta_pairs,
)
from maxmargin.structures.alignment.formats.pairwise_text import render
from maxmargin.structures.alignment.formats.stockholm import iterate_stockholm, read_stockholm, write_stockholm
from maxmargin.structures.dependencies.conllu import iterate_conllu, read_conllu, write_conllu
from maxmargin.structures.dependencies.conllu_sentence import ConlluSentence
from maxmargin.structures.motifs.meme.content import MemeFile, MemeMotif
from maxmargin.structures.motifs.meme.reader import read_meme
from maxmargin.structures.motifs.meme.writer import write_meme
from maxmargin.structures.parsing.brackets import iterate_trees, read_trees, write_trees
from maxmargin.structures.sequences.conll import ConllSentence, iterate_conll, read_conll, write_conll
from maxmargin.structures.sequences.crfsuite import (
    CrfsuiteSequence,
    iterate_crfsuite,
    read_crfsuite,
    write_crfsuite,
)
from maxmargin.structures.sequences.jsonl import (
    iterate_jsonl_sequences,
    read_jsonl_sequences,
    write_jsonl_sequences,
)
from maxmargin.structures.sequences.table import (
    iterate_table_sequences,
    read_table_sequences,
    write_table_sequences,
)

__all__ = [
    "AnnotatedText",
    "Annotations",
    "ConllSentence",
    "ConlluSentence",
    "CrfsuiteSequence",
    "MemeFile",
    "MemeMotif",
    "MultilabelRows",
    "MultipleAlignment",
    "NamedRows",
    "SequencePair",
    "SequenceRecord",
    "Span",
    "SubstitutionMatrix",
    "SvmlightRows",
    "iterate_conll",
    "iterate_conllu",
    "iterate_crfsuite",
    "iterate_fasta",
    "iterate_fasta_pairs",
    "iterate_jsonl_rows",
    "iterate_jsonl_sequences",
    "iterate_mulan_rows",
    "iterate_multilabel_jsonl",
    "iterate_multilabel_svmlight",
    "iterate_spans",
    "iterate_stockholm",
    "iterate_svmlight",
    "iterate_table_rows",
    "iterate_table_sequences",
    "iterate_trees",
    "read_a3m",
    "read_aligned_fasta",
    "read_conll",
    "read_conllu",
    "read_crfsuite",
    "read_fasta",
    "read_fasta_pairs",
    "read_jsonl_rows",
    "read_jsonl_sequences",
    "read_matrix",
    "read_meme",
    "read_mulan_rows",
    "read_multilabel_jsonl",
    "read_multilabel_svmlight",
    "read_spans",
    "read_stockholm",
    "read_svmlight",
    "read_table_rows",
    "read_table_sequences",
    "read_taxonomy",
    "read_trees",
    "render",
    "scheme_of",
    "write_a3m",
    "write_conll",
    "write_conllu",
    "write_crfsuite",
    "write_fasta",
    "write_fasta_pairs",
    "write_jsonl_rows",
    "write_jsonl_sequences",
    "write_matrix",
    "write_meme",
    "write_mulan_rows",
    "write_multilabel_jsonl",
    "write_spans",
    "write_stockholm",
    "write_svmlight",
    "write_table_rows",
    "write_table_sequences",
    "write_taxonomy",
    "write_trees",
]
