"""Gap features: the tables that compiled functions read against what is written out for every gap."""

import numpy as np
import pytest
from structures.alignment.compiled import alignment_twin as twin

from maxmargin.structures.alignment.columns import Columns
from maxmargin.tasks import Alignment, Column, Gaps, Product

X = ({"residue": "ABA", "ss": "HEE"}, {"residue": "BA", "ss": "EH"})
ALPHABET = {"residue": "AB", "ss": "EH"}
GAPS = {
    "affine": Gaps(),
    "linear": Gaps("linear"),
    "skipped": Gaps("affine", skipped="residue"),
    "beside": Gaps("affine", beside="ss"),
    "both": Gaps("affine", Product("residue", "ss"), "residue"),
    "linear both": Gaps("linear", skipped="ss", beside=Column("residue", 1)),
}


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("name", GAPS)
def test_weights_by_name_are_what_every_gap_scores(name, symmetric):
    """Of every alignment, from the weights' names alone."""
    gaps = GAPS[name]
    for mode in ("global", "overlap", "local"):
        task = Alignment(mode=mode, gaps=gaps, symmetric=symmetric, features=lambda x: np.ones((3, 2, 1)))
        task.setup([X])
        w = np.random.default_rng(0).integers(-4, 5, task.dim).astype(float)
        weights = task.named_weights(w)
        for z in task.outputs(X):
            indices, values = task.psi(X, z)
            pairs = [tuple(pair) for pair in z.pairs.tolist()]
            expected = weights["<lambda>"][0] * len(pairs)
            for sequence, residues, place in twin.gaps(3, 2, mode, pairs):
                for t, residue in enumerate(residues):
                    expected += written_out(gaps, weights, sequence, residue, place, t, symmetric)
            assert float(w[indices] @ values) == expected


def written_out(gaps, weights, sequence, residue, place, t, symmetric):
    kind = "gap" if gaps.kind == "linear" else ("open", "extend")[min(t, 1)]
    names = (kind,) if symmetric else (("first", "second")[sequence], kind)
    total = weights["gaps"][names if len(names) > 1 else kind]
    own, other = X[sequence], X[1 - sequence]
    if gaps.skipped is not None:
        total += looked_up(gaps.skipped, own, residue, weights[f"gaps, skipped {gaps.skipped}"], names)
    if gaps.beside is not None:
        for position in (place - 1, place):
            total += looked_up(gaps.beside, other, position, weights[f"gaps, beside {gaps.beside}"], names)
    return total


def looked_up(view, side, position, weights, names):
    if not 0 <= position < len(side["residue"]):
        return 0.0
    columns = view.parts if isinstance(view, Product) else [view]
    letters = []
    for column in columns:
        if position + column.offset >= len(side["residue"]):
            return 0.0
        letters.append(side[column.name][position + column.offset])
    return weights[(*names, tuple(letters) if isinstance(view, Product) else letters[0])]


def test_sizes():
    columns = Columns(ALPHABET).fit([X])
    sizes = {}
    for name, gaps in GAPS.items():
        for symmetric in (True, False):
            gaps.fit(columns, symmetric)
            sizes[name, symmetric] = gaps.size
    assert sizes["affine", True] == 2
    assert sizes["linear", True] == 1
    assert sizes["affine", False] == 4
    assert sizes["both", True] == 2 * (1 + 4 + 2)
    assert sizes["linear both", False] == 2 * (1 + 2 + 2)


def test_bad_gaps_are_named():
    with pytest.raises(ValueError, match=r"gaps must be one of 'affine', 'linear' or Gaps\(...\), got 'convex'"):
        Gaps("convex")
    with pytest.raises(ValueError, match="gaps must be one of 'affine', 'linear'"):
        Alignment(gaps=3).setup([X])
    with pytest.raises(ValueError, match="there is no column 'acc'"):
        Alignment(gaps=Gaps(skipped="acc")).setup([X])
    assert repr(Gaps("linear", beside="ss")) == "Gaps('linear', beside=Column(name='ss', offset=0))"
