"""Scores of all arcs of sentences from the keys of their features, and the entries of planes.

The arc from h to m of a sentence of n words, at offset + h (n + 1) + m of its table, scores

    w · f(h, m) + max_label w_label · g(h, m)                                                                      (1)

with f and g as in arc_keys.py, and without the second sum where arcs have no labels. The truth, where it is known, is
kept apart: of a true arc the table has the best *wrong* label (-inf without labels), and `right` has the true one. What
is not the truth then costs the same in every loss, and one table serves all searches.
"""

from typing import NamedTuple

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.base.compiled.label_vectors import label_sums
from maxmargin.structures.dependencies.compiled.arc_keys import (
    BETWEEN,
    BOTH_FORMS,
    END_KEYS,
    HEAD_KEYS,
    LAST_OF_BOTH_FORMS,
    LEFT,
    ROOT,
    SIDE,
    WITH_FINE,
    arc_keys,
    collect_between,
    dependent_keys,
    fine_keys,
    head_keys,
    key_of,
    near_side_of,
    pair_keys,
    side_of,
    with_tag,
)
from maxmargin.structures.dependencies.compiled.key_places import place_of


class CodedSentences(NamedTuple):
    """Sentences one after the other; each begins with the root, whose form and tag have codes of their own."""

    forms: np.ndarray  # codes of all forms
    tags: np.ndarray
    fine: np.ndarray  # of the second tags; empty where words have one
    starts: np.ndarray  # where the root of each sentence is
    lengths: np.ndarray  # words of each, without the root
    heads: np.ndarray  # of every word, like forms; -1 where the truth is not known
    labels: np.ndarray  # of the true arcs; -1 without labels


class KeyTable(NamedTuple):
    """Places of keys; see key_places.py."""

    slots: np.ndarray
    numbers: np.ndarray
    bits: int


class KnownPlaces(NamedTuple):
    """The places of all arcs of all sentences, those of arc a at begins[a]:begins[a + 1]; all empty if not kept."""

    places: np.ndarray
    begins: np.ndarray
    n_rows: np.ndarray  # of every arc, how many of its places, the last ones, begin a row of labels
    first_arcs: np.ndarray  # the number of the first arc of every sentence


class LabelScores(NamedTuple):
    """Scratch for up to n words and L labels."""

    dependents: np.ndarray  # (n + 1, 3, L) what a dependent has by itself, for each side of its head
    heads: np.ndarray  # (n + 1, 3, L)
    row: np.ndarray  # (L,)
    ones: np.ndarray  # as many as an arc has rows at most


@kernel
def row_places(first, n_labels, table, keys, n_keys, places, count):
    """Write where the rows of labels of keys begin, from `count` on; where they end."""
    for k in range(n_keys):
        place = place_of(keys[k], table.slots, table.numbers, table.bits)
        if place >= 0:
            places[count] = first + place * n_labels
            count += 1
    return count


