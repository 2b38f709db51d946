"""What the readers of all kinds of input learn, score and count; test_task.py has the sentences that they refuse."""

import numpy as np
import pytest
from structures.parsing.treebank import treebank

from maxmargin.problem.planes.atoms import AtomRows
from maxmargin.structures.parsing.sentences import READERS, FeatureReader, TagReader, WordReader
from maxmargin.structures.parsing.trees import Tree

TREES = treebank(4)
SYMBOLS = {"D": 1, "N": 2, "V": 4, "P": 5}  # 0 and 3 are labels
FIRST = 7  # where the weights of words begin
SENTENCES = {
    "tags": [tree.tags() for tree in TREES],
    "words": [tree.words() for tree in TREES],
    "features": [[[f"word={word}", "bias"] for word in tree.words()] for tree in TREES],
}
every_kind = pytest.mark.parametrize("inputs", READERS)
with_features = pytest.mark.parametrize("inputs", ["words", "features"])


def fitted(inputs):
    return READERS[inputs](SYMBOLS, 6).fit(SENTENCES[inputs], FIRST)


@every_kind
def test_words_and_tokens(inputs):
    sentences, _ = fitted(inputs).read(SENTENCES[inputs])
    numbers = [[str(t) for t in range(len(tree))] for tree in TREES]
    words = {"tags": SENTENCES["tags"], "words": SENTENCES["words"], "features": numbers}[inputs]
    assert [sentence.words for sentence in sentences] == words
    tokens = [[""] * len(tree) for tree in TREES] if inputs == "features" else SENTENCES[inputs]
    assert [sentence.tokens for sentence in sentences] == tokens
    assert fitted(inputs).span_tokens(SENTENCES[inputs]) == ([] if inputs == "features" else tokens)


def test_pairs_have_words_and_tags():
    sentences, _ = fitted("tags").read([tree.tokens() for tree in TREES])
    assert [sentence.words for sentence in sentences] == SENTENCES["words"]
    assert [sentence.tokens for sentence in sentences] == SENTENCES["tags"]


@with_features
def test_leaves_score_the_features_of_their_words_by_tag(inputs):
    reader = fitted(inputs)
    w = np.random.default_rng(0).integers(-9, 10, reader.end_).astype(float)
    sentences, atoms = reader.read(SENTENCES[inputs])
    weights, names = reader.weights(w), reader.feature_names()
    assert weights.shape == (len(names), 4)
    assert FIRST + weights.size == len(w) == atoms.dim
    for sentence, features in zip(sentences, reader.word_features(SENTENCES[inputs]), strict=True):
        scores = reader.tag_scores(w, atoms, [sentence])
        expected = [sum(weights[names.index(name)] for name in set(token)) for token in features]
        np.testing.assert_array_equal(scores, expected)
        best = [list(SYMBOLS)[k] for k in np.argmax(expected, axis=1)]
        assert reader.best_tags(sentence, scores) == best
        assert [list(tags) for tags in reader.possible_tags(sentence)] == [[1, 2, 4, 5]] * len(features)


@with_features
def test_atoms_of_words_are_what_leaves_score(inputs):
    reader = fitted(inputs)
    w = np.random.default_rng(1).integers(-9, 10, reader.end_).astype(float)
    sentences, atoms = reader.read(SENTENCES[inputs])
    for sentence in sentences:
        scores = reader.tag_scores(w, atoms, [sentence])
        for t in range(len(sentence.words)):
            for symbol in SYMBOLS.values():
                atom = reader.first_atom(sentence) + t * 4 + reader.tag_numbers[symbol]
                row = AtomRows(atoms, np.array([0, 1], np.int32), np.array([atom], np.int32), np.ones(1))
                assert (row @ w).tolist() == [scores[t, reader.tag_numbers[symbol]]]


def test_given_tags_score_nothing():
    reader = fitted("tags")
    (sentence,), atoms = reader.read([["N", "V", "X"]])
    expected = np.full((3, 4), -np.inf)
    expected[0, list(SYMBOLS).index("N")] = expected[1, list(SYMBOLS).index("V")] = 0.0
    np.testing.assert_array_equal(reader.tag_scores(np.ones(FIRST), atoms, [sentence]), expected)
    np.testing.assert_array_equal(reader.tag_scores(np.ones(FIRST), atoms, [sentence] * 2), np.tile(expected, (2, 1)))
    assert [list(tags) for tags in reader.possible_tags(sentence)] == [[2], [4], [-1]]
    assert reader.best_tags(sentence, expected) == ["N", "V", "X"]
    assert reader.first_atom(sentence) == -1
    assert reader.feature_names() == []
    assert reader.weights(np.ones(FIRST)).shape == (0, 4)
    assert reader.end_ == atoms.dim == FIRST


def test_trees_of_other_sentences():
    tree = Tree.parse("(S (N dogs) (V bark))")
    other = {TagReader: [["N", "N"]], WordReader: [["cats", "bark"]], FeatureReader: [[["bias"], ["bias"]]]}
    for kind, X in other.items():
        reader = kind(SYMBOLS, 6).fit(X, FIRST)
        sentence = reader.read(X)[0][0]
        with pytest.raises(ValueError, match="sentence 3 has 2 words, but its tree has 1"):
            reader.check_tree(sentence, Tree.parse("(N dogs)"), 3)
        if kind is FeatureReader:  # which does not know the words
            reader.check_tree(sentence, tree, 3)
            continue
        with pytest.raises(ValueError, match=r"of sentence 3 .* in its tree"):
            reader.check_tree(sentence, tree, 3)
