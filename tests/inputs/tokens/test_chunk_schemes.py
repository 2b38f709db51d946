"""Schemes of chunk labels against the definition: chunks, written down and read."""

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from maxmargin.inputs.tokens.chunk_schemes import ANY, SCHEMES, scheme_of
from maxmargin.metrics import chunk_f1

LETTERS = {"BIO": "BI", "BILOU": "BILU", "IOBES": "BIES"}


def labels_of(name):
    return ["O", *(f"{letter}-{kind}" for letter, kind in product(LETTERS[name], ["x", "y"]))]


def written(name, chunks):
    """Labels of chunks: (None, length) outside, (type, length) inside."""
    right = []
    for kind, length in chunks:
        if kind is None:
            right += ["O"] * length
        elif name == "BIO":
            right += [f"B-{kind}", *[f"I-{kind}"] * (length - 1)]
        else:
            last, unit = ("L", "U") if name == "BILOU" else ("E", "S")
            inside = [f"B-{kind}", *[f"I-{kind}"] * (length - 2), f"{last}-{kind}"]
            right += [f"{unit}-{kind}"] if length == 1 else inside
    return right


def is_right(name, labels):
    return all(SCHEMES[name].may_follow(a, b) for a, b in pairwise([None, *labels, None]))


schemes = pytest.mark.parametrize("name", SCHEMES)


@schemes
def test_right_sequences_are_those_of_chunks(name):
    """Of all label sequences of length 3, those are right that some chunks make."""
    parts = list(product([None, "x", "y"], [1, 2, 3]))
    made = {
        tuple(written(name, chunks))
        for n in (1, 2, 3)
        for chunks in product(parts, repeat=n)
        if sum(length for _, length in chunks) == 3
    }
    found = {labels for labels in product(labels_of(name), repeat=3) if is_right(name, labels)}
    assert found == made


@schemes
@given(data=st.data())
def test_repair(name, data):
    """Repaired labels are right; right ones stay; no chunk of what conlleval reads changes."""
    labels = data.draw(st.lists(st.sampled_from(labels_of(name)), min_size=1, max_size=8))
    right = SCHEMES[name].repaired(labels)
    assert is_right(name, right)
    assert SCHEMES[name].repaired(right) == right
    if is_right(name, labels):
        assert right == labels
    assert [label == "O" for label in right] == [label == "O" for label in labels]
    assert [label[2:] for label in right] == [label[2:] for label in labels]
    if name == "BIO" and any(label != "O" for label in labels):
        assert chunk_f1([labels], [right]).f1 == 1.0
    if name == "BIO":  # only an I that cannot follow has changed
        changed = [(a, b) for a, b in zip(labels, right, strict=True) if a != b]
        assert all(a[0] == "I" and b == f"B{a[1:]}" for a, b in changed)


def test_examples_of_repair():
    assert SCHEMES["BIO"].repaired(["I-x", "I-x", "O", "I-y", "I-x", "B-x"]) == [
        *["B-x", "I-x", "O", "B-y", "B-x", "B-x"]
    ]
    assert SCHEMES["BILOU"].repaired(["B-x", "O", "I-x", "I-x", "L-y", "U-y"]) == [
        *["U-x", "O", "B-x", "L-x", "U-y", "U-y"]
    ]
    assert SCHEMES["IOBES"].repaired(["B-x", "B-x", "E-x", "E-x"]) == ["S-x", "B-x", "E-x", "S-x"]
    assert SCHEMES["BIO"].repaired(["I-", 7, "NN", ("I", "x"), "I-z"]) == ["B-", 7, "NN", ("I", "x"), "B-z"]


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("BIO", "B-X I-X O B-Y B-Y"),
        ("BIO", "O O"),
        ("BILOU", "B-X I-X L-X O U-Y"),
        ("IOBES", "B-X E-X O S-Y"),
        ("IOB1", "I-X I-X B-X O I-Y"),
        (None, "I-X B-Y"),  # an I that begins and a B that nothing asks for
        (None, "DET NOUN"),
        (None, "B-X L-X S-X"),
    ],
)
def test_schemes_are_told_apart(name, labels):
    assert scheme_of([labels.split()]) == name
    assert scheme_of([["O"], labels.split()]) == name


@given(st.lists(st.tuples(st.sampled_from("XY"), st.integers(1, 3), st.integers(0, 2)), max_size=4))
def test_chunks_are_the_same_in_every_scheme(chunks):
    iob1, before = [], ""
    for kind, length, gap in chunks:
        first = "B" if before == kind else "I"
        iob1 += [f"{first}-{kind}", *[f"I-{kind}"] * (length - 1), *["O"] * gap]
        before = "" if gap else kind
    expected = ANY.chunks(iob1)
    assert [(end - begin, kind) for begin, end, kind in expected] == [(length, kind) for kind, length, _ in chunks]
    for name, scheme in SCHEMES.items():
        written = scheme.rewritten(iob1)
        assert scheme.fits(written)
        assert scheme.chunks(written) == ANY.chunks(written) == expected
        for other in SCHEMES.values():
            assert scheme.rewritten(other.rewritten(iob1)) == written, name
