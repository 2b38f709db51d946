"""Scores of all arcs of sentences from the keys of their features, and the entries of planes.

The arc from h to m of a sentence of n words, at offset + h (n + 1) + m of its table, scores

    w · f(h, m) + max_label w_label · g(h, m)                                                                      (1)

with f and g as in arc_keys.py, and without the second term if arcs have no labels. The score of a true arc with its
true label is stored separately in `right`; the table has the score of the arc with the best *wrong* label (-inf without
labels). All entries of the table are then mistakes, and one table serves all searches. The place of a feature is the
index of its weight in w; a feature with a weight for every label has the place of the first of them.
"""

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


@kernel
def row_places(layout, n_keys, arcs, count):
    """Append to arcs.places, which has `count` entries, the places of n_keys keys for labels; return the new count."""
    table = layout.label_table
    for k in range(n_keys):
        place = place_of(arcs.keys[k], table.slots, table.numbers, table.bits)
        if place >= 0:
            arcs.places[count] = layout.first + place * layout.n_labels
            count += 1
    return count


@kernel
def sum_at(w, places, begin, end):
    """Return Σ w[places[begin:end]]."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0  # four sums, because additions to a single one would wait for each other
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
    """Set row[c] to Σ w[places + c], for all labels at once."""
    if n_labels == 1:
        row[0] = sum_at(w, places, 0, len(places))
    else:
        label_sums(ones, places, np.uint64(0), np.uint64(len(places)), w, None, np.uint64(n_labels), row)


@kernel
def highest(row, n):
    """Return the largest of n numbers, -inf if there are none."""
    s0, s1, s2, s3 = -np.inf, -np.inf, -np.inf, -np.inf
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
    """Write the keys of an arc, except for the keys of tags between its words; return their number."""
    arc_keys(sentences.forms, sentences.tags, at, n, h, m, side, keys)
    if len(sentences.fine) == 0:
        return END_KEYS
    fine_keys(sentences.forms, sentences.tags, sentences.fine, at, n, h, m, side, keys)
    return WITH_FINE


@kernel
def arc_places(sentences, at, n, h, m, table, n_between, arcs, count):
    """Append to arcs.places, which has `count` entries, the places of an arc without labels; return the new count.

    A key with a distance occurs in the table only if the same key without distance does, and a key with both forms and
    more only if the key with both forms does, so that other keys need not be searched. (Hash buckets have all keys.)
    """
    between, keys, places = arcs
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
def all_places(ids, sentences, layout, arcs, ends, n_rows):
    """Write the places of all arcs of sentences, by heads, then by dependents; arc a has places up to ends[a]."""
    count, arc = 0, 0
    for j in range(len(ids)):
        at, n = sentences.starts[ids[j]], sentences.lengths[ids[j]]
        for h in range(n + 1):
            for m in range(1, n + 1):
                if h != m:
                    n_between = collect_between(sentences.tags, at, h, m, arcs.between)
                    count = arc_places(sentences, at, n, h, m, layout.table, n_between, arcs, count)
                    if layout.n_labels > 0:
                        n_keys = pair_keys(sentences.forms, sentences.tags, sentences.fine, at, h, m, arcs.keys)
                        split = count
                        count = row_places(layout, n_keys, arcs, count)
                        n_rows[arc] = count - split
                ends[arc] = count
                arc += 1


@kernel
def score_words(w, sentences, at, n, layout, arcs, scratch):
    """Compute the terms of label scores that depend on a single word, for words as dependents and as heads."""
    forms, tags, keys, places = sentences.forms, sentences.tags, arcs.keys, arcs.places
    n_labels = layout.n_labels
    for position in range(n + 1):
        for side in range(LEFT, ROOT + 1):
            if position > 0:  # the root is not a dependent
                n_keys = dependent_keys(forms, tags, sentences.fine, at, n, position, side, keys)
                count = row_places(layout, n_keys, arcs, 0)
                sum_rows(w, n_labels, places[:count], scratch.ones, scratch.dependents[position, side - 1])
            if (side == ROOT) == (position == 0):
                head_keys(forms, tags, at, position, side, keys)
                count = row_places(layout, HEAD_KEYS, arcs, 0)
                sum_rows(w, n_labels, places[:count], scratch.ones, scratch.heads[position, side - 1])


@kernel
def add_labels(w, sentences, at, n, first_arc, known, layout, arcs, scratch, scores, labels, right):
    """Add the second term of (1) to the table of one sentence."""
    score_words(w, sentences, at, n, layout, arcs, scratch)
    row, arc, n_labels = scratch.row, first_arc, layout.n_labels
    for h in range(n + 1):
        for m in range(1, n + 1):
            arc += 1
            if h == m:
                continue
            if len(known.begins) > 0:
                end = known.begins[arc]
                sum_rows(w, n_labels, known.places[end - known.n_rows[arc - 1] : end], scratch.ones, row)
            else:
                n_keys = pair_keys(sentences.forms, sentences.tags, sentences.fine, at, h, m, arcs.keys)
                count = row_places(layout, n_keys, arcs, 0)
                sum_rows(w, n_labels, arcs.places[:count], scratch.ones, row)
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
def score_arcs(w, sentences, at, n, table, arcs, scores):
    """Compute the first term of (1) for all arcs of one sentence."""
    between, places = arcs.between, arcs.places
    for h in range(n + 1):
        scores[h * (n + 1)] = scores[h * (n + 1) + h] = -np.inf
        n_between = 0
        for m in range(h + 1, n + 1):
            count = arc_places(sentences, at, n, h, m, table, n_between, arcs, 0)
            scores[h * (n + 1) + m] = sum_at(w, places, 0, count)
            n_between = with_tag(between, n_between, sentences.tags[at + m])
        n_between = 0
        for m in range(h - 1, 0, -1):
            count = arc_places(sentences, at, n, h, m, table, n_between, arcs, 0)
            scores[h * (n + 1) + m] = sum_at(w, places, 0, count)
            n_between = with_tag(between, n_between, sentences.tags[at + m])


@kernel
def score_known_arcs(w, n, first_arc, known, scores):
    """Compute the first term of (1) from known places; the arcs of the sentence have numbers from `first_arc` on."""
    arc = first_arc
    for h in range(n + 1):
        scores[h * (n + 1)] = -np.inf
        for m in range(1, n + 1):
            end = known.begins[arc + 1] - known.n_rows[arc]
            scores[h * (n + 1) + m] = sum_at(w, known.places, known.begins[arc], end)
            arc += 1
        scores[h * (n + 1) + h] = -np.inf


@kernel
def score_sentences(w, tables, sentences, known, layout, arcs, scratch, scores, labels, right):
    """Write tables of (1) for the sentences tables.ids, each at its offset, and the scores of the true arcs.

    `tables` is ArcTables; see arc_arrays.py for the other tuples.
    """
    ids = tables.ids
    for j in range(len(ids)):
        at, n, here = sentences.starts[ids[j]], sentences.lengths[ids[j]], tables.arcs[j]
        own = scores[here : tables.arcs[j + 1]]
        own_right = right[tables.words[j] : tables.words[j + 1]]
        first_arc = 0
        if len(known.begins) > 0:
            first_arc = known.first_arcs[ids[j]]
            score_known_arcs(w, n, first_arc, known, own)
        else:
            score_arcs(w, sentences, at, n, layout.table, arcs, own)
        if layout.n_labels > 0:
            own_labels = labels[here : tables.arcs[j + 1]]
            add_labels(w, sentences, at, n, first_arc, known, layout, arcs, scratch, own, own_labels, own_right)
        else:
            for m in range(1, n + 1):
                h = sentences.heads[at + m]
                if h >= 0:
                    own_right[m - 1] = own[h * (n + 1) + m]
                    own[h * (n + 1) + m] = -np.inf


@kernel
def arc_entries(sentences, at, n, h, m, label, layout, arcs, count):
    """Append to arcs.places, which has `count` entries, the places of an arc with its label; return the new count."""
    n_between = collect_between(sentences.tags, at, h, m, arcs.between)
    count = arc_places(sentences, at, n, h, m, layout.table, n_between, arcs, count)
    if layout.n_labels > 0:
        table = layout.label_table
        for group in range(3):
            n_keys = label_keys(sentences, at, n, h, m, group, arcs.keys)
            for k in range(n_keys):
                place = place_of(arcs.keys[k], table.slots, table.numbers, table.bits)
                if place >= 0:
                    arcs.places[count] = layout.first + place * layout.n_labels + label
                    count += 1
    return count


@kernel
def label_keys(sentences, at, n, h, m, group, keys):
    """Write the keys for labels of an arc's dependent, head, or both, by `group`; return the number of keys."""
    if group == 0:
        return dependent_keys(sentences.forms, sentences.tags, sentences.fine, at, n, m, side_of(h, m), keys)
    if group == 1:
        head_keys(sentences.forms, sentences.tags, at, h, side_of(h, m), keys)
        return HEAD_KEYS
    return pair_keys(sentences.forms, sentences.tags, sentences.fine, at, h, m, keys)


@kernel
def plane_entries(ids, found, sentences, layout, arcs, values, ends):
    """Write the entries of Ψ(x, y) - Ψ(x, z) for every sentence, with their places in arcs.places.

    Features of arcs that only y has get +1, features of arcs that only z has get -1. `found` (FoundTrees) has the trees
    z; a head of -1 stands for no arc.
    """
    count = 0
    for j in range(len(ids)):
        at, n = sentences.starts[ids[j]], sentences.lengths[ids[j]]
        for m in range(1, n + 1):
            word = found.bounds[j] + m - 1
            h, label = found.heads[word], found.labels[word]
            true_head, true_label = sentences.heads[at + m], sentences.labels[at + m]
            if h == true_head and label == true_label:
                continue
            begin = count
            count = arc_entries(sentences, at, n, true_head, m, true_label, layout, arcs, count)
            for k in range(begin, count):
                values[k] = 1.0
            if h < 0:
                continue
            begin = count
            count = arc_entries(sentences, at, n, h, m, label, layout, arcs, count)
            for k in range(begin, count):
                values[k] = -1.0
        ends[j] = count


@kernel
def true_keys(sentences, with_labels, between, keys, found):
    """Write the keys of all true arcs, either with or without labels; return their number."""
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
