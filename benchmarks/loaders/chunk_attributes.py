"""Attribute strings of tokens for benchmarks of chunking: all libraries are given the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from sys import intern

from maxmargin.inputs.tokens.words import spelling


def chunk_features(sentence: Sequence[tuple[str, ...]]) -> list[list[str]]:
    """Return about 30 attribute strings for every token (word, part of speech) of a sentence.

    The windows of words and parts of speech are those of the CRFsuite chunking tutorial (Okazaki, "CRFsuite:
    a fast implementation of Conditional Random Fields", 2007): words and tags from two before to two after,
    the two word bigrams that touch the token, all tag bigrams and trigrams. To these come the lower-cased
    word, prefixes and suffixes, the shape and the kind of characters of the word.
    """
    for t, token in enumerate(sentence):
        if len(token) != 2:
            raise ValueError(f"token {t} is {token!r}; expected a word and its part of speech")
    n = len(sentence)
    # Two pads on either side, so that every window is a slice.
    words = ["<s2>", "<s1>", *(word for word, _ in sentence), "</s1>", "</s2>"]
    poses = ["<s2>", "<s1>", *(pos for _, pos in sentence), "</s1>", "</s2>"]
    result: list[list[str]] = []
    for t in range(n):
        w = words[t : t + 5]
        p = poses[t : t + 5]
        attributes = ["bias"]
        attributes += [f"w[{k - 2}]={w[k]}" for k in range(5)]
        attributes += [f"w[{k - 2}]|w[{k - 1}]={w[k]}|{w[k + 1]}" for k in (1, 2)]
        attributes += [f"pos[{k - 2}]={p[k]}" for k in range(5)]
        attributes += [f"pos[{k - 2}]|pos[{k - 1}]={p[k]}|{p[k + 1]}" for k in range(4)]
        attributes += [f"pos[{k - 2}]|pos[{k - 1}]|pos[{k}]={p[k]}|{p[k + 1]}|{p[k + 2]}" for k in range(3)]
        attributes += spelling(w[2])
        if t == 0:
            attributes.append("first")
        if t == n - 1:
            attributes.append("last")
        # Each string once, however many tokens have it, and (by the copy) lists without spare capacity.
        result.append(list(map(intern, attributes)).copy())
    return result
