"""Motifs: features and windows of a string, letter by letter."""

from __future__ import annotations

COMPLEMENTS = {"A": "T", "C": "G", "G": "C", "T": "A"}


def windows(text, length, alphabet):
    """Where a motif can begin: no unknown letter inside."""
    return [h for h in range(len(text) - length + 1) if all(letter in alphabet for letter in text[h : h + length])]


def read(window, strand):
    """The letters of a window as the strand has them."""
    return window if strand > 0 else "".join(COMPLEMENTS[letter] for letter in reversed(window))


def motif_names(text, start, strand, length):
    """The features of a motif in this window."""
    return [("motif", j, letter) for j, letter in enumerate(read(text[start : start + length], strand))]


def background_name(text, i, order, alphabet):
    """The feature of letter i in the background: with up to `order` known letters before it. None if unknown."""
    if text[i] not in alphabet:
        return None
    context = ""
    while len(context) < min(order, i) and text[i - len(context) - 1] in alphabet:
        context = text[i - len(context) - 1] + context
    return ("background", context, text[i])


def features(text, z, length, order, alphabet):
    """Ψ as {name: count}."""
    counts = {}
    inside = range(z.start, z.start + length) if z.has else ()
    names = motif_names(text, z.start, z.strand, length) if z.has else []
    if order is not None:
        names += [background_name(text, i, order, alphabet) for i in range(len(text)) if i not in inside]
    for name in names:
        if name is not None:
            counts[name] = counts.get(name, 0) + 1
    return counts


def coordinate(name, length, alphabet):
    """Where a feature stands in Ψ: motif, then contexts by their length and their letters."""
    size = len(alphabet)
    if name[0] == "motif":
        return name[1] * size + alphabet.index(name[2])
    place = length * size + sum(size ** (c + 1) for c in range(len(name[1])))
    number = 0
    for letter in name[1] + name[2]:
        number = size * number + alphabet.index(letter)
    return place + number


def gain(w, text, z, length, order, alphabet):
    """⟨w, Ψ⟩ of a window less that of no motif: the letters of the window only."""
    total = sum(w[coordinate(name, length, alphabet)] for name in motif_names(text, z.start, z.strand, length))
    if order is not None:
        for i in range(z.start, z.start + length):
            total -= w[coordinate(background_name(text, i, order, alphabet), length, alphabet)]
    return total
