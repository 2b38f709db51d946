import io

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from structures.motifs.compiled import motif_twin as twin
from structures.motifs.planted import COMPLEMENTS, MOTIF, OPTIONS, finder, planted

from maxmargin import MotifFinder
from maxmargin.formats import read_meme

X, Y, _ = planted()
LENGTH = len(MOTIF)


def test_the_motif_as_frequencies():
    counts = finder().counts_
    assert counts.shape == (LENGTH, 4)
    assert (counts.sum(axis=1) == len(finder().sites_)).all()
    for j in range(LENGTH):
        for k, letter in enumerate("ACGT"):
            assert counts[j, k] == sum(site.text[j] == letter for site in finder().sites_)
    assert finder().frequencies_.sum(axis=1) == pytest.approx(np.ones(LENGTH))
    assert ((finder().information_ >= -1e-12) & (finder().information_ <= 2)).all()
    assert finder().information_.sum() > 10
    consensus = finder().consensus_
    assert len(consensus) == LENGTH
    assert any(MOTIF[2:-2] in each for each in (consensus, consensus[::-1].translate(COMPLEMENTS)))
    assert finder().background_frequencies_.sum() == pytest.approx(1)


@pytest.mark.parametrize("order", [None, 0, 2])
def test_pssm_is_what_windows_gain(order):
    """Exactly for order 0, where letters have no contexts, and without a background; else nearly."""
    model = MotifFinder(**{**OPTIONS, "background_order": order, "strands": 1}).fit(X, Y)
    pssm = model.pssm_
    sums = [sum(pssm[j, "ACGT".index(a)] for j, a in enumerate(site.text)) for site in model.find_sites(X)]
    scores = [site.score for site in model.find_sites(X)]
    if order == 2:
        assert np.corrcoef(sums, scores)[0, 1] > 0.9
    else:
        assert sums == pytest.approx(scores)


def test_meme_files():
    file = io.StringIO()
    finder().write_meme(file)
    content = read_meme(io.StringIO(file.getvalue()))
    assert content == finder().to_meme()
    (motif,) = content.motifs
    assert (motif.name, motif.nsites) == (finder().consensus_, len(finder().sites_))
    assert np.array_equal(motif.probabilities, finder().frequencies_)
    assert (content.alphabet, content.strands) == ("ACGT", "+ -")
    reordered = MotifFinder(**{**OPTIONS, "alphabet": "TGCA"}).fit(X, Y).to_meme("mine")
    assert (reordered.alphabet, reordered.motifs[0].name) == ("ACGT", "mine")
    assert reordered.background == pytest.approx(finder().background_frequencies_)
    seeded = MotifFinder(**OPTIONS, start=motif.probabilities).fit(X, Y)
    assert seeded.score(X, Y) > 0.9


def test_before_training_there_is_no_motif_to_describe():
    for name in ("alphabet_", "pssm_", "counts_", "frequencies_", "information_", "consensus_", "weights_"):
        with pytest.raises(NotFittedError):
            getattr(MotifFinder(), name)
    with pytest.raises(NotFittedError):
        MotifFinder().to_meme()


@pytest.mark.parametrize(("order", "alphabet"), [(None, "ACGT"), (0, "ACGT"), (2, "TGCA")])
def test_every_weight_has_a_name(order, alphabet):
    model = MotifFinder(**{**OPTIONS, "background_order": order, "alphabet": alphabet, "restarts": 1}).fit(X, Y)
    assert model.alphabet_ == alphabet
    arrays = model.weights_
    assert list(arrays) == (["motif"] if order is None else ["motif", "background"])
    assert sum(array.values.size for array in arrays.values()) == len(model.w_)
    for j in range(LENGTH):
        for letter in alphabet:
            assert arrays["motif"][j, letter] == model.w_[twin.coordinate(("motif", j, letter), LENGTH, alphabet)]
    contexts = [""] if order == 0 else ["", "A", "TG", "CC"] if order == 2 else []
    for context in contexts:
        for letter in alphabet:
            number = twin.coordinate(("background", context, letter), LENGTH, alphabet)
            assert arrays["background"][context, letter] == model.w_[number]


def test_the_largest_weights():
    (best, *others) = finder().top_weights(n=5)
    motif = finder().weights_["motif"]
    j, k = np.unravel_index(np.argmax(np.abs(motif.values)), motif.shape)
    assert best.name == f"motif: position={j}, letter={'ACGT'[k]}"
    assert best.weight == motif[j, "ACGT"[k]]
    assert [abs(each.weight) for each in others] == sorted((abs(each.weight) for each in others), reverse=True)
    of_one_letter = finder().top_weights("G", n=100)
    assert len(of_one_letter) == sum(array.values[:, 2].astype(bool).sum() for array in finder().weights_.values())
    assert all(name.endswith("letter=G") for name, _ in of_one_letter)