@kernel
def sum_at(w, places, begin, end):
    """Σ w[places[begin:end]]."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0  # four sums at once: a single one would wait for every addition
    k = begin
    while k + 3 < end:
        s0 += w[places[k]]
        s1 += w[places[k + 1]]
        s2 += w[places[k + 2]]
        s3 += w[places[k + 3]]
        k += 4
    while k < end:
        s0 += w[places[k]]
        k += 1
    return (s0 + s1) + (s2 + s3)


@kernel
def sum_rows(w, n_labels, places, ones, row):
    """row[c] = Σ w[places + c], for all labels at once."""
    if n_labels == 1:
        row[0] = sum_at(w, places, 0, len(places))
    else:
        label_sums(ones, places, np.uint64(0), np.uint64(len(places)), w, None, np.uint64(n_labels), row)


@kernel
def highest(row, n):
    """The largest of n numbers, -inf without any."""
    s0, s1, s2, s3 = -np.inf, -np.inf, -np.inf, -np.inf  # four at once: a single one would wait for every comparison
    k = 0
    while k + 3 < n:
        s0 = row[k] if row[k] > s0 else s0
        s1 = row[k + 1] if row[k + 1] > s1 else s1
        s2 = row[k + 2] if row[k + 2] > s2 else s2
        s3 = row[k + 3] if row[k + 3] > s3 else s3
        k += 4
    while k < n:
        s0 = row[k] if row[k] > s0 else s0
        k += 1
    return max(max(s0, s1), max(s2, s3))


@kernel
def all_end_keys(sentences, at, n, h, m, side, keys):
    """Write the keys of an arc but for tags between; their number."""
    arc_keys(sentences.forms, sentences.tags, at, n, h, m, side, keys)
    if len(sentences.fine) == 0:
        return END_KEYS
    fine_keys(sentences.forms, sentences.tags, sentences.fine, at, n, h, m, side, keys)
    return WITH_FINE


@kernel
def arc_places(sentences, at, n, h, m, table, between, n_between, keys, places, count):
    """Write the places of the weights of an arc, but for labels, from `count` on; where they end.

    A key with a distance, or with more of both words, is known only where the same without it is: the others need not
    be looked for. (Buckets know all keys.)
    """
    side, near = side_of(h, m), near_side_of(h, m)
    end_keys = all_end_keys(sentences, at, n, h, m, side, keys)
    nearer = (np.uint64(side) ^ np.uint64(near)) << np.uint64(SIDE)
    k = 0
    while k < end_keys:
        place = place_of(keys[k], table.slots, table.numbers, table.bits)
        if place >= 0:
            places[count] = place
            count += 1
            if near != side:
                place = place_of(keys[k] ^ nearer, table.slots, table.numbers, table.bits)
                if place >= 0:
                    places[count] = place
                    count += 1
        elif k == BOTH_FORMS:
            k = LAST_OF_BOTH_FORMS
        k += 1
    ht, mt = sentences.tags[at + h], sentences.tags[at + m]
    for k in range(n_between):
        place = place_of(key_of(BETWEEN, side, between[k], 0, ht, mt), table.slots, table.numbers, table.bits)
        if place >= 0:
            places[count] = place
            count += 1
    return count


@kernel
def all_places(ids, sentences, table, first, n_labels, label_table, between, keys, places, ends, n_rows):
    """KnownPlaces of the sentences `ids`, by heads, then by dependents; `ends` is where each arc's end."""
    count, arc = 0, 0
    for j in range(len(ids)):
        at, n = sentences.starts[ids[j]], sentences.lengths[ids[j]]
        for h in range(n + 1):
            for m in range(1, n + 1):
                if h != m:
                    n_between = collect_between(sentences.tags, at, h, m, between)
                    count = arc_places(sentences, at, n, h, m, table, between, n_between, keys, places, count)
                    if n_labels > 0:
                        n_keys = pair_keys(sentences.forms, sentences.tags, sentences.fine, at, h, m, keys)
                        split = count
                        count = row_places(first, n_labels, label_table, keys, n_keys, places, count)
                        n_rows[arc] = count - split
                ends[arc] = count
                arc += 1


@kernel
def score_words(w, first, n_labels, sentences, at, n, table, keys, places, scratch):
    """What the words of a sentence have by themselves for labels, as dependents and as heads."""
    forms, tags = sentences.forms, sentences.tags
    for position in range(n + 1):
        for side in range(LEFT, ROOT + 1):
            if position > 0:  # the root is no dependent
                n_keys = dependent_keys(forms, tags, sentences.fine, at, n, position, side, keys)
                count = row_places(first, n_labels, table, keys, n_keys, places, 0)
                sum_rows(w, n_labels, places[:count], scratch.ones, scratch.dependents[position, side - 1])
            if (side == ROOT) == (position == 0):
                head_keys(forms, tags, at, position, side, keys)
                count = row_places(first, n_labels, table, keys, HEAD_KEYS, places, 0)
                sum_rows(w, n_labels, places[:count], scratch.ones, scratch.heads[position, side - 1])


