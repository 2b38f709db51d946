"""Sentences with their parse trees."""

from __future__ import annotations

import tarfile

from benchmarks.loaders.folder import check_choice, data_file
from maxmargin.formats import ConlluSentence, read_conllu
from maxmargin.structures.parsing.brackets import trees_in
from maxmargin.structures.parsing.trees import Tree


def load_ptb_sample(max_words: int | None = None) -> list[Tree]:
    """The free sample of the Penn Treebank: the trees of Wall Street Journal files 1 to 199, in their order.

    3914 trees over 94,084 words, with 45 tags and 27 labels of phrases, of which one, ADVP|PRT, occurs once where the
    annotators left a choice (Marcus, Santorini and Marcinkiewicz, "Building a large annotated corpus of English: the
    Penn Treebank", Computational Linguistics 19, 1993). Traces, function tags and nodes over a single node of the same
    label are left out, see `Tree.cleaned`.

    Parameters
    ----------
    max_words : int, optional
        Leave out sentences with more words; punctuation counts as words. There are 393, 922 and 1605 sentences of at
        most 10, 15 and 20 words.
    """
    if max_words is not None and max_words < 1:
        raise ValueError(f"max_words must be at least 1, or None for all sentences, not {max_words!r}.")
    path = data_file("ptb_wsj_sample", "wsj_combined.tar.xz")
    texts: dict[str, str] = {}
    with tarfile.open(path, "r:xz") as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".mrg"):
                file = archive.extractfile(member)
                assert file is not None  # isfile() above
                texts[member.name] = file.read().decode("ascii")
    trees: list[Tree] = []
    for name, text in sorted(texts.items()):
        for tree in trees_in(text.splitlines(), f"{path.name}, {name}"):
            cleaned = tree.cleaned()
            if cleaned is None:
                raise ValueError(f"{path.name}, {name} has a tree without words: {tree}")
            if max_words is None or len(cleaned) <= max_words:
                trees.append(cleaned)
    return trees


def load_ud_ewt(part: str) -> list[ConlluSentence]:
    """UD English EWT 2.16: 12,544 sentences to train with, 2,001 ("dev") and 2,077 ("test") others.

    English from the web (weblogs, newsgroups, emails, reviews, answers) in Universal Dependencies, 51 labels of arcs,
    17 tags (UPOS) and 49 finer ones (XPOS), all by annotators (Silveira et al., "A gold standard dependency corpus for
    English", LREC 2014).

    Parameters
    ----------
    part : "train", "dev" or "test"
    """
    check_choice("part", part, "train", "dev", "test")
    return read_conllu(data_file("ud_english_ewt", f"en_ewt-ud-{part}.conllu.xz"))
