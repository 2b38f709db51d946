"""Lexicon: the forms and tags of the training data, as codes that fit into the keys of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.files.fields import Texts, Whole
from maxmargin.base.files.objects import Derived, Fields
from maxmargin.inputs.labels.labels import in_order
from maxmargin.structures.dependencies.conllu_sentence import ConlluSentence

OUTSIDE, ROOT, UNKNOWN = "<outside>", "<root>", "<unknown>"  # codes 0, 1 and 2, of forms as of tags
SPECIAL = [OUTSIDE, ROOT, UNKNOWN]
MOST_FORMS, MOST_TAGS = 2**18, 2**9  # see compiled/arc_keys.py

Token = tuple[str, ...]  # form and tag, and perhaps a finer tag
Codes = NDArray[np.int64]


class Lexicon:
    """Codes of forms, in lower case, of tags, and of fine tags if words have them.

    Forms that occur less than `min_count` times in training share a code with unseen forms. Unseen tags share a code.
    """

    saved: ClassVar[Fields] = {
        "n_columns": Whole(2, 3),
        "forms": Texts(different=True),
        "tags": Texts(different=True),
        "fine": Texts(),
        "_codes": Derived(lambda lexicon: lexicon._numbered()),
    }

    def __init__(self, sentences: Sequence[list[Token]], min_count: int):
        self.n_columns = len(sentences[0][0])
        counts = Counter(token[0].lower() for tokens in sentences for token in tokens)
        self.forms = [*SPECIAL, *map(str, in_order(form for form, count in counts.items() if count >= min_count))]
        tags = [
            [*SPECIAL, *map(str, in_order(token[k] for tokens in sentences for token in tokens))]
            for k in range(1, self.n_columns)
        ]
        self.tags, self.fine = tags[0], tags[1] if self.n_columns > 2 else []
        for kind, found, most in (("forms", self.forms, MOST_FORMS), *(("tags", each, MOST_TAGS) for each in tags)):
            if len(found) > most:
                raise ValueError(
                    f"the training sentences have {len(found) - 3} different {kind}; expected at most {most - 3}"
                    + (" (a larger min_count leaves out rare ones)" if kind == "forms" else "")
                )
        self._codes = self._numbered()

    def _check_saved(self) -> None:
        listed = [self.forms, self.tags, *([self.fine] if self.n_columns > 2 else [])]
        if any(names[:3] != SPECIAL for names in listed) or (self.n_columns == 2 and self.fine):
            raise ValueError("the forms or tags do not begin with the special entries of a lexicon")
        if len(self.forms) > MOST_FORMS or max(len(self.tags), len(self.fine)) > MOST_TAGS:
            raise ValueError("there are too many forms or tags")

    def _numbered(self) -> list[dict[str, int]]:
        """Return the codes of forms, of tags and, if there are any, of fine tags."""
        listed = (self.forms, self.tags, self.fine)[: self.n_columns]
        return [{name: k for k, name in enumerate(names) if k > 2} for names in listed]

    def coded(self, sentences: Sequence[list[Token]]) -> tuple[Codes, Codes, Codes]:
        """Return the codes of forms, tags and fine tags of all sentences, concatenated; each begins with the root."""
        columns: list[list[int]] = [[], [], []]
        for i, tokens in enumerate(sentences):
            if len(tokens[0]) != self.n_columns:
                raise ValueError(
                    f"sentence {i} has {len(tokens[0]) - 1} tags per word; expected {self.n_columns - 1} as in training"
                )
            for k, codes in enumerate(self._codes):
                columns[k].append(1)
                columns[k] += [codes.get(token[k] if k else token[k].lower(), 2) for token in tokens]
        forms, tags, fine = (np.array(column, dtype=np.int64) for column in columns)
        return forms, tags, fine


def read_tokens(X: Any) -> list[list[Token]]:
    """Read sentences as lists of (form, tag) or (form, tag, fine tag); tokens are such tuples, or dicts."""
    if isinstance(X, str | Mapping) or not hasattr(X, "__len__") or not hasattr(X, "__getitem__"):
        raise ValueError(f"X is {type(X).__name__}; expected a list of sentences, each a list of (form, tag)")
    sentences = [_read_sentence(x, i) for i, x in enumerate(X)]
    for i, tokens in enumerate(sentences):
        for m, token in enumerate(tokens, 1):
            if len(token) != len(sentences[0][0]):
                raise ValueError(
                    f"sentence {i}: word {m} is {token!r}, but the first of all is {sentences[0][0]!r}; expected "
                    "the same number of tags for every word"
                )
    return sentences


def _read_sentence(x: Any, i: int) -> list[Token]:
    if isinstance(x, ConlluSentence):
        x = x.tokens
    if isinstance(x, str | Mapping) or not isinstance(x, Sequence | np.ndarray):
        raise ValueError(f"sentence {i} is {x!r}; expected a list of tokens (form, tag)")
    if len(x) == 0:
        raise ValueError(f"sentence {i} is empty; expected at least one word")
    tokens = []
    for m, token in enumerate(x, 1):
        read = token
        if isinstance(token, Mapping):
            read = [token.get(name) for name in ("form", "tag", "fine") if name != "fine" or name in token]
        if isinstance(read, str) or not isinstance(read, tuple | list | np.ndarray) or len(read) not in (2, 3):
            raise ValueError(f"sentence {i}: word {m} is {token!r}; expected (form, tag), or a dict with both")
        if not all(isinstance(each, str) for each in read):
            raise ValueError(f"sentence {i}: word {m} is {token!r}; expected a form and a tag that are strings")
        tokens.append(tuple(map(str, read)))
    return tokens
