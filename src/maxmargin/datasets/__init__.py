"""Data to try things with: made-up sets, and readers of files as the collectors of public data sets publish them.

`digit_strings` and `mutated_pairs` make their data up and need no file. A reader, `read_...`, takes the path of a file
that you have, compressed (.gz, .xz or .bz2) or not, and returns plain lists and numpy arrays; a file that is not as it
should be raises a ValueError that names the file and the place. `chunk_features` makes of the sentences that
`formats.read_conll` reads what a `SequenceLabeler` takes. Formats that many data sets share are read by
`maxmargin.formats`.
"""

from maxmargin.datasets.attributes import chunk_features
from maxmargin.datasets.clus import read_clus
from maxmargin.datasets.generated import digit_strings, mutated_pairs
from maxmargin.datasets.idx import read_idx
from maxmargin.datasets.mulan import read_mulan
from maxmargin.datasets.ocr_letters import read_ocr_letters

__all__ = [
    "chunk_features",
    "digit_strings",
    "mutated_pairs",
    "read_clus",
    "read_idx",
    "read_mulan",
    "read_ocr_letters",
]
