"""Parse trees in brackets. Function tags and traces of treebanks are left out, as usual in parsing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from maxmargin.command.errors import UsageError
from maxmargin.command.files.base import FileExamples, opened, some_at_a_time
from maxmargin.inputs.readers.text_file import TextLines, reading
from maxmargin.structures.parsing.brackets import iterate_trees, trees_in
from maxmargin.structures.parsing.parseval import parseval
from maxmargin.structures.parsing.trees import Tree

AT_ONCE = 50  # sentences: parsing takes long


def read(sources: list[str], estimator: Any, settings: Any, like: FileExamples | None = None) -> FileExamples:
    """Trees, and the sentences below them."""
    cleaned = (tree.cleaned() for name in sources for tree in iterate_trees(opened(name)))
    trees = [tree for tree in cleaned if tree is not None]
    if not trees:
        raise ValueError(f"there is no tree in {', '.join(sources)}")
    return FileExamples([_sentence(tree, estimator) for tree in trees], trees)


def predicted(model: Any, source: str, settings: Any) -> Iterator[tuple[str, Any]]:
    """A tree for every line: a sentence (word/TAG or, of models of words, words), or a tree, whose words are parsed."""
    with reading(opened(source)) as lines:
        for some in some_at_a_time(_sentences(lines, model), AT_ONCE):
            for tree in model.predict(some):
                yield f"{tree}\n", str(tree)


def measures(model: Any, examples: FileExamples) -> dict[str, float]:
    """Labelled brackets, as EVALB counts them."""
    score = parseval(examples.Y, model.predict(examples.X))
    return {"precision": score.precision, "recall": score.recall, "F1": score.f1}


def _sentence(tree: Tree, estimator: Any) -> Any:
    if estimator.inputs == "features":
        raise UsageError("inputs='features' is for Python: files have words and tags")
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
                    raise lines.error(f"{'/'.join(token)!r} is no word with its tag; expected word/TAG, or a tree")
            yield tokens
