import lzma

import numpy as np
import pytest

from benchmarks.loaders import load_conll2000, load_conll2002_es, load_ocr_letters

SENTENCES = [[("El", "DA"), ("Barça", "NP")], [("Ganó", "VMI")]]
TAGS = [["O", "B-ORG"], ["O"]]


@pytest.mark.parametrize(
    ("load", "split", "file"),
    [
        (load_conll2000, "train", "conll2000_chunking/train.txt.xz"),
        (load_conll2000, "test", "conll2000_chunking/test.txt.xz"),
        (load_conll2002_es, "train", "conll2002_es/esp.train.xz"),
        (load_conll2002_es, "validation", "conll2002_es/esp.testa.xz"),
        (load_conll2002_es, "test", "conll2002_es/esp.testb.xz"),
    ],
)
def test_sentences_end_at_empty_lines(load, split, file, folder):
    path = folder / file
    path.parent.mkdir()
    # Two empty lines are one end of a sentence, and the last sentence needs none.
    path.write_bytes(lzma.compress("El DA O\nBarça NP B-ORG\n\n\nGanó VMI O\n".encode()))
    assert load(split) == (SENTENCES, TAGS)


def test_ocr_letters_are_cut_into_words(folder):
    (folder / "ocr_letters").mkdir()
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 2, (5, 128), dtype=np.uint8)
    heads = ["1 a 2 1 1 4", "2 b 3 1 2 4", "3 z -1 1 3 4", "4 c 5 2 1 0", "5 c -1 2 2 0"]
    rows = [f"{head} {' '.join(map(str, row))}\n" for head, row in zip(heads, pixels.tolist(), strict=True)]
    text = "".join(rows).replace(" ", "\t")
    (folder / "ocr_letters" / "letter.data.xz").write_bytes(lzma.compress(text.encode()))
    X, Y, folds = load_ocr_letters()
    assert Y == [["a", "b", "z"], ["c", "c"]]
    assert folds.tolist() == [4, 0]
    assert [x.shape for x in X] == [(3, 128), (2, 128)]
    assert np.array_equal(np.concatenate(X), pixels)


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "n_sentences", "n_tokens", "n_chunks"),
    [("train", 8936, 211727, 106978), ("test", 2012, 47377, 23852)],
)
def test_conll2000_has_its_published_counts(split, n_sentences, n_tokens, n_chunks):
    from maxmargin.metrics import chunks

    sentences, tags = load_conll2000(split)
    assert len(sentences) == len(tags) == n_sentences
    assert sum(map(len, sentences)) == sum(map(len, tags)) == n_tokens
    assert sum(1 for sentence in tags for _ in chunks(sentence)) == n_chunks


@pytest.mark.data
@pytest.mark.parametrize(
    ("split", "n_sentences", "n_tokens", "n_entities"),
    [("train", 8323, 264715, 18798), ("validation", 1915, 52923, 4352), ("test", 1517, 51533, 3559)],
)
def test_conll2002_es_has_its_published_counts(split, n_sentences, n_tokens, n_entities):
    from maxmargin.metrics import chunks

    sentences, tags = load_conll2002_es(split)
    assert len(sentences) == len(tags) == n_sentences
    assert sum(map(len, sentences)) == sum(map(len, tags)) == n_tokens
    assert sum(1 for sentence in tags for _ in chunks(sentence)) == n_entities
    if split == "train":
        assert sum(sentence.count("B-MISC") for sentence in tags) == 2173


@pytest.mark.data
def test_ocr_letters_has_its_published_counts():
    X, Y, folds = load_ocr_letters()
    assert len(X) == len(Y) == len(folds) == 6877
    assert sum(map(len, Y)) == 52152
    assert all(x.shape == (len(y), 128) and x.dtype == np.float64 for x, y in zip(X, Y, strict=True))
    assert np.bincount(folds).tolist() == [626, 704, 684, 698, 693, 651, 739, 717, 690, 675]
    assert len({"".join(y) for y in Y}) == 55
