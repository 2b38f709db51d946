"""Loaders of the public data sets that benchmarks and tests read, one file per kind of data.

The sets are not shipped: the environment variable ``MAXMARGIN_DATA`` names the folder that holds them, one folder a
set, and a loader that cannot find its set raises :class:`DataNotFound`. Every loader reads the compressed files as
they are and returns plain Python lists, numpy arrays and scipy matrices, so that any other library can be given the
same data. What a set's own published files need to be read is in `maxmargin.datasets`, for everybody who has them.
"""

from benchmarks.loaders.alignments import (
    Pair,
    load_prefab4,
    load_prefab4_homologs,
    load_protein_alignments,
    load_substitution_matrix,
    load_tmalign,
)
from benchmarks.loaders.ambient import AmbiguousQuery, SearchResult, load_ambient
from benchmarks.loaders.chunk_attributes import chunk_features
from benchmarks.loaders.clusters import PAPER_FEATURES, AmbiguousName, Paper, load_aminer, paper_pairs
from benchmarks.loaders.families import Split, families, prefab4_split, split_families
from benchmarks.loaders.folder import ENVIRONMENT_VARIABLE, DataNotFound, data_folder
from benchmarks.loaders.graphs import (
    HORSE_CLASSES,
    MSRC21_CLASSES,
    SUPERPIXEL_EDGE_FEATURES,
    Superpixels,
    load_horse_picture,
    load_horses,
    load_msrc21,
    load_msrc21_picture,
    load_snakes,
    snake_grids,
)
from benchmarks.loaders.hierarchies import load_imclef07a
from benchmarks.loaders.images import load_mnist, load_optdigits, load_usps
from benchmarks.loaders.label_ranking import LABEL_RANKING_SETS, load_label_ranking
from benchmarks.loaders.motifs import BoundSequence, Origin, Origins, load_crp_sites, load_yeast_ars
from benchmarks.loaders.multilabel import load_mulan
from benchmarks.loaders.ranking import load_letor, load_lightgbm_rank
from benchmarks.loaders.sequences import iterate_conll2000, load_conll2000, load_conll2002_es, load_ocr_letters
from benchmarks.loaders.tables import load_covertype
from benchmarks.loaders.text import load_20newsgroups, load_lasvm_reuters, load_reuters21578
from benchmarks.loaders.tours import PointOfInterest, Tours, Trip, load_flickr_tours
from benchmarks.loaders.treebanks import load_ptb_sample, load_ud_ewt

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "HORSE_CLASSES",
    "LABEL_RANKING_SETS",
    "MSRC21_CLASSES",
    "PAPER_FEATURES",
    "SUPERPIXEL_EDGE_FEATURES",
    "AmbiguousName",
    "AmbiguousQuery",
    "BoundSequence",
    "DataNotFound",
    "Origin",
    "Origins",
    "Pair",
    "Paper",
    "PointOfInterest",
    "SearchResult",
    "Split",
    "Superpixels",
    "Tours",
    "Trip",
    "chunk_features",
    "data_folder",
    "families",
    "iterate_conll2000",
    "load_20newsgroups",
    "load_ambient",
    "load_aminer",
    "load_conll2000",
    "load_conll2002_es",
    "load_covertype",
    "load_crp_sites",
    "load_flickr_tours",
    "load_horse_picture",
    "load_horses",
    "load_imclef07a",
    "load_label_ranking",
    "load_lasvm_reuters",
    "load_letor",
    "load_lightgbm_rank",
    "load_mnist",
    "load_msrc21",
    "load_msrc21_picture",
    "load_mulan",
    "load_ocr_letters",
    "load_optdigits",
    "load_prefab4",
    "load_prefab4_homologs",
    "load_protein_alignments",
    "load_ptb_sample",
    "load_reuters21578",
    "load_snakes",
    "load_substitution_matrix",
    "load_tmalign",
    "load_ud_ewt",
    "load_usps",
    "load_yeast_ars",
    "paper_pairs",
    "prefab4_split",
    "snake_grids",
    "split_families",
]
