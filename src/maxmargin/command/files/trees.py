"""Parse trees in brackets. Function tags and traces of treebanks are removed, as usual in parsing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import FileExamples, opened, some_at_a_time
from maxmargin.inputs.readers.text_file import TextLines, reading
from maxmargin.structures.parsing.brackets import iterate_trees, trees_in
from maxmargin.structures.parsing.parseval import parseval
from maxmargin.structures.parsing.trees import Tree

AT_ONCE = 50  # sentences at once, because parsing is slow


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Return sentences and their trees."""
    cleaned = (tree.cleaned() for name in sources for tree in iterate_trees(opened(name)))
    trees = [tree for tree in cleaned if tree is not None]
    if not trees:
        raise ValueError(f"there is no tree in {', '.join(sources)}")
    return FileExamples([_sentence(tree, estimator) for tree in trees], trees)


def predicted(model: Any, source: str, settings: Any) -> Iterator[tuple[str, Any]]:
    """Yield a tree for every line of a file.

    A line is a sentence (word/TAG or, for models of words, words), or a tree whose words are parsed.
    """
    with reading(opened(source)) as lines:
        for some in some_at_a_time(_sentences(lines, model), AT_ONCE):
            for tree in model.predict(some):
                yield f"{tree}\n", str(tree)


def measures(model: Any, examples: FileExamples) -> dict[str, float]:
    """Return labelled precision, recall and F1 as EVALB does."""
    score = parseval(examples.Y, model.predict(examples.X))
    return {"precision": score.precision, "recall": score.recall, "F1": score.f1}


def _sentence(tree: Tree, estimator: Any) -> Any:
    if estimator.inputs == "features":
        raise UsageError("inputs='features' is available in Python only, because files have words and tags")
    return tree.tokens() if estimator.inputs == "tags" else tree.words()


def _sentences(lines: TextLines, model: Any) -> Iterator[Any]:
    for line in lines:
        if line.lstrip().startswith("("):
            for tree in trees_in([line], lines.name, lines.number):
                kept = tree.cleaned()
                if kept is not None:
                    yield _sentence(kept, model)
        elif line.strip() and model.inputs == "words":
            yield line.split()
        elif line.strip():
            tokens = [tuple(token.rsplit("/", 1)) for token in line.split()]
            for token in tokens:
                if len(token) < 2 or not all(token):
                    raise lines.error(f"{'/'.join(token)!r} is not a word with its tag; expected word/TAG, or a tree")
            yield tokens
