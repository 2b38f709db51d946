import bz2
import io
import tarfile

import numpy as np
import pytest

from benchmarks.loaders import load_20newsgroups, load_lasvm_reuters, load_reuters21578


def write_archive(path, files):
    path.parent.mkdir()
    with tarfile.open(path, "w:xz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def test_newsgroups_are_folders(folder):
    files = {
        "20news-bydate-train/sci.space/1": b"To the moon",
        "20news-bydate-test/sci.space/2": b"Back",
        "20news-bydate-train/sci.med/1": "Fièvre".encode("latin-1"),
    }
    write_archive(folder / "20newsgroups" / "20news-bydate.tar.xz", files)
    assert load_20newsgroups("train") == (["To the moon", "Fièvre"], ["sci.space", "sci.med"])
    assert load_20newsgroups("test") == (["Back"], ["sci.space"])


STORIES = """<!DOCTYPE lewis SYSTEM "lewis.dtd">
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" NEWID="1">
<TOPICS><D>grain</D><D>wheat</D><D>grain</D></TOPICS>
<PLACES><D>usa</D></PLACES>
<TEXT>&#2;
<TITLE>Corn &amp; wheat</TITLE>
<DATELINE> CHICAGO - </DATELINE><BODY>Prices &lt;up>
    again.
&#3;</BODY></TEXT>
</REUTERS>
<REUTERS TOPICS="NO" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" NEWID="2">
<TOPICS></TOPICS>
<TEXT><TITLE>Nobody looked for topics</TITLE></TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TEST" CGISPLIT="TRAINING-SET" NEWID="3">
<TOPICS></TOPICS>
<TEXT TYPE="BRIEF">&#2;
<TITLE>Café closes</TITLE>Left out&#3;</TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="NOT-USED" CGISPLIT="TRAINING-SET" NEWID="4">
<TOPICS><D>earn</D></TOPICS>
<TEXT><TITLE>Not used</TITLE></TEXT>
</REUTERS>
<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN" CGISPLIT="TRAINING-SET" NEWID="5">
<TOPICS><D>earn</D></TOPICS>
<TEXT TYPE="UNPROC">&#2;
All in one
&#3;</TEXT>
</REUTERS>
"""


def test_reuters_stories_are_taken_apart(folder):
    files = {
        "reuters21578/README.txt": b'<REUTERS TOPICS="YES" LEWISSPLIT="TRAIN"></REUTERS>',
        "reuters21578/reut2-000.sgm": STORIES.encode("latin-1"),
    }
    write_archive(folder / "reuters21578" / "reuters21578.tar.xz", files)
    texts, topics = load_reuters21578("train")
    assert texts == ["Corn & wheat\nPrices <up>\n    again.", "All in one"]
    assert topics == [["grain", "wheat"], ["earn"]]
    assert load_reuters21578("test") == (["Café closes"], [[]])


@pytest.mark.parametrize(("split", "file"), [("train", "reuters.trn.bz2"), ("test", "reuters.tst.bz2")])
def test_lasvm_reuters_is_sparse(split, file, folder):
    path = folder / "svm-binary-tick" / "reuters" / file
    path.parent.mkdir(parents=True)
    path.write_bytes(bz2.compress(b"-1 1:6.0E-01 8315:0.8\n+1 3:1\n"))
    X, y = load_lasvm_reuters(split)
    assert X.format == "csr"
    assert X.indices.dtype == X.indptr.dtype == np.int32  # scikit-learn accepts no others
    assert X.shape == (2, 8315)
    assert [index.tolist() for index in X.nonzero()] == [[0, 0, 1], [0, 8314, 2]]
    assert X.data.tolist() == [0.6, 0.8, 1.0]
    assert y.tolist() == [-1, 1]


@pytest.mark.data
@pytest.mark.parametrize(("split", "n"), [("train", 11314), ("test", 7532)])
def test_20newsgroups_has_its_published_counts(split, n):
    texts, labels = load_20newsgroups(split)
    assert len(texts) == len(labels) == n
    assert len(set(labels)) == 20
    assert "comp.sys.mac.hardware" in labels


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "n", "n_with_topics", "n_earn", "n_corn"),
    [("train", 9603, 7775, 2877, 181), ("test", 3299, 3019, 1087, 56)],
)
def test_reuters21578_has_its_published_counts(split, n, n_with_topics, n_earn, n_corn):
    texts, topics = load_reuters21578(split)
    assert len(texts) == len(topics) == n
    assert all(text.strip() for text in texts)
    assert sum(map(bool, topics)) == n_with_topics
    assert sum("earn" in names for names in topics) == n_earn
    assert sum("corn" in names for names in topics) == n_corn


@pytest.mark.data
def test_reuters21578_has_ninety_topics_in_both_parts():
    train, test = ({name for names in load_reuters21578(split)[1] for name in names} for split in ("train", "test"))
    assert len(train) == 115
    assert len(train & test) == 90


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "n", "n_positive", "nnz"), [("train", 7770, 538, 339837), ("test", 3299, 179, 136821)]
)
def test_lasvm_reuters_has_its_published_counts(split, n, n_positive, nnz):
    X, y = load_lasvm_reuters(split)
    assert X.shape == (n, 8315)
    assert X.nnz == nnz
    assert np.bincount(y + 1).tolist() == [n - n_positive, 0, n_positive]
