"""Lexicon: the forms and tags of training, as numbers that fit into the keys of features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from maxmargin.inputs.labels import in_order

OUTSIDE, ROOT, UNKNOWN = "<outside>", "<root>", "<unknown>"  # codes 0, 1 and 2, of forms as of tags
SPECIAL = [OUTSIDE, ROOT, UNKNOWN]
MOST_FORMS, MOST_TAGS = 2**18, 2**9  # see compiled/arc_keys.py

Token = tuple[str, str]  # form and tag
Codes = NDArray[np.int64]


class Lexicon:
    """Codes of forms, in lower case, and of tags.

    Forms that training shows less than `min_count` times share a code with those that it does not show. So do tags
    that it does not show.
    """

    def __init__(self, sentences: Sequence[list[Token]], min_count: int):
        counts = Counter(form.lower() for tokens in sentences for form, _ in tokens)
        forms = in_order(form for form, count in counts.items() if count >= min_count)
        tags = in_order(tag for tokens in sentences for _, tag in tokens)
        self.forms, self.tags = [*SPECIAL, *map(str, forms)], [*SPECIAL, *map(str, tags)]
        for kind, found, most in (("forms", self.forms, MOST_FORMS), ("tags", self.tags, MOST_TAGS)):
            if len(found) > most:
                raise ValueError(
                    f"the training sentences have {len(found) - 3} different {kind}; expected at most {most - 3}"
                    + (" (a larger min_count leaves rare ones out)" if kind == "forms" else "")
                )
        self._form_codes = {form: k for k, form in enumerate(self.forms) if k > 2}
        self._tag_codes = {tag: k for k, tag in enumerate(self.tags) if k > 2}

    def coded(self, sentences: Sequence[list[Token]]) -> tuple[Codes, Codes]:
        """Codes of all forms and tags, one sentence after the other, each with the root before its words."""
        forms, tags = [], []
        form_of, tag_of = self._form_codes.get, self._tag_codes.get
        for tokens in sentences:
            forms.append(1)
            tags.append(1)
            forms += [form_of(form.lower(), 2) for form, _ in tokens]
            tags += [tag_of(tag, 2) for _, tag in tokens]
        return np.array(forms, dtype=np.int64), np.array(tags, dtype=np.int64)


def read_tokens(X: Any) -> list[list[Token]]:
    """Sentences as lists of (form, tag); each token is such a pair, or a dict with "form" and "tag"."""
    if isinstance(X, str | Mapping) or not hasattr(X, "__len__") or not hasattr(X, "__getitem__"):
        raise ValueError(f"X is {type(X).__name__}; expected a list of sentences, each a list of (form, tag)")
    return [_read_sentence(x, i) for i, x in enumerate(X)]


def _read_sentence(x: Any, i: int) -> list[Token]:
    if hasattr(x, "tokens") and not callable(x.tokens):  # of a ConlluSentence
        x = x.tokens
    if isinstance(x, str | Mapping) or not isinstance(x, Sequence | np.ndarray):
        raise ValueError(f"sentence {i} is {x!r}; expected a list of tokens (form, tag)")
    if len(x) == 0:
        raise ValueError(f"sentence {i} is empty; expected at least one word")
    tokens = []
    for m, token in enumerate(x, 1):
        pair = (token.get("form"), token.get("tag")) if isinstance(token, Mapping) else token
        if isinstance(pair, str) or not isinstance(pair, tuple | list | np.ndarray) or len(pair) != 2:
            raise ValueError(f"sentence {i}: word {m} is {token!r}; expected (form, tag), or a dict with both")
        if not isinstance(pair[0], str) or not isinstance(pair[1], str):
            raise ValueError(f"sentence {i}: word {m} is {token!r}; expected a form and a tag that are strings")
        tokens.append((pair[0], pair[1]))
    return tokens