@kernel
def add_labels(
    w, first, n_labels, sentences, at, n, first_arc, known, table, keys, places, scratch, scores, labels, right
):
    """Add the second sum of (1) to the table of one sentence."""
    score_words(w, first, n_labels, sentences, at, n, table, keys, places, scratch)
    row, arc = scratch.row, first_arc
    for h in range(n + 1):
        for m in range(1, n + 1):
            arc += 1
            if h == m:
                continue
            if len(known.begins) > 0:
                end = known.begins[arc]
                sum_rows(w, n_labels, known.places[end - known.n_rows[arc - 1] : end], scratch.ones, row)
            else:
                n_keys = pair_keys(sentences.forms, sentences.tags, sentences.fine, at, h, m, keys)
                count = row_places(first, n_labels, table, keys, n_keys, places, 0)
                sum_rows(w, n_labels, places[:count], scratch.ones, row)
            side = side_of(h, m) - 1
            of_dependent, of_head = scratch.dependents[m, side], scratch.heads[h, side]
            for c in range(n_labels):
                row[c] += of_dependent[c] + of_head[c]
            here = h * (n + 1) + m
            if sentences.heads[at + m] == h:
                true_label = sentences.labels[at + m]
                right[m - 1] = scores[here] + row[true_label]
                row[true_label] = -np.inf
            best, label = highest(row, n_labels), 0
            while label < n_labels - 1 and row[label] != best:
                label += 1
            scores[here] += best
            labels[here] = label


@kernel
def score_arcs(w, sentences, at, n, table, between, keys, places, scores):
    """The first sum of (1) for all arcs of one sentence."""
    for h in range(n + 1):
        scores[h * (n + 1)] = scores[h * (n + 1) + h] = -np.inf
        n_between = 0
        for m in range(h + 1, n + 1):
            count = arc_places(sentences, at, n, h, m, table, between, n_between, keys, places, 0)
            scores[h * (n + 1) + m] = sum_at(w, places, 0, count)
            n_between = with_tag(between, n_between, sentences.tags[at + m])
        n_between = 0
        for m in range(h - 1, 0, -1):
            count = arc_places(sentences, at, n, h, m, table, between, n_between, keys, places, 0)
            scores[h * (n + 1) + m] = sum_at(w, places, 0, count)
            n_between = with_tag(between, n_between, sentences.tags[at + m])


@kernel
def score_known_arcs(w, n, first_arc, known, scores):
    """The same from the places of all arcs, which begin with number `first_arc`."""
    arc = first_arc
    for h in range(n + 1):
        scores[h * (n + 1)] = -np.inf
        for m in range(1, n + 1):
            end = known.begins[arc + 1] - known.n_rows[arc]
            scores[h * (n + 1) + m] = sum_at(w, known.places, known.begins[arc], end)
            arc += 1
        scores[h * (n + 1) + h] = -np.inf


@kernel
def score_sentences(
    w,
    ids,
    offsets,
    word_offsets,
    sentences,
    known,
    table,
    first,
    n_labels,
    label_table,
    between,
    keys,
    places,
    scratch,
    scores,
    labels,
    right,
):
    """Tables of (1) for the sentences `ids`, each at its offset, and scores of the true arcs."""
    for j in range(len(ids)):
        at, n = sentences.starts[ids[j]], sentences.lengths[ids[j]]
        own, own_right = scores[offsets[j] : offsets[j + 1]], right[word_offsets[j] : word_offsets[j + 1]]
        first_arc = 0
        if len(known.begins) > 0:
            first_arc = known.first_arcs[ids[j]]
            score_known_arcs(w, n, first_arc, known, own)
        else:
            score_arcs(w, sentences, at, n, table, between, keys, places, own)
        if n_labels > 0:
            own_labels = labels[offsets[j] : offsets[j + 1]]
            add_labels(
                w,
                first,
                n_labels,
                sentences,
                at,
                n,
                first_arc,
                known,
                label_table,
                keys,
                places,
                scratch,
                own,
                own_labels,
                own_right,
            )
        else:
            for m in range(1, n + 1):
                h = sentences.heads[at + m]
                if h >= 0:
                    own_right[m - 1] = own[h * (n + 1) + m]
                    own[h * (n + 1) + m] = -np.inf


