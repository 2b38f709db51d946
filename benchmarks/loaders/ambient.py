"""Ambiguous queries: search results with the meanings of the query that they are about."""

from __future__ import annotations

import lzma
from typing import NamedTuple

from benchmarks.loaders.folder import data_file


class SearchResult(NamedTuple):
    """What a search engine shows of a page; the snippet may be empty."""

    url: str
    title: str
    snippet: str


class AmbiguousQuery(NamedTuple):
    """A query with its results in the order of the search engine, and the subtopics of each of them."""

    query: str
    results: list[SearchResult]
    subtopics: list[set[str]]  # descriptions; empty where the result is about none of them


def load_ambient() -> list[AmbiguousQuery]:
    """AMBIENT: 44 ambiguous queries with 100 results each, and which of 790 subtopics these are about.

    349 subtopics have a result; 2224 of the 4400 results have a subtopic, 31 of them more than one (Carpineto and
    Romano 2008: Wikipedia's disambiguation pages, results of January 2008).
    """
    topics = [row[1] for row in _rows("topics.txt")]
    descriptions = {row[0]: row[1] for row in _rows("subTopics.txt")}
    queries = [AmbiguousQuery(topic, [], []) for topic in topics]
    for number, url, title, snippet in _rows("results.txt.xz"):
        topic, rank = map(int, number.split("."))
        own = queries[topic - 1]
        if rank != len(own.results) + 1:
            raise ValueError(f"result {number} follows result {topic}.{len(own.results)}; expected them in order")
        own.results.append(SearchResult(url, title, snippet))
        own.subtopics.append(set())
    for subtopic, number in _rows("STRel.txt"):
        topic, rank = map(int, number.split("."))
        queries[topic - 1].subtopics[rank - 1].add(descriptions[subtopic])
    return queries


def _rows(file: str) -> list[list[str]]:
    path = data_file("ambient", file)
    content = path.read_bytes()
    text = (lzma.decompress(content) if path.suffix == ".xz" else content).decode("utf-8")
    # not splitlines: snippets may contain other characters that end a line
    return [line.rstrip("\r").split("\t") for line in text.split("\n")[1:] if line.strip()]
