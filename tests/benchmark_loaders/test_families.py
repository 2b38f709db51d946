import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.loaders import Pair, families, load_prefab4, load_prefab4_homologs, prefab4_split, split_families
from benchmarks.loaders.families import SHARED, WORD_LENGTH
from maxmargin.formats import SequenceRecord
from maxmargin.structures.alignment.alignments import PairwiseAlignment


def pair(a, b, proteins):
    return Pair("_".join(proteins), a, b, PairwiseAlignment([], (len(a), len(b))), proteins)


def plain_words(text):
    return {text[i : i + WORD_LENGTH] for i in range(len(text) - WORD_LENGTH + 1)}


def plainly_linked(first, second):
    """Whether two pairs are related by a protein or by a sequence."""
    if set(first.proteins) & set(second.proteins):
        return True
    for a in (first.a, first.b):
        for b in (second.a, second.b):
            fewest = min(len(plain_words(a)), len(plain_words(b)))
            if a == b or (fewest and len(plain_words(a) & plain_words(b)) >= SHARED * fewest):
                return True
    return False


def plain_components(n, linked):
    """Merge until no two numbers of linked examples differ; then count numbers as they appear."""
    labels = list(range(n))
    for _ in range(n):
        for i in range(n):
            for j in range(n):
                if linked(i, j):
                    labels[i] = labels[j] = min(labels[i], labels[j])
    return [sorted(set(labels), key=labels.index).index(label) for label in labels]


sequences = st.text("ACDE", min_size=1, max_size=60)
pairs_of_proteins = st.lists(
    st.builds(pair, sequences, sequences, st.tuples(*[st.integers(0, 20).map(str)] * 2)), min_size=1, max_size=7
)
shared_names = st.lists(st.sampled_from("uvwxyz"), max_size=2)


@given(pairs_of_proteins, st.data())
def test_families_are_the_connected_components(pairs, data):
    n = len(pairs)
    found = families(pairs)
    assert found.tolist() == plain_components(n, lambda i, j: plainly_linked(pairs[i], pairs[j]))
    names = data.draw(st.lists(shared_names, min_size=n, max_size=n))
    homologs = [{"a": [SequenceRecord(name, "", "M") for name in each], "b": []} for each in names]
    assert families(pairs, homologs).tolist() == plain_components(
        n, lambda i, j: plainly_linked(pairs[i], pairs[j]) or bool(set(names[i]) & set(names[j]))
    )


def test_a_tenth_of_the_words_of_the_shorter_sequence_is_enough():
    short, long = "ACDEFGHIKLMNPQ", "VWYVWYYVWVYWWVYVVWWYYVYWVVVWWWYYYV"  # 10 words, and 30 others
    assert len(plain_words(short)) == 10
    for common, linked in ((short[:4], False), (short[:5], True)):
        pairs = [pair(short, "M", ("1", "2")), pair(common + long, "K", ("3", "4"))]
        assert families(pairs).tolist() == [0, 0 if linked else 1]


def test_homologs_must_be_those_of_the_pairs():
    with pytest.raises(ValueError, match="got homologs of 0 pairs; expected one mapping for each of 1 pairs"):
        families([pair("M", "K", ("1", "2"))], [])


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_splits_have_every_example_once_and_families_in_one_part(family, shares):
    parts = split_families(family, shares)
    assert len(parts) == len(shares)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(family)))
    assert sum(len({family[i] for i in part}) for part in parts) == len(set(family))
    assert all((np.diff(part) > 0).all() for part in parts)
    # A part has room for a family, or lacks most, so that it is beyond its share by less than the largest family.
    largest = max(family.count(each) for each in family)
    for part, share in zip(parts, shares, strict=True):
        assert len(part) - share / sum(shares) * len(family) < largest


def test_the_largest_families_come_first():
    parts = split_families(["x", "y", "y", "z", "w", "w"], (0.5, 0.5))
    assert [part.tolist() for part in parts] == [[0, 1, 2], [3, 4, 5]]


def test_no_family_is_most_of_a_small_part():
    family = [0] * 30 + [1] * 20 + list(range(2, 52))  # 100 examples
    train, validation, test = split_families(family, (0.5, 0.2, 0.3))
    assert train.tolist() == list(range(50))
    assert (len(validation), len(test)) == (20, 30)


def test_shares_are_positive():
    with pytest.raises(ValueError, match=r"got shares \[1, 0\]"):
        split_families([0, 1], [1, 0])


@pytest.mark.data
def test_the_split_of_prefab4_is_the_documented_one():
    pairs, homologs, split = load_prefab4(), load_prefab4_homologs(), prefab4_split()
    family = families(pairs, homologs)
    assert [len(part) for part in split] == [841, 336, 504]
    assert [len(set(family[part])) for part in split] == [102, 101, 104]
    assert np.sort(np.bincount(family))[-2:].tolist() == [262, 291]
    assert set(np.argsort(np.bincount(family))[-2:]) <= set(family[split.train])
    for one in split:
        for other in split:
            if one is not other:
                assert not {name for i in one for name in pairs[i].proteins} & {
                    name for i in other for name in pairs[i].proteins
                }
                assert not {r.name for i in one for found in homologs[i].values() for r in found} & {
                    r.name for i in other for found in homologs[i].values() for r in found
                }
