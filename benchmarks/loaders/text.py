"""Documents, as text or as sparse vectors of words."""

from __future__ import annotations

import bz2
import html
import re
import tarfile

import numpy as np
from scipy import sparse

from benchmarks.loaders.folder import check_choice, data_file


def load_20newsgroups(split: str) -> tuple[list[str], list[str]]:
    """20 Newsgroups, split by date: ``(texts, labels)``, posts with headers and the names of their groups.

    11314 training and 7532 test posts (Lang, "NewsWeeder: learning to filter netnews", ICML 1995).
    """
    check_choice("split", split, "train", "test")
    texts: list[str] = []
    labels: list[str] = []
    with tarfile.open(data_file("20newsgroups", "20news-bydate.tar.xz"), "r:xz") as archive:
        for member in archive:
            parts = member.name.split("/")
            if not member.isfile() or parts[0] != f"20news-bydate-{split}":
                continue
            file = archive.extractfile(member)
            assert file is not None  # isfile() above
            texts.append(file.read().decode("latin-1"))
            labels.append(parts[1])
    return texts, labels


_STORY = re.compile(r"<REUTERS\b(?P<head>[^>]*)>(?P<story>.*?)</REUTERS>", re.DOTALL)
_TOPICS = re.compile(r"<TOPICS>(.*?)</TOPICS>", re.DOTALL)
_TOPIC = re.compile(r"<D>(.*?)</D>")
_TEXT = re.compile(r"<TEXT\b[^>]*>(.*?)</TEXT>", re.DOTALL)
_TITLE = re.compile(r"<TITLE>(.*?)</TITLE>", re.DOTALL)
_BODY = re.compile(r"<BODY>(.*?)</BODY>", re.DOTALL)


def load_reuters21578(split: str) -> tuple[list[str], list[list[str]]]:
    """Reuters-21578 news in the ModApte split: ``(texts, topics)``, title and body of a story, and all its topics.

    9603 training and 3299 test stories, of which 7775 and 3019 have a topic; 115 topics occur in the training part, 90
    of them in both (Lewis, "Reuters-21578 text categorization test collection, distribution 1.0", 1997; the split is
    that of Apté, Damerau and Weiss, "Automated learning of decision rules for text categorization", ACM TOIS 1994).
    Some stories have no body; the text of those that are not divided into title and body is all that they have.
    """
    check_choice("split", split, "train", "test")
    # TOPICS="YES" says that the story was looked at by an indexer, not that it has topics.
    wanted = ('TOPICS="YES"', f'LEWISSPLIT="{split.upper()}"')
    texts: list[str] = []
    topics: list[list[str]] = []
    with tarfile.open(data_file("reuters21578", "reuters21578.tar.xz"), "r:xz") as archive:
        for member in archive:
            if not member.isfile() or not member.name.endswith(".sgm"):
                continue
            file = archive.extractfile(member)
            assert file is not None  # isfile() above
            for match in _STORY.finditer(file.read().decode("latin-1")):
                if all(attribute in match["head"].split() for attribute in wanted):
                    texts.append(_story_text(match["story"]))
                    names = _TOPIC.findall("".join(_TOPICS.findall(match["story"])))
                    topics.append(list(dict.fromkeys(names)))  # two stories name a topic twice
    return texts, topics


def _story_text(story: str) -> str:
    """Title and body, one below the other; the control characters of the news wire go with the entities."""
    parts = _TITLE.findall(story) + _BODY.findall(story)
    return "\n".join(html.unescape(part).strip() for part in parts or _TEXT.findall(story))


def load_lasvm_reuters(split: str) -> tuple[sparse.csr_array, np.ndarray]:
    """Reuters stories on money-fx against all others: ``(X, y)``, sparse tf-idf rows of length 1, and +1 or -1.

    7770 training examples, 538 of them positive, and 3299 test examples, 179 of them positive; 8315 features (Bordes,
    Ertekin, Weston and Bottou, "Fast kernel classifiers with online and active learning", JMLR 2005).
    """
    from sklearn.datasets import load_svmlight_file

    check_choice("split", split, "train", "test")
    file = {"train": "reuters/reuters.trn.bz2", "test": "reuters/reuters.tst.bz2"}[split]
    with bz2.open(data_file("svm-binary-tick", file)) as lines:
        X, y = load_svmlight_file(lines, n_features=8315, zero_based=False)
    # scikit-learn, whose reader makes indices of 64 bits, trains on those of 32 bits only.
    indices, indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return sparse.csr_array((X.data, indices, indptr), shape=X.shape), y.astype(np.intp)
