"""Measures of predicted structures, from the folders of their structures."""

from maxmargin.counting.routes import pair_f1, point_f1
from maxmargin.structures.classes.measures import tree_loss
from maxmargin.structures.clustering.measures import (
    ClusterScore,
    b_cubed,
    ceaf,
    mitre_loss,
    muc,
    pair_loss,
    pairwise,
)
from maxmargin.structures.diversity.measures import subtopic_loss, subtopic_recall
from maxmargin.structures.parsing.parseval import ParsevalScore, parseval
from maxmargin.structures.ranking.query_scores import query_scores
from maxmargin.structures.sequences.measures import ChunkScore, chunk_f1, chunks

__all__ = [
    "ChunkScore",
    "ClusterScore",
    "ParsevalScore",
    "b_cubed",
    "ceaf",
    "chunk_f1",
    "chunks",
    "mitre_loss",
    "muc",
    "pair_f1",
    "pair_loss",
    "pairwise",
    "parseval",
    "point_f1",
    "query_scores",
    "subtopic_loss",
    "subtopic_recall",
    "tree_loss",
]
