"""Features of arcs: kernels against a twin in plain Python that knows features by their names."""

from itertools import count

import numpy as np
import pytest
from structures.dependencies.tree_lists import sentences

from maxmargin.structures.dependencies.arc_templates import DISTANCES, feature_names
from maxmargin.structures.dependencies.compiled.arc_keys import MOST_BETWEEN
from maxmargin.tasks import Dependencies

KINDS = ["Hh", "H", "h", "Mm", "M", "m", "HM", "HMm", "HMh", "HMhm", "Mhm", "Hhm", "hm"]
KINDS += [">(hm", "<(hm", ">)hm", "<)hm", "(hm", ")hm", "<hm", ">hm"]
LABEL_KINDS = ["M", "m", "Mm", "(m", ")m", "()m", "H", "h", "Hh", "hm", "Hm", "Mh", "HM"]


def twin_names(tokens, h, m):
    """The names of the features of an arc, written by hand."""
    forms = ["<root>", *(form for form, _ in tokens)]
    tags = ["<root>", *(tag for _, tag in tokens)]

    def tag(k):
        return tags[k] if 0 <= k < len(tags) else "<outside>"

    side = "root" if h == 0 else "head left" if h < m else "head right"
    bucket = DISTANCES[min(abs(h - m), 5) - 1] if abs(h - m) < 10 else DISTANCES[5]
    parts = {
        "H": f"head={forms[h]}",
        "M": f"dependent={forms[m]}",
        "h": f"head tag={tags[h]}",
        "m": f"dependent tag={tags[m]}",
        "<": f"tag before head={tag(h - 1)}",
        ">": f"tag after head={tag(h + 1)}",
        "(": f"tag before dependent={tag(m - 1)}",
        ")": f"tag after dependent={tag(m + 1)}",
    }
    sides = [side] if h == 0 else [side, f"{side} by {bucket}"]
    found = [", ".join([*(parts[each] for each in kind), where]) for where in sides for kind in KINDS]
    between = {tags[k] for k in range(min(h, m) + 1, max(h, m))}
    found += [", ".join([f"tag between={each}", parts["h"], parts["m"], side]) for each in between]
    of_labels = [", ".join([*(parts[each] for each in kind), side]) for kind in LABEL_KINDS]
    of_labels += [", ".join([parts["h"], parts["m"], where]) for where in sides[1:]]
    return found, of_labels


def with_labels(Y, n_labels):
    """The same trees with made-up labels, or without."""
    number = count()
    return [[(h, f"l{next(number) % n_labels}") for h in y] if n_labels else y for y in Y]


@pytest.mark.parametrize("n_labels", [0, 1, 3, 23])
def test_scores_are_sums_of_named_weights(n_labels):
    X, Y = sentences(12, longest=14)
    Y = with_labels(Y, n_labels)
    task = Dependencies(min_count=1)
    task.setup(X, Y)
    arcs = task.arcs_
    w = np.random.default_rng(0).standard_normal(task.dim)
    weight = dict(zip(feature_names(arcs.keys, arcs.lexicon), w[: arcs.first], strict=True))
    assert len(weight) == arcs.first
    rows = w[arcs.first :].reshape(-1, max(len(task.classes_ or ()), 1))
    of_label = dict(zip(feature_names(arcs.label_keys, arcs.lexicon), rows, strict=True))
    new, _ = sentences(4, seed=1, longest=14)
    assert max(len({tag for _, tag in x}) for x in new) < MOST_BETWEEN
    for batch in (task.pack(X[:4], Y[:4]), task.scored(new)):
        scored = batch.arcs.scored(w, np.arange(4))
        for j, tokens in enumerate(X[:4] if batch.arcs.sentences.heads[1] >= 0 else new):
            n, own = len(tokens), scored.alone(j)
            for h in range(n + 1):
                for m in range(1, n + 1):
                    if h == m:
                        continue
                    names, label_names = twin_names(tokens, h, m)
                    expected = sum(weight.get(name, 0.0) for name in names)
                    each = np.array([expected]) + sum(of_label.get(name, 0.0) for name in label_names)
                    at = int(scored.sentences.starts[j]) + m
                    if scored.sentences.heads[at] == h:
                        known = max(int(scored.sentences.labels[at]), 0)
                        assert own.right[m - 1] == pytest.approx(each[known])
                        each[known] = -np.inf
                    assert own.scores[h * (n + 1) + m] == pytest.approx(each.max())
                    if n_labels:
                        assert own.labels[h * (n + 1) + m] == each.argmax()


@pytest.mark.parametrize("hash_bits", [None, 6, 20])
@pytest.mark.parametrize("n_labels", [0, 1, 23])
def test_kept_places_and_new_ones_score_the_same(hash_bits, n_labels):
    X, Y = sentences(10, longest=12)
    Y = with_labels(Y, n_labels)
    task = Dependencies(hash_bits=hash_bits)
    task.setup(X, Y)
    w = np.random.default_rng(0).standard_normal(task.dim)
    batch = task.pack(X, Y)
    kept = batch.arcs.scored(w, batch.ids)
    assert len(batch.arcs.known.begins)
    anew = task.arcs_.packed(X, batch.arcs.sentences.heads, batch.arcs.sentences.labels).scored(w, batch.ids)
    np.testing.assert_allclose(kept.scores, anew.scores)
    np.testing.assert_array_equal(kept.labels, anew.labels)
    np.testing.assert_allclose(kept.right, anew.right)


def test_coordinates_that_take_too_much_memory_are_not_kept():
    X, Y = sentences(10)
    task = Dependencies()
    task.setup(X, Y)
    known = task.pack(X, Y).arcs.sentences
    assert not len(task.arcs_.packed(X, known.heads, known.labels, max_bytes=8).known.begins)


def test_buckets_are_used_evenly():
    from maxmargin.structures.dependencies.compiled.key_places import bucket_of

    X, Y = sentences(60, longest=12)
    task = Dependencies(min_count=1)
    task.setup(X, Y)
    counts = np.bincount([int(bucket_of(key, 6)) for key in task.arcs_.keys], minlength=64)
    expected = len(task.arcs_.keys) / 64
    assert ((counts - expected) ** 2 / expected).sum() < 64 + 6 * np.sqrt(2 * 64)  # chi-squared
