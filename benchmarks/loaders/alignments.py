"""Proteins that were aligned by their structures, and substitution matrices to compare with."""

from __future__ import annotations

import io
import lzma
import tarfile
from collections.abc import Iterator
from typing import NamedTuple, TextIO

import numpy as np

from benchmarks.loaders.folder import check_choice, data_file, data_folder
from maxmargin.structures.alignment.alignments import PairwiseAlignment
from maxmargin.structures.alignment.formats.fasta import SequenceRecord, read_aligned_fasta, read_fasta
from maxmargin.structures.alignment.formats.multiple import MultipleAlignment
from maxmargin.structures.alignment.formats.ncbi import SubstitutionMatrix, read_matrix


class Pair(NamedTuple):
    """Two proteins and their true alignment, in which the pairs that structures speak for clearly are trusted."""

    name: str
    a: str
    b: str
    alignment: PairwiseAlignment
    proteins: tuple[str, str]  # the names of a and b: PDB entry and chain


def load_prefab4() -> list[Pair]:
    """PREFAB 4: 1681 pairs of proteins, aligned by their structures; sorted by name.

    305,511 residue pairs are trusted, those in the upper-case columns of the reference; the mean identity in them is
    26.1 % (Edgar, "MUSCLE: multiple sequence alignment with high accuracy and high throughput", Nucleic Acids Research
    2004). Many pairs share proteins: `prefab4_split` keeps related ones together.
    """
    pairs = []
    for name, alignment in load_protein_alignments("prefab4").items():
        first, second = alignment.names
        pairs.append(Pair(name, *alignment.pair(0, 1), (first, second)))
    return pairs


def load_prefab4_homologs() -> list[dict[str, list[SequenceRecord]]]:
    """For every pair of `load_prefab4` the homologs of its proteins, {protein: records}, not aligned.

    72,596 sequences that PSI-BLAST found, 24 for most proteins and never more. A record is named by its identifier,
    such as "gi|28210498"; its description is its number in the search.
    """
    found = {}
    for name, file in _members("prefab4-in.tar.xz", "in"):
        records = read_fasta(file)
        homologs: dict[str, list[SequenceRecord]] = {record.name: [] for record in records if "|" not in record.name}
        for record in records:
            if "|" in record.name:
                number, protein, identifier = record.name.split("|", 2)  # such as 25|12asA|gi|28210498
                homologs[protein].append(SequenceRecord(identifier, number, record.sequence))
        found[name] = homologs
    return [found[name] for name in sorted(found)]


def load_protein_alignments(name: str) -> dict[str, MultipleAlignment]:
    """Reference alignments of proteins by their names, sorted; lower-case columns are not trusted.

    "prefab4" (1681 pairs), "ox" (OXBench, 395 alignments; Raghava, Searle, Audley, Barber and Barton, "OXBench", BMC
    Bioinformatics 2003), "sabre" (423 from SABmark; Van Walle, Lasters and Wyns, "SABmark", Bioinformatics 2005) and
    "bali3" (BAliBASE 3, 386; Thompson, Koehl, Ripp and Poch, "BAliBASE 3.0", Proteins 2005), all in Edgar's edition.
    """
    check_choice("name", name, "prefab4", "ox", "sabre", "bali3")
    found = {
        key: read_aligned_fasta(file, lowercase="untrusted") for key, file in _members(f"{name}-ref.tar.xz", "ref")
    }
    return dict(sorted(found.items()))


def load_tmalign(split: str, minimum: float = 0.5) -> list[Pair]:
    """Pairs of PDB entries, aligned by TM-align, whose larger TM-score is `minimum` or more.

    1000 pairs in "validation" and 1000 in "test", 393 and 355 of them from 0.5 on; those below it mostly have different
    folds (Hamamsy et al., "Protein remote homology detection and structural alignment using deep learning", Nature
    Biotechnology 2024). Residues that are near in space are trusted, those that are aligned but far apart are not.
    """
    check_choice("split", split, "validation", "test")
    file = {"validation": "valid.txt.xz", "test": "test.txt.xz"}[split]
    pairs = []
    with lzma.open(data_file("deepblast-tmalign", file), "rt") as lines:
        for line in lines:
            first, second, score_a, score_b, _, a, b, states = line.rstrip("\n").split("\t")
            if max(float(score_a), float(score_b)) < minimum:
                continue
            one, two = (path.rsplit("/", 1)[-1].removeprefix("pdb").removesuffix(".ent") for path in (first, second))
            pairs.append(Pair(f"{one}_{two}", a, b, _of_states(states, (len(a), len(b))), (one, two)))
    return pairs


def load_substitution_matrix(name: str) -> SubstitutionMatrix:
    """One of 30 published substitution matrices, such as "BLOSUM62", "PAM250", "GONNET1992" or "STR"."""
    folder = data_folder("substitution-matrices") / "data"
    check_choice("name", name, *sorted(path.name for path in folder.iterdir()))
    return read_matrix(folder / name)


def _of_states(states: str, lengths: tuple[int, int]) -> PairwiseAlignment:
    """ ":" is a pair that is near in space and "." one that is not; "1" and "2" skip a residue of one protein."""
    each = np.array(list(states))
    paired = np.isin(each, [":", "."])
    first, second = (np.cumsum(paired | (each == skip)) - 1 for skip in "12")
    return PairwiseAlignment(np.column_stack([first, second])[paired], lengths, each[paired] == ":")


def _members(archive: str, folder: str) -> Iterator[tuple[str, TextIO]]:
    """Names and texts of the files in a folder of an archive, which is not unpacked."""
    with tarfile.open(data_file("protein-bench1.0", archive), "r:xz") as members:
        for member in members:
            *_, parent, name = ("", *member.name.split("/"))
            if member.isfile() and parent == folder:
                file = members.extractfile(member)
                assert file is not None  # isfile() above
                yield name, _Member(file.read().decode(), f"{archive}/{name}")


class _Member(io.StringIO):
    """A text with the name that messages call it by."""

    def __init__(self, text: str, name: str):
        super().__init__(text)
        self.name = name
