import io
import lzma
import tarfile

import numpy as np
import pytest
from Bio.Align import PairwiseAligner
from Bio.Align.substitution_matrices import Array

from benchmarks.loaders import (
    DataNotFound,
    load_prefab4,
    load_prefab4_homologs,
    load_protein_alignments,
    load_substitution_matrix,
    load_tmalign,
    prefab4_split,
)
from maxmargin.formats import SequenceRecord
from maxmargin.structures.alignment.alignments import PairwiseAlignment


def write_archive(path, files):
    path.parent.mkdir(exist_ok=True)
    with tarfile.open(path, "w:xz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content.encode()))


@pytest.fixture
def prefab(folder):
    """Two pairs that are not sorted, one of them with its proteins in the other order than its name has them."""
    references = {
        "bench1.0/prefab4/info/ids.txt": "2abc_1xyzB\n1abc_9xyz\n",
        "bench1.0/prefab4/ref/2abc_1xyzB": ">1xyzB\nmKV.L\n>2abc\n.KiwL\n",
        "bench1.0/prefab4/ref/1abc_9xyz": ">1abc\nMK\n>9xyz\nM.\n",
    }
    inputs = {
        "bench1.0/prefab4/in/2abc_1xyzB": ">2abc\nKIWL\n>3|2abc|gi|77\nKI\nWW\n>1xyzB\nMKVL\n>1|1xyzB|gi|5\nMK\n",
        "bench1.0/prefab4/in/1abc_9xyz": ">1abc\nMK\n>9xyz\nM\n>2|9xyz|gi|5|x\nMM\n",
    }
    write_archive(folder / "protein-bench1.0" / "prefab4-ref.tar.xz", references)
    write_archive(folder / "protein-bench1.0" / "prefab4-in.tar.xz", inputs)


@pytest.mark.usefixtures("prefab")
def test_prefab_pairs_trust_upper_case_columns():
    first, second = load_prefab4()
    assert (first.name, first.a, first.b, first.proteins) == ("1abc_9xyz", "MK", "M", ("1abc", "9xyz"))
    assert first.alignment == PairwiseAlignment([(0, 0)], (2, 1))
    assert (second.name, second.a, second.b) == ("2abc_1xyzB", "MKVL", "KIWL")
    assert second.proteins == ("1xyzB", "2abc")
    assert second.alignment == PairwiseAlignment([(1, 0), (2, 1), (3, 3)], (4, 4), np.array([True, False, True]))


@pytest.mark.usefixtures("prefab")
def test_prefab_homologs_belong_to_a_protein():
    first, second = load_prefab4_homologs()
    assert first == {"1abc": [], "9xyz": [SequenceRecord("gi|5|x", "2", "MM")]}
    assert second == {"2abc": [SequenceRecord("gi|77", "3", "KIWW")], "1xyzB": [SequenceRecord("gi|5", "1", "MK")]}


def test_reference_alignments_are_read_by_name(folder):
    path = folder / "protein-bench1.0" / "ox-ref.tar.xz"
    write_archive(path, {"bench1.0/ox/ref/12": ">a\nMk\n>b\nM.\n>c\nMk\n", "bench1.0/ox/info/12": "3\n"})
    found = load_protein_alignments("ox")
    assert list(found) == ["12"]
    assert found["12"].names == ("a", "b", "c")
    assert found["12"].pair("a", "c")[2].trusted.tolist() == [True, False]
    write_archive(path, {"bench1.0/ox/ref/13": ">a\nMk\n>b\nM\n"})
    with pytest.raises(ValueError, match="13, line 3: row 'b' has 1 columns; expected 2"):
        load_protein_alignments("ox")
    with pytest.raises(ValueError, match="name must be 'prefab4', 'ox', 'sabre' or 'bali3', not 'bali2'"):
        load_protein_alignments("bali2")


@pytest.mark.parametrize(("split", "file"), [("validation", "valid.txt.xz"), ("test", "test.txt.xz")])
def test_tmalign_states_are_pairs_and_skips(split, file, folder):
    rows = [
        ("/scratch/pdb1abc.ent", "/scratch/pdb2xyz.ent", "0.2", "0.6", "1.5", "MKVL", "KVW", "1:.21"),
        ("/scratch/pdb3abc.ent", "/scratch/pdb4xyz.ent", "0.4", "0.1", "1.5", "M", "K", "12"),
    ]
    (folder / "deepblast-tmalign").mkdir()
    text = "".join("\t".join(row) + "\n" for row in rows)
    (folder / "deepblast-tmalign" / file).write_bytes(lzma.compress(text.encode()))
    (pair,) = load_tmalign(split)
    assert (pair.name, pair.a, pair.b, pair.proteins) == ("1abc_2xyz", "MKVL", "KVW", ("1abc", "2xyz"))
    assert pair.alignment == PairwiseAlignment([(1, 0), (2, 1)], (4, 3), np.array([True, False]))
    assert [each.name for each in load_tmalign(split, minimum=0.4)] == ["1abc_2xyz", "3abc_4xyz"]
    assert len(load_tmalign(split, minimum=0.4)[1].alignment.pairs) == 0
    with pytest.raises(ValueError, match="split must be 'validation' or 'test', not 'train'"):
        load_tmalign("train")


def test_substitution_matrices_are_files(folder):
    (folder / "substitution-matrices" / "data").mkdir(parents=True)
    for name in ("ONE", "TWO"):
        (folder / "substitution-matrices" / "data" / name).write_text(f"# {name}\n  A C\nA 4 0\nC 0 9\n")
    matrix = load_substitution_matrix("TWO")
    assert matrix.comments == ("TWO",)
    assert matrix["C", "C"] == 9
    with pytest.raises(ValueError, match=r"name must be 'ONE' or 'TWO', not '\.\./ONE'"):
        load_substitution_matrix("../ONE")


@pytest.mark.parametrize(
    "load",
    [
        load_prefab4,
        load_prefab4_homologs,
        prefab4_split,
        lambda: load_protein_alignments("ox"),
        lambda: load_tmalign("test"),
        lambda: load_substitution_matrix("BLOSUM62"),
    ],
)
def test_missing_sets_are_named(load, folder):
    with pytest.raises(DataNotFound, match="does not contain it"):
        load()


@pytest.mark.data
def test_prefab4_has_its_published_counts():
    pairs, homologs = load_prefab4(), load_prefab4_homologs()
    assert len(pairs) == len(homologs) == 1681
    assert sum(int(pair.alignment.trusted.sum()) for pair in pairs) == 305_511
    assert all(set(found) == set(pair.proteins) for pair, found in zip(pairs, homologs, strict=True))
    counts = [len(records) for found in homologs for records in found.values()]
    assert sum(counts) + 2 * len(pairs) == 75_958
    assert (max(counts), np.median(counts)) == (24, 24)
    same = [
        np.mean([pair.a[i] == pair.b[j] for i, j in pair.alignment.pairs[pair.alignment.trusted]]) for pair in pairs
    ]
    assert np.mean(same) == pytest.approx(0.261, abs=0.0005)
    assert np.median(same) == pytest.approx(0.204, abs=0.0005)


@pytest.mark.data
@pytest.mark.parametrize(("name", "n", "n_rows"), [("ox", 395, 3292), ("sabre", 423, 2418), ("bali3", 386, 11082)])
def test_protein_alignments_have_their_published_counts(name, n, n_rows):
    found = load_protein_alignments(name)
    assert len(found) == n
    assert sum(map(len, found.values())) == n_rows


@pytest.mark.data
@pytest.mark.parametrize(("split", "n"), [("validation", 393), ("test", 355)])
def test_tmalign_has_its_published_counts(split, n):
    assert len(load_tmalign(split, minimum=0)) == 1000
    assert len(load_tmalign(split)) == n


@pytest.mark.data
def test_biopython_aligns_prefab4_as_published():
    """The usual matrix and gap costs, free ends: the baseline of all that is learnt from these pairs."""
    matrix = load_substitution_matrix("BLOSUM62")
    pairs = load_prefab4()
    quality = np.zeros(len(pairs))
    aligner = PairwiseAligner(mode="global", open_gap_score=-11, extend_gap_score=-1, end_gap_score=0)
    aligner.substitution_matrix = Array("".join(matrix.alphabet), 2, np.array(matrix.values))
    for i, pair in enumerate(pairs):
        best = aligner.align(pair.a, pair.b)[0].aligned
        found = [(p + k, q + k) for (p, end), (q, _) in zip(*best, strict=True) for k in range(end - p)]
        quality[i] = PairwiseAlignment(found, pair.alignment.lengths).agreement(pair.alignment)
    assert quality.mean() == pytest.approx(0.524, abs=0.0005)
    parts = [quality[part].mean() for part in prefab4_split()]
    assert parts == pytest.approx([0.5036, 0.5578, 0.5356], abs=0.0005)
