"""Example data: artificial data sets, and readers of public data sets in their published files.

`digit_strings` and `mutated_pairs` generate data and need no file. A reader, `read_...`, takes the path of a file that
you have, compressed (.gz, .xz or .bz2) or not, and returns plain lists and numpy arrays; a malformed file raises a
ValueError that names the file and the position. `maxmargin.formats` reads the formats that many data sets share.
"""

from maxmargin.datasets.clus import read_clus
from maxmargin.datasets.generated import digit_strings, mutated_pairs
from maxmargin.datasets.idx import read_idx
from maxmargin.datasets.mulan import read_mulan
from maxmargin.datasets.ocr_letters import read_ocr_letters

__all__ = [
    "digit_strings",
    "mutated_pairs",
    "read_clus",
    "read_idx",
    "read_mulan",
    "read_ocr_letters",
]
