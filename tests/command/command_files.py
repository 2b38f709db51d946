"""Files and options that the commands are tried with."""

from pathlib import Path

KINDS = {
    "sequences": ("train.conll", "--forbidden", "BIO"),
    "classes": ("train.svm",),
    "ordinal": ("train.svm",),
    "measure": ("two.svm", "--measure", "roc_auc"),
    "ranking": ("train.letor", "--measure", "ndcg", "--k", "3"),
    "parsing": ("trees.mrg",),
    "dependencies": ("train.conllu",),
    "segments": ("train.conll",),
    "taxonomy": ("fruit.csv", "--tree", "fruit.tree"),
    "multilabel": ("songs.arff", "--kernel", "linear"),
    "alignment": ("pairs.fasta", "--prior", "none"),
    "homologs": ("homologs.jsonl",),
    "motifs": ("sites.fasta", "--without", "others.fasta", "--length", "6", "--restarts", "2", "--strands", "1"),
    "graphs": ("graphs.jsonl",),
    "clustering": ("clusters.jsonl",),
    "assignment": ("assignments.jsonl",),
    "diversity": ("documents.jsonl", "--solver", "one_slack"),
}
MORE = {"motifs": ("--without", "others.fasta")}  # what score and certify are given, too


def text(name):
    return Path(name).read_text(encoding="utf-8")
