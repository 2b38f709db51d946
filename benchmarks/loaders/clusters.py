"""Sets of items in known clusters: which papers under one name were written by the same person."""

from __future__ import annotations

import lzma
import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.loaders.folder import data_file
from maxmargin.structures.clustering.pairs import Pairs


class Paper(NamedTuple):
    """What a bibliography knows of a paper; empty where it does not know."""

    identifier: str
    title: str
    year: int
    venue: str
    authors: tuple[str, ...]
    organization: str


class AmbiguousName(NamedTuple):
    """The papers under one name, and for each of them the number of the person who wrote it."""

    name: str
    papers: list[Paper]
    labels: list[int]


def load_aminer() -> list[AmbiguousName]:
    """AMiner's name disambiguation: 109 names with 7528 papers by 1546 persons, in the order of the file.

    4 to 484 papers a name, 1 to 112 persons (Tang, Fong, Wang and Zhang, "A unified probabilistic framework for name
    disambiguation in digital library", IEEE TKDE 2012). 55 of 100 papers have no organization, 5 no venue.
    """
    found: dict[str, AmbiguousName] = {}
    with lzma.open(data_file("aminer_and", "papers.tsv.xz"), "rt", encoding="utf-8") as lines:
        next(lines)  # the names of the columns
        for line in lines:
            name, identifier, label, year, venue, authors, title, organization = (
                "" if field == "null" else field for field in line.rstrip("\n").split("\t")
            )
            each = found.setdefault(name, AmbiguousName(name, [], []))
            people = tuple(author.strip() for author in authors.split(",") if author.strip())
            each.papers.append(Paper(identifier, title, int(year), venue, people, organization))
            each.labels.append(int(label))
    return list(found.values())


PAPER_FEATURES = (
    "shared co-author",
    "shared co-authors",
    "rarity of shared co-authors",
    "co-author similarity",
    "no co-author",
    "linked co-authors",
    "title similarity",
    "rarity of shared title words",
    "same venue",
    "rarity of the same venue",
    "venue similarity",
    "no venue",
    "same year",
    "years apart",
    "more than 10 years apart",
    "organization similarity",
    "same organization",
    "no organization",
)


def paper_pairs(names: Sequence[AmbiguousName]) -> list[Pairs]:
    """All pairs of papers under each name, with the features of PAPER_FEATURES, most of them between 0 and 1.

    Co-authors are all authors but the ambiguous name itself. Rarity is Σ log(N / df) over what is shared, divided by
    log N, where df of the N papers given here have it (labels are not looked at); similarities are cosines of vectors
    with the same weights. "No" says that one of the two papers has nothing to compare. "Linked co-authors" is
    log(1 + the number of pairs of different co-authors, one of each paper, who have written a paper of this name
    together). Years apart are in tens; co-authors shared are log2(1 + their number).
    """
    ambiguous = [_letters(each.name) for each in names]
    co_authors = _Bags(
        [[a for a in map(_letters, paper.authors) if a != own] for paper in each.papers]
        for each, own in zip(names, ambiguous, strict=True)
    )
    titles = _Bags([_words(paper.title) for paper in each.papers] for each in names)
    venues = _Bags([_words(paper.venue) for paper in each.papers] for each in names)
    whole_venues = _Bags([[_letters(paper.venue)] if paper.venue else [] for paper in each.papers] for each in names)
    organizations = _Bags([_words(paper.organization) for paper in each.papers] for each in names)
    return [
        _pairs(each, *(bags.of(g) for bags in (co_authors, titles, venues, whole_venues, organizations)))
        for g, each in enumerate(names)
    ]


class _Bag(NamedTuple):
    """Which terms each paper of a name has, and the rarity of the terms."""

    terms: sparse.csr_array
    rarity: np.ndarray

    def shared(self, of_term: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """(n, n) Σ of_term(rarity) over shared terms."""
        return np.asarray(((self.terms * of_term(self.rarity)) @ self.terms.T).toarray())

    def similarity(self) -> np.ndarray:
        """(n, n) cosines."""
        weighted = self.shared(np.square)
        lengths = np.sqrt(np.diagonal(weighted))
        return np.divide(weighted, np.outer(lengths, lengths), out=np.zeros_like(weighted), where=weighted > 0)

    def lacking(self) -> np.ndarray:
        """(n, n) 1 where one of the two has no terms."""
        empty = np.diff(self.terms.indptr) == 0
        return np.logical_or.outer(empty, empty).astype(float)


class _Bags:
    """The terms of all papers of all names."""

    def __init__(self, of_names: Iterable[list[list[str]]]):
        numbers: dict[str, int] = {}
        self.terms = [
            [sorted({numbers.setdefault(term, len(numbers)) for term in paper}) for paper in papers]
            for papers in of_names
        ]
        counts = np.bincount([t for papers in self.terms for paper in papers for t in paper], minlength=len(numbers))
        n_papers = max(2, sum(map(len, self.terms)))
        self.rarity = np.log(n_papers / np.maximum(counts, 1)) / np.log(n_papers)

    def of(self, g: int) -> _Bag:
        papers = self.terms[g]
        ends = np.append(0, np.cumsum(list(map(len, papers))))
        flat = np.array([t for paper in papers for t in paper], dtype=np.int64)
        own, places = np.unique(flat, return_inverse=True)
        matrix = sparse.csr_array((np.ones(len(flat)), places, ends), shape=(len(papers), len(own)))
        return _Bag(matrix, self.rarity[own])


def _pairs(
    each: AmbiguousName, co_authors: _Bag, titles: _Bag, venues: _Bag, whole_venues: _Bag, organizations: _Bag
) -> Pairs:
    n = len(each.papers)
    common = co_authors.shared(np.ones_like)
    together = (co_authors.terms.T @ co_authors.terms > 0).astype(float).tolil()
    together.setdiag(0)
    linked = np.asarray((co_authors.terms @ together.tocsr() @ co_authors.terms.T).toarray())
    same_venue = whole_venues.shared(np.ones_like)
    years = np.array([paper.year for paper in each.papers], dtype=float)
    apart = np.abs(np.subtract.outer(years, years))
    names = [_letters(paper.organization) for paper in each.papers]
    same_organization = np.array([[bool(a) and a == b for b in names] for a in names], dtype=float)
    columns = [
        common > 0,
        np.log2(1 + common),
        co_authors.shared(lambda rarity: rarity),
        co_authors.similarity(),
        co_authors.lacking(),
        np.log1p(linked),
        titles.similarity(),
        titles.shared(lambda rarity: rarity),
        same_venue,
        whole_venues.shared(lambda rarity: rarity),
        venues.similarity(),
        whole_venues.lacking(),
        apart == 0,
        apart / 10,
        apart > 10,
        organizations.similarity(),
        same_organization,
        organizations.lacking(),
    ]
    upper = np.triu_indices(n, 1)
    return Pairs(n, np.column_stack(upper), np.column_stack([np.asarray(column)[upper] for column in columns]))


# Words that say little of a paper, a conference or a department.
_COMMON = frozenset(
    ["a", "an", "and", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "using", "via", "with"]
)


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"[^\W_]+", text.lower()) if word not in _COMMON and len(word) > 1]


def _letters(text: str) -> str:
    """A name without the differences of spelling that mean nothing: case, dots and spaces."""
    return "".join(re.findall(r"[^\W_]+", text.lower()))
