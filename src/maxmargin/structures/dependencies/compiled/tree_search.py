"""The best trees of many sentences, from the scores of their arcs."""

from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.dependencies.compiled.arborescence import best_arborescence
from maxmargin.structures.dependencies.compiled.eisner import best_projective


@kernel
def fill_scores(n, scores, right, true_heads, price, table):
    """Fill in the scores of arcs for the loss-augmented search.

    Wrong arcs score `price` more; a true arc has the better one of its true label and its best wrong label.
    """
    for h in range(n + 1):
        for m in range(1, n + 1):
            table[h, m] = scores[h * (n + 1) + m] + price
    for m in range(1, n + 1):
        h = true_heads[m]
        if h >= 0 and right[m - 1] >= table[h, m]:
            table[h, m] = right[m - 1]


@kernel
def chosen_labels(n, scores, labels, right, true_heads, true_labels, price, heads, found):
    """Write the labels of chosen arcs."""
    for m in range(1, n + 1):
        h = heads[m - 1]
        arc = h * (n + 1) + m
        is_right = h == true_heads[m] and right[m - 1] >= scores[arc] + price
        found[m - 1] = true_labels[m] if is_right else labels[arc]


@kernel
def best_trees(scored, prices, single_root, projective, contraction, spans, found):
    """Write the heads and labels of all words of ScoredArcs to FoundTrees; sentence j has arcs that cost prices[j]."""
    tables, sentences = scored.tables, scored.sentences
    ids = tables.ids
    for j in range(len(ids)):
        at, n = sentences.starts[ids[j]], sentences.lengths[ids[j]]
        first, last, arc, end = tables.words[j], tables.words[j + 1], tables.arcs[j], tables.arcs[j + 1]
        own, own_right, own_labels = scored.scores[arc:end], scored.right[first:last], scored.labels[arc:end]
        true_heads, true_labels = sentences.heads[at : at + n + 1], sentences.labels[at : at + n + 1]
        heads = found.heads[first:last]
        if projective:
            fill_scores(n, own, own_right, true_heads, prices[j], spans.scores)
            best_projective(n, single_root, spans, heads)
        else:
            fill_scores(n, own, own_right, true_heads, prices[j], contraction.scores)
            best_arborescence(n, single_root, contraction, heads)
        labels = found.labels[first:last]
        chosen_labels(n, own, own_labels, own_right, true_heads, true_labels, prices[j], heads, labels)
