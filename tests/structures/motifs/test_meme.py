import io

import numpy as np
import pytest
from Bio import motifs as biopython
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from structures.alignment.alignment_strategies import words

from maxmargin.formats import MemeFile, MemeMotif, read_meme, write_meme

UNIFORM = np.full((2, 4), 0.25)
TEXT = """MEME version 4

ALPHABET= ACGT

strands: + -

Background letter frequencies
A 0.3 C 0.2
G 0.2 T 0.3

MOTIF crp other
letter-probability matrix: alength= 4 w= 2 nsites= 17 E= 4.1e-009
 0.0  0.25  0.0  0.75
 1.0  0.0   0.0  0.0

URL somewhere

MOTIF second
log-odds matrix: alength= 4 w= 2
 -100 3 4 5
 1 2 3 4
letter-probability matrix: alength= 4 w= 1
 0.333 0.333 0.333 0
"""


@st.composite
def files(draw):
    alphabet = "".join(sorted(draw(st.sets(st.sampled_from("ACDEFGHIKLMNPQRSTVWY"), min_size=1))))

    def shares(rows):
        values = draw(hnp.arrays(np.float64, (rows, len(alphabet)), elements=st.floats(0.01, 1)))
        return values / values.sum(axis=1, keepdims=True)

    numbers = st.none() | st.floats(0, 1e300) | st.integers(0, 99)
    motifs = [
        MemeMotif(
            draw(words()), shares(draw(st.integers(1, 4))), draw(st.just("") | words()), draw(numbers), draw(numbers)
        )
        for _ in range(draw(st.integers(0, 3)))
    ]
    return MemeFile(
        alphabet, tuple(motifs), draw(st.none() | st.just(shares(1)[0])), draw(st.sampled_from(["", "+", "+ -"]))
    )


def written(content):
    file = io.StringIO()
    write_meme(file, content)
    return file.getvalue()


@given(files())
def test_files_read_back_as_they_were(content):
    found = read_meme(io.StringIO(written(content)))
    assert found == content
    assert [motif.nsites for motif in found.motifs] == [motif.nsites for motif in content.motifs]


def test_what_a_file_says():
    content = read_meme(io.StringIO(TEXT))
    first, second = content.motifs
    assert (content.alphabet, content.strands, content.background.tolist()) == ("ACGT", "+ -", [0.3, 0.2, 0.2, 0.3])
    assert (first.name, first.alternate, first.nsites, first.evalue, first.url) == (
        "crp",
        "other",
        17,
        4.1e-9,
        "somewhere",
    )
    assert first.probabilities.tolist() == [[0, 0.25, 0, 0.75], [1, 0, 0, 0]]
    assert (second.name, second.alternate, second.nsites, second.evalue, second.url) == ("second", "", None, None, "")
    assert content["second"] is second
    with pytest.raises(KeyError, match="there is no motif 'third'; the file has crp, second"):
        content["third"]
    assert first != second
    assert first == MemeMotif("crp", first.probabilities, "other", 17, 4.1e-9, "somewhere")
    assert hash(content) == hash(read_meme(io.StringIO(TEXT)))


