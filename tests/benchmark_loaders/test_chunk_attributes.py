import pytest

from benchmarks.loaders import chunk_features


def test_chunk_features_of_a_short_sentence():
    features = chunk_features([("The", "DT"), ("pound", "NN"), ("fell", "VBD")])
    assert len(features) == 3
    middle = set(features[1])
    assert {"w[-1]=The", "w[0]=pound", "w[1]=fell", "w[-1]|w[0]=The|pound", "w[0]|w[1]=pound|fell"} <= middle
    assert {"pos[-1]|pos[0]=DT|NN", "pos[-1]|pos[0]|pos[1]=DT|NN|VBD", "suffix3=und", "prefix2=po"} <= middle
    assert {"first", "capital-first", "lower=the", "w[-1]=<s1>"} <= set(features[0])
    assert "last" in features[2]
    assert all(len(set(attributes)) == len(attributes) for attributes in features)
    assert all(25 <= len(attributes) <= 35 for attributes in features)
    assert chunk_features([]) == []
    with pytest.raises(ValueError, match=r"token 1 is \('pound',\); expected a word and its part of speech"):
        chunk_features([("The", "DT"), ("pound",)])


def test_equal_attributes_are_one_object():
    """Or a corpus would be millions of strings."""
    one, other = (chunk_features([("The", "DT"), (word, "NN")])[0] for word in ("pound", "dollar"))
    shared = set(one) & set(other)
    assert len(shared) > 10
    assert {id(a) for a in one if a in shared} == {id(a) for a in other if a in shared}
