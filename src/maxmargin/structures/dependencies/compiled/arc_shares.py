"""Scores of all arcs with all labels, and weighted sums of the features of all arcs.

Sums over trees need the scores of all labels; arc_scores.py keeps only the best label of every arc. Arrays have the
shape (n + 1, n, L) for head, word and label, with L = 1 if arcs have no labels. Terms that depend on a single word are
first summed over its arcs and then added once. The place of a feature is the index of its weight in w.
"""

import numpy as np

from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.dependencies.compiled.arc_keys import (
    HEAD_KEYS,
    LEFT,
    ROOT,
    collect_between,
    dependent_keys,
    head_keys,
    pair_keys,
    side_of,
)
from maxmargin.structures.dependencies.compiled.arc_scores import (
    arc_places,
    row_places,
    score_words,
    sum_at,
    sum_rows,
)


@kernel
def own_places(arc, h, m, sentences, at, n, known, layout, arcs):
    """Write into arcs.places the places of an arc, then the places of its rows of label weights.

    Returns the end of the first and the end of the second group. `arc` is the number of the arc in `known`.
    """
    if len(known.begins) > 0:
        begin, end = np.int64(known.begins[arc]), np.int64(known.begins[arc + 1])
        for k in range(begin, end):
            arcs.places[k - begin] = known.places[k]
        return end - np.int64(known.n_rows[arc]) - begin, end - begin
    n_between = collect_between(sentences.tags, at, h, m, arcs.between)
    split = arc_places(sentences, at, n, h, m, layout.table, n_between, arcs, 0)
    count = split
    if layout.n_labels > 0:
        n_keys = pair_keys(sentences.forms, sentences.tags, sentences.fine, at, h, m, arcs.keys)
        count = row_places(layout, n_keys, arcs, split)
    return split, count


@kernel
def all_scores(w, i, sentences, known, layout, arcs, scratch, scores):
    """Compute scores[h, m - 1, label] of sentence i. See arc_arrays.py for the tuples."""
    at, n, n_labels, places = sentences.starts[i], sentences.lengths[i], layout.n_labels, arcs.places
    if n_labels > 0:
        score_words(w, sentences, at, n, layout, arcs, scratch)
    arc = known.first_arcs[i] if len(known.begins) > 0 else 0
    for h in range(n + 1):
        for m in range(1, n + 1):
            row = scores[h, m - 1]
            arc += 1
            if h == m:
                row[:] = 0.0
                continue
            split, count = own_places(arc - 1, h, m, sentences, at, n, known, layout, arcs)
            own = sum_at(w, places, 0, split)
            if n_labels == 0:
                row[0] = own
                continue
            sum_rows(w, n_labels, places[split:count], scratch.ones, row)
            side = side_of(h, m) - 1
            of_dependent, of_head = scratch.dependents[m, side], scratch.heads[h, side]
            for c in range(n_labels):
                row[c] += own + of_dependent[c] + of_head[c]


@kernel
def add_rows(scale, n_labels, places, row, total):
    """Add scale · row[c] to total[place + c] for all places."""
    for k in range(len(places)):
        for c in range(n_labels):
            total[places[k] + c] += scale * row[c]


@kernel
def add_words(scale, sentences, at, n, layout, arcs, scratch, total):
    """Add the features that depend on a single word, with the factors scratch.dependents and scratch.heads."""
    forms, tags, keys, places = sentences.forms, sentences.tags, arcs.keys, arcs.places
    n_labels = layout.n_labels
    for position in range(n + 1):
        for side in range(LEFT, ROOT + 1):
            if position > 0:
                n_keys = dependent_keys(forms, tags, sentences.fine, at, n, position, side, keys)
                count = row_places(layout, n_keys, arcs, 0)
                add_rows(scale, n_labels, places[:count], scratch.dependents[position, side - 1], total)
            if (side == ROOT) == (position == 0):
                head_keys(forms, tags, at, position, side, keys)
                count = row_places(layout, HEAD_KEYS, arcs, 0)
                add_rows(scale, n_labels, places[:count], scratch.heads[position, side - 1], total)


@kernel
def add_shares(scale, i, sentences, known, layout, arcs, scratch, shares, total):
    """Add scale · Σ shares[h, m - 1, label] · f to `total`, where f are the features of this arc with this label."""
    at, n, n_labels, places = sentences.starts[i], sentences.lengths[i], layout.n_labels, arcs.places
    if n_labels > 0:
        for position in range(n + 1):
            for side in range(ROOT - LEFT + 1):
                for c in range(n_labels):
                    scratch.dependents[position, side, c] = scratch.heads[position, side, c] = 0.0
    arc = known.first_arcs[i] if len(known.begins) > 0 else 0
    for h in range(n + 1):
        for m in range(1, n + 1):
            row = shares[h, m - 1]
            arc += 1
            whole, any_share = 0.0, False
            for c in range(len(row)):
                whole += row[c]
                any_share = any_share or row[c] != 0.0
            if h == m or not any_share:
                continue
            split, count = own_places(arc - 1, h, m, sentences, at, n, known, layout, arcs)
            for k in range(split):
                total[places[k]] += scale * whole
            if n_labels > 0:
                add_rows(scale, n_labels, places[split:count], row, total)
                side = side_of(h, m) - 1
                of_dependent, of_head = scratch.dependents[m, side], scratch.heads[h, side]
                for c in range(n_labels):
                    of_dependent[c] += row[c]
                    of_head[c] += row[c]
    if n_labels > 0:
        add_words(scale, sentences, at, n, layout, arcs, scratch, total)
