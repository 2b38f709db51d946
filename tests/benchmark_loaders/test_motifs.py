import lzma

import pytest

from benchmarks.loaders import DataNotFound, load_crp_sites, load_yeast_ars
from benchmarks.loaders.motifs import CRP_SITE, BoundSequence, Origin
from maxmargin.formats import SequenceRecord

COMPLEMENTS = str.maketrans("ACGT", "TGCA")


def test_origins_with_their_sites(folder):
    (folder / "yeast-ars").mkdir()
    with lzma.open(folder / "yeast-ars" / "derived_ars_windows.tsv.xz", "wt") as file:
        file.write("name\talias\tchrom\tars_start\tars_end\twin_start\twin_end\tn_acs\tacs\tsequence\n")
        file.write("ARS1\tx\tchrI\t107\t110\t7\t16\t2\t2:3:+;5:4:-\tACGTACGTAC\n")
        file.write("ARS2\t\tchrII\t107\t110\t9\t12\t0\t\tACGT\n")
    with lzma.open(folder / "yeast-ars" / "derived_intergenic_noARS.fa.xz", "wt") as file:
        file.write(">chrI:1-4\nACGT\n")
    origins, background = load_yeast_ars()
    assert origins == [
        Origin("ARS1", "chrI", 7, "ACGTACGTAC", [(2, 3, 1), (5, 4, -1)]),
        Origin("ARS2", "chrII", 9, "ACGT", []),
    ]
    assert background == [SequenceRecord("chrI:1-4", "", "ACGT")]


def test_sites_are_counted_from_0(folder):
    (folder / "motif-meme").mkdir()
    (folder / "motif-meme" / "crp0.s").write_text(">a 17 61\nACGT\n>b 1\nGG\n")
    assert load_crp_sites() == [BoundSequence("a", "ACGT", [16, 60]), BoundSequence("b", "GG", [0])]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("load", [load_yeast_ars, load_crp_sites])
def test_missing_data_are_named(load):
    with pytest.raises(DataNotFound, match="was not found"):
        load()


@pytest.mark.data
def test_yeast_ars():
    origins, background = load_yeast_ars()
    assert len(origins) == 352
    assert (len(background), sum(len(record.sequence) for record in background)) == (6009, 2691634)
    assert sum(len(origin.sites) for origin in origins) == 196
    assert sum(bool(origin.sites) for origin in origins) == 191
    assert set("".join(origin.sequence for origin in origins)) == set("ACGT")
    agreeing = 0
    for origin in origins:
        for offset, length, strand in origin.sites:
            site = origin.sequence[offset : offset + length]
            assert len(site) == length
            read = site if strand > 0 else site[::-1].translate(COMPLEMENTS)
            agreeing += _least_mismatches(read, "WTTTAYRTTTW") <= 2
    assert agreeing == 149  # the right strands: on the other ones far fewer would agree


@pytest.mark.data
def test_crp_sites():
    sequences = load_crp_sites()
    assert len(sequences) == 18
    assert {len(each.sequence) for each in sequences} == {105}
    assert sum(len(each.starts) for each in sequences) == 24
    assert all(0 <= start <= 105 - CRP_SITE for each in sequences for start in each.starts)


def _least_mismatches(text, pattern):
    allowed = {"W": "AT", "Y": "CT", "R": "AG"}
    starts = range(len(text) - len(pattern) + 1)
    return min(sum(text[h + j] not in allowed.get(c, c) for j, c in enumerate(pattern)) for h in starts)
