"""DNA with motifs whose places are known: yeast's origins of replication, and binding sites of CRP."""

from __future__ import annotations

import lzma
from typing import NamedTuple

from benchmarks.loaders.folder import data_file
from maxmargin.structures.alignment.formats.fasta import SequenceRecord, read_fasta

CRP_SITE = 22  # letters


class Origin(NamedTuple):
    """An origin of replication with 100 letters on both sides of it."""

    name: str
    chromosome: str
    start: int  # of the sequence in the chromosome, counted from 1
    sequence: str
    sites: list[tuple[int, int, int]]  # (offset from 0, length, strand 1 or -1) of each consensus sequence (ACS)


class Origins(NamedTuple):
    """Origins of replication, and what lies between genes elsewhere."""

    origins: list[Origin]
    background: list[SequenceRecord]  # named by their places, such as "chrI:802-1806"


class BoundSequence(NamedTuple):
    """A promoter with its known binding sites."""

    name: str
    sequence: str
    starts: list[int]  # of the sites, counted from 0; each has 22 letters


def load_yeast_ars() -> Origins:
    """Autonomously replicating sequences (ARS) of S. cerevisiae: 352 origins, in 191 of which 196 ACS are annotated.

    With 100 letters on both sides they are 251 to 1524 letters long. The background are 6009 intergenic sequences of 50
    letters or more without an ARS, 2.7 million letters. From the annotation of the genome (SGD), to do again what Yu
    and Joachims ("Learning structural SVMs with latent variables", ICML 2009) did with 124 positive and 75 negative
    sequences of their own.
    """
    origins = []
    with lzma.open(data_file("yeast-ars", "derived_ars_windows.tsv.xz"), "rt") as lines:
        next(lines)  # the names of the columns
        for line in lines:
            name, _, chromosome, _, _, start, _, _, sites, sequence = line.rstrip("\n").split("\t")
            origins.append(Origin(name, chromosome, int(start), sequence, [_site(s) for s in sites.split(";") if s]))
    return Origins(origins, read_fasta(data_file("yeast-ars", "derived_intergenic_noARS.fa.xz")))


def load_crp_sites() -> list[BoundSequence]:
    """18 promoters of E. coli, 105 letters each, with 24 known sites of the protein CRP, 22 letters each.

    Stormo and Hartzell ("Identifying protein-binding sites from unaligned DNA fragments", PNAS 1989) and many after
    them looked for the sites without knowing their places.
    """
    records = read_fasta(data_file("motif-meme", "crp0.s"))
    return [
        BoundSequence(record.name, record.sequence, [int(word) - 1 for word in record.description.split()])
        for record in records
    ]


def _site(text: str) -> tuple[int, int, int]:
    offset, length, strand = text.split(":")
    return int(offset), int(length), {"+": 1, "-": -1}[strand]
