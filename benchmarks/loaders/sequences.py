"""Sequences with a label at every position: tagged sentences and handwritten words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from benchmarks.loaders.folder import check_choice, data_file
from maxmargin.datasets import read_ocr_letters
from maxmargin.formats import ConllSentence, iterate_conll


def load_conll2000(split: str) -> tuple[list[list[tuple[str, ...]]], list[list[str]]]:
    """CoNLL-2000 chunking: ``(sentences, tags)``, a token being ``(word, part of speech)`` and tags IOB2.

    8936 training and 2012 test sentences of the Wall Street Journal (Tjong Kim Sang and Buchholz,
    "Introduction to the CoNLL-2000 shared task: chunking", CoNLL 2000).
    """
    return _columns(iterate_conll2000(split))


def iterate_conll2000(split: str) -> Iterator[ConllSentence]:
    """The same, one sentence after another."""
    check_choice("split", split, "train", "test")
    return iterate_conll(data_file("conll2000_chunking", f"{split}.txt.xz"))


def load_conll2002_es(split: str) -> tuple[list[list[tuple[str, ...]]], list[list[str]]]:
    """CoNLL-2002 Spanish named entities: ``(sentences, tags)``, a token being ``(word, part of speech)``, tags IOB2.

    8323 training, 1915 validation (the shared task's testa) and 1517 test (testb) sentences of a news agency, with
    264,715, 52,923 and 51,533 tokens; the entities are PER, LOC, ORG and MISC (Tjong Kim Sang, "Introduction to the
    CoNLL-2002 shared task: language-independent named entity recognition", CoNLL 2002). Every part has one entity that
    starts with an ``I-`` tag.
    """
    check_choice("split", split, "train", "validation", "test")
    file = {"train": "esp.train.xz", "validation": "esp.testa.xz", "test": "esp.testb.xz"}[split]
    return _columns(iterate_conll(data_file("conll2002_es", file)))


def load_ocr_letters() -> tuple[list[np.ndarray], list[list[str]], np.ndarray]:
    """Handwritten words: ``(X, Y, folds)``, a word being a ``(letters, 128)`` array of 0/1 and its letters.

    6877 words in ten folds, numbered 0 to 9 (Kassel 1995; Taskar, Guestrin and Koller, "Max-margin Markov
    networks", NIPS 2003). The first letter of every word, a capital, was left out by the collectors.
    """
    return read_ocr_letters(data_file("ocr_letters", "letter.data.xz"))


def _columns(sentences: Iterable[ConllSentence]) -> tuple[list[list[tuple[str, ...]]], list[list[str]]]:
    given = list(sentences)
    return [sentence.tokens for sentence in given], [sentence.labels for sentence in given]
