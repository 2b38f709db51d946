"""Measures of the quality of predicted structures."""

from maxmargin.counting.routes import pair_f1, point_f1
from maxmargin.inputs.labels.confusion import LabelConfusion, Mistake
from maxmargin.report.scoring.paired_test import PairedTest, paired_test
from maxmargin.report.scoring.reliability import Reliability, calibration_error, reliability
from maxmargin.report.scoring.scorer import Scorer, exact_match, exact_match_scorer
from maxmargin.structures.assignment.measures import LinkScores, link_f1_scorer, link_scores
from maxmargin.structures.classes.measures import tree_loss
from maxmargin.structures.clustering.measures import (
    ClusterScore,
    b_cubed,
    b_cubed_f1_scorer,
    ceaf,
    ceaf_f1_scorer,
    mitre_loss,
    muc,
    muc_f1_scorer,
    pair_loss,
    pairwise,
    pairwise_f1_scorer,
)
from maxmargin.structures.decisions.measures import decision_regret, regret
from maxmargin.structures.dependencies.measures import (
    AttachmentScores,
    LabelAttachment,
    attachment_report,
    attachment_scores,
    las_scorer,
    uas_scorer,
)
from maxmargin.structures.diversity.measures import subtopic_loss, subtopic_recall
from maxmargin.structures.parsing.parseval import ParsevalScore, parseval, parseval_f1_scorer
from maxmargin.structures.ranking.query_scores import query_scores
from maxmargin.structures.sequences.confusion import label_confusion
from maxmargin.structures.sequences.entity_matching import MatchCounts
from maxmargin.structures.sequences.entity_report import EntityF1, EntityReport, EntityScore, entity_report
from maxmargin.structures.sequences.measures import ChunkScore, chunk_f1, chunk_f1_scorer, chunks
from maxmargin.structures.sequences.reports import chunk_report, label_report

__all__ = [
    "AttachmentScores",
    "ChunkScore",
    "ClusterScore",
    "EntityF1",
    "EntityReport",
    "EntityScore",
    "LabelAttachment",
    "LabelConfusion",
    "LinkScores",
    "MatchCounts",
    "Mistake",
    "PairedTest",
    "ParsevalScore",
    "Reliability",
    "Scorer",
    "attachment_report",
    "attachment_scores",
    "b_cubed",
    "b_cubed_f1_scorer",
    "calibration_error",
    "ceaf",
    "ceaf_f1_scorer",
    "chunk_f1",
    "chunk_f1_scorer",
    "chunk_report",
    "chunks",
    "decision_regret",
    "entity_report",
    "exact_match",
    "exact_match_scorer",
    "label_confusion",
    "label_report",
    "las_scorer",
    "link_f1_scorer",
    "link_scores",
    "mitre_loss",
    "muc",
    "muc_f1_scorer",
    "pair_f1",
    "pair_loss",
    "paired_test",
    "pairwise",
    "pairwise_f1_scorer",
    "parseval",
    "parseval_f1_scorer",
    "point_f1",
    "query_scores",
    "regret",
    "reliability",
    "subtopic_loss",
    "subtopic_recall",
    "tree_loss",
    "uas_scorer",
]