@kernel
def arc_entries(sentences, at, n, h, m, label, table, first, n_labels, label_table, between, keys, places, count):
    """Write the places of the weights of an arc with its label from `count` on; where they end."""
    n_between = collect_between(sentences.tags, at, h, m, between)
    count = arc_places(sentences, at, n, h, m, table, between, n_between, keys, places, count)
    if n_labels > 0:
        for group in range(3):
            n_keys = label_keys(sentences, at, n, h, m, group, keys)
            for k in range(n_keys):
                place = place_of(keys[k], label_table.slots, label_table.numbers, label_table.bits)
                if place >= 0:
                    places[count] = first + place * n_labels + label
                    count += 1
    return count


@kernel
def label_keys(sentences, at, n, h, m, group, keys):
    """Write the keys for labels of an arc: of its dependent, of its head, or of both; their number."""
    if group == 0:
        return dependent_keys(sentences.forms, sentences.tags, sentences.fine, at, n, m, side_of(h, m), keys)
    if group == 1:
        head_keys(sentences.forms, sentences.tags, at, h, side_of(h, m), keys)
        return HEAD_KEYS
    return pair_keys(sentences.forms, sentences.tags, sentences.fine, at, h, m, keys)


@kernel
def plane_entries(
    ids,
    word_offsets,
    heads,
    arc_labels,
    sentences,
    table,
    first,
    n_labels,
    label_table,
    between,
    keys,
    places,
    values,
    ends,
):
    """Entries of Ψ(x, y) - Ψ(x, z) for every sentence: +1 for true arcs that z has not, -1 for arcs that y has not.

    A head of -1 stands for no arc.
    """
    count = 0
    for j in range(len(ids)):
        at, n = sentences.starts[ids[j]], sentences.lengths[ids[j]]
        for m in range(1, n + 1):
            h, label = heads[word_offsets[j] + m - 1], arc_labels[word_offsets[j] + m - 1]
            true_head, true_label = sentences.heads[at + m], sentences.labels[at + m]
            if h == true_head and label == true_label:
                continue
            begin = count
            count = arc_entries(
                sentences,
                at,
                n,
                true_head,
                m,
                true_label,
                table,
                first,
                n_labels,
                label_table,
                between,
                keys,
                places,
                count,
            )
            for k in range(begin, count):
                values[k] = 1.0
            if h < 0:
                continue
            begin = count
            count = arc_entries(
                sentences, at, n, h, m, label, table, first, n_labels, label_table, between, keys, places, count
            )
            for k in range(begin, count):
                values[k] = -1.0
        ends[j] = count


@kernel
def true_keys(sentences, with_labels, between, keys, found):
    """Write the keys of all true arcs: of their labels, or the others; their number."""
    count = 0
    for j in range(len(sentences.starts)):
        at, n = sentences.starts[j], sentences.lengths[j]
        for m in range(1, n + 1):
            h = sentences.heads[at + m]
            if with_labels:
                for group in range(3):
                    n_keys = label_keys(sentences, at, n, h, m, group, keys)
                    for k in range(n_keys):
                        found[count] = keys[k]
                        count += 1
            else:
                for near in range(1 if h == 0 else 2):
                    side = near_side_of(h, m) if near else side_of(h, m)
                    end_keys = all_end_keys(sentences, at, n, h, m, side, keys)
                    for k in range(end_keys):
                        found[count] = keys[k]
                        count += 1
                n_between = collect_between(sentences.tags, at, h, m, between)
                for k in range(n_between):
                    ht, mt = sentences.tags[at + h], sentences.tags[at + m]
                    found[count] = key_of(BETWEEN, side_of(h, m), between[k], 0, ht, mt)
                    count += 1
    return count
