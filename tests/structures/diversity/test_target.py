"""The target of a query; test_task.py proves that it covers as much as any set."""

from maxmargin.structures.diversity.documents import read
from maxmargin.structures.diversity.subtopics import Subtopics
from maxmargin.structures.diversity.target import target
from maxmargin.structures.diversity.word_coverage import Level, WordCoverage


def test_target_prefers_important_words_and_fills_with_documents_on_a_subtopic():
    """Document 3 has as good a subtopic as 1, and words that more documents share."""
    x = ["off topic here", "one", "two shared", "one shared words", "shared words", "nothing at all"]
    y = [set(), {"a"}, {"b"}, {"a"}, {"b"}, set()]
    counts = read(x)
    coverage = WordCoverage(counts, [Level()], (0.0,))
    assert target(coverage, Subtopics(y), 2) == [3, 2]  # after "shared", document 4 has nothing new
    assert target(coverage, Subtopics(y), 5) == [3, 2, 1, 4, 0]