def test_biopython_reads_what_is_written():
    background = np.array([0.3, 0.2, 0.2, 0.3])
    motif = MemeMotif("ATG", np.array([[0.9, 0.1, 0, 0], [0, 0, 0.5, 0.5], [0.25] * 4]), nsites=20)
    text = written(MemeFile("ACGT", (motif,), background, "+ -"))
    (found,) = biopython.parse(io.StringIO(text), "minimal")
    assert (found.name, found.length, found.num_occurrences) == ("ATG", 3, 20)
    assert found.background == pytest.approx(dict(zip("ACGT", background, strict=True)))
    assert [found.pwm[letter][0] for letter in "ACGT"] == pytest.approx([0.9, 0.1, 0, 0])


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("MEME version 4", "MEEM version 4", r"line 1: found 'MEEM version 4'; expected 'MEME version 4'"),
        ("MEME version 4", "MEME version 3", r"line 1: found the version 3; expected 4 or 5"),
        ("ALPHABET= ACGT", "ALPHABET= TGCA", r"line 3: the alphabet is 'TGCA'; expected sorted letters"),
        ("ALPHABET= ACGT", 'ALPHABET "DNA" DNA-LIKE', r"line 3: found the definition of an alphabet"),
        ("ALPHABET= ACGT", "", r"line 7: found the background before the alphabet"),
        ("strands: + -", "strands: -", r"line 5: the strands are '-'; expected"),
        ("A 0.3 C 0.2", "C 0.3 A 0.2", r"line 9: the background has the letters C A G T; expected A C G T"),
        ("A 0.3 C 0.2", "A 0.3 C x", r"line 9: the background is '0.3 x 0.2 0.3'; expected numbers"),
        ("MOTIF crp other", "MOTIF", r"line 11: found 'MOTIF'; expected 'MOTIF name'"),
        ("MOTIF crp other", "MOTIV crp", r"line 11: found 'MOTIV crp'; expected a motif"),
        ("MOTIF second\n", "", r"line 21: found a letter-probability matrix; expected a line 'MOTIF name'"),
        ("alength= 4 w= 2 nsites", "alength= 5 w= 2 nsites", r"line 12: alength is 5; expected 4"),
        ("alength= 4 w= 2 nsites", "alength= 4 nsites", r"line 12: found .*; expected the number of positions"),
        ("nsites= 17", "nsites= many", r"line 12: nsites is 'many'; expected numbers"),
        (" 1.0  0.0   0.0  0.0", "", r"line 16: motif 'crp', position 1: found 'URL somewhere'; expected 4"),
        (" 1.0  0.0   0.0  0.0", "1 1 0 0", r"line 14: motif 'crp': the probabilities of position 1 sum to 2"),
        (" 1.0  0.0   0.0  0.0", "2 -1 0 0", r"line 14: motif 'crp' has a number that is not a probability"),
        (" 0.333 0.333 0.333 0\n", "", r"line 22: motif 'second', position 0: found ''; expected 4 probabilities"),
    ],
)
def test_malformed_files_are_named_with_the_line(old, new, message, tmp_path):
    path = tmp_path / "bad.meme"
    assert old in TEXT
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(ValueError, match=r"bad\.meme, " + message):
        read_meme(path)


@pytest.mark.parametrize(
    ("text", "message"), [("", "which is empty: found ''"), ("MEME version 4\n", "without a line such as")]
)
def test_files_without_an_alphabet(text, message):
    with pytest.raises(ValueError, match=message):
        read_meme(io.StringIO(text))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MemeMotif("two words", UNIFORM), "the name of a motif is 'two words'"),
        (lambda: MemeMotif("", UNIFORM), "a motif has no name"),
        (lambda: MemeMotif("a", UNIFORM, url="x y"), "the url of a motif is 'x y'"),
        (lambda: MemeMotif("a", UNIFORM[0]), r"has probabilities of shape \(4,\); expected \(length, letters\)"),
        (lambda: MemeMotif("a", 2 * UNIFORM), "the probabilities of position 0 sum to 2; expected 1"),
        (lambda: MemeMotif("a", np.full((1, 4), np.nan)), "not a probability"),
        (lambda: MemeMotif("a", UNIFORM, nsites=-1), "has the nsites -1; expected a number >= 0"),
        (lambda: MemeFile("TGCA", ()), "expected them sorted"),
        (lambda: MemeFile("AACG", ()), "each of them once"),
        (
            lambda: MemeFile("ACG", (MemeMotif("a", UNIFORM),)),
            "motif 'a' has 4 columns; expected 3, one for each of ACG",
        ),
        (lambda: MemeFile("ACGT", (UNIFORM,)), "found ndarray; expected a MemeMotif"),
        (lambda: MemeFile("ACGT", (), np.ones(3)), "expected a frequency for each of ACGT"),
        (lambda: MemeFile("ACGT", (), np.ones(4)), "the background frequencies sum to 4; expected 1"),
        (lambda: MemeFile("ACGT", (), None, "-"), "strands is '-'; expected"),
        (lambda: write_meme(io.StringIO(), UNIFORM), "got ndarray; expected a MemeFile"),
    ],
)
def test_what_are_no_motifs(make, message):
    with pytest.raises(ValueError, match=message):
        make()
