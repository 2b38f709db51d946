"""Loaders of public data sets, and one small set that needs no download.

The public sets are not shipped: the environment variable ``MAXMARGIN_DATA`` names the folder that holds them,
one folder a set, and a loader that cannot find its set raises :class:`DataNotFound`. Every loader reads the
compressed files as they are and returns plain Python lists, numpy arrays and scipy matrices, so that any other
library can be given the same data.
"""

from maxmargin.datasets.attributes import Token, chunk_features, word_shape
from maxmargin.datasets.folder import ENVIRONMENT_VARIABLE, DataNotFound, data_folder
from maxmargin.datasets.generated import digit_strings
from maxmargin.datasets.hierarchies import load_imclef07a
from maxmargin.datasets.images import load_mnist, load_optdigits, load_usps
from maxmargin.datasets.ranking import load_letor
from maxmargin.datasets.sequences import load_conll2000, load_conll2002_es, load_ocr_letters
from maxmargin.datasets.tables import load_covertype
from maxmargin.datasets.text import load_20newsgroups, load_lasvm_reuters, load_reuters21578

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "DataNotFound",
    "Token",
    "chunk_features",
    "data_folder",
    "digit_strings",
    "load_20newsgroups",
    "load_conll2000",
    "load_conll2002_es",
    "load_covertype",
    "load_imclef07a",
    "load_lasvm_reuters",
    "load_letor",
    "load_mnist",
    "load_ocr_letters",
    "load_optdigits",
    "load_reuters21578",
    "load_usps",
    "word_shape",
]
