"""Features of arcs as keys: 64-bit integers that encode a feature, so that its name can be recovered.

A key has the fields

    template (6 bits) | side (4) | first (18) | second (18) | third (9) | fourth (9)                                (1)

of which the last four are codes of forms and tags. A side is 0, or the side of the head: LEFT, RIGHT or ROOT, or one
of these with a distance of 1, 2, 3, 4, 5 … 9, or more. arc_templates.py has the names of templates and of their fields.

The templates are those of McDonald, Crammer and Pereira (2005), Table 1: form and tag of head and dependent, alone and
together; the tags around both; the tags between them. Each includes the side of the head; most also occur with
the distance. If words have a second, finer tag, both tags have features.
"""

import numpy as np

from maxmargin.base.compiled.kernel import kernel

TEMPLATE, SIDE, FIRST, SECOND, THIRD = 58, 54, 36, 18, 9  # the lowest bits of the fields
LEFT, RIGHT, ROOT = 1, 2, 3
NEAR_LEFT, NEAR_RIGHT = 4, 10  # the first of six distances
# keys of an arc for one side: features of its ends and of their neighbours; with fine tags
END_KEYS, WITH_FINE = 21, 30
BOTH_FORMS, LAST_OF_BOTH_FORMS = 6, 9  # the key with both forms, and the last of the keys that refine it
BETWEEN = 22  # the template of tags between
MOST_BETWEEN = 16  # the most different tags between the ends of an arc that have features, those nearest to the head
MOST_KEYS = 2 * WITH_FINE + MOST_BETWEEN
FIRST_LABEL_TEMPLATE = 32
DEPENDENT_KEYS, HEAD_KEYS, PAIR_KEYS = 7, 3, 6  # the most keys for labels of an arc


@kernel
def key_of(template, side, first, second, third, fourth):
    """Return the key (1)."""
    return (
        (np.uint64(template) << np.uint64(TEMPLATE))
        | (np.uint64(side) << np.uint64(SIDE))
        | (np.uint64(first) << np.uint64(FIRST))
        | (np.uint64(second) << np.uint64(SECOND))
        | (np.uint64(third) << np.uint64(THIRD))
        | np.uint64(fourth)
    )


@kernel
def side_of(h, m):
    """Return the side of the head."""
    return ROOT if h == 0 else LEFT if h < m else RIGHT


@kernel
def near_side_of(h, m):
    """Return the side of the head with the distance; the root has none."""
    if h == 0:
        return ROOT
    distance = m - h if h < m else h - m
    bucket = distance - 1 if distance <= 4 else 4 if distance < 10 else 5
    return bucket + (NEAR_LEFT if h < m else NEAR_RIGHT)


@kernel
def tag_at(tags, at, n, position):
    """Return the tag of a word of the sentence at `at`, 0 if there is none."""
    return tags[at + position] if 0 <= position <= n else 0


@kernel
def arc_keys(forms, tags, at, n, h, m, side, keys):
    """Write the keys of the arc from h to m, without tags between, of the sentence of n words whose root is at `at`."""
    hf, mf, ht, mt = forms[at + h], forms[at + m], tags[at + h], tags[at + m]
    h_before, h_after = tag_at(tags, at, n, h - 1), tag_at(tags, at, n, h + 1)
    m_before, m_after = tag_at(tags, at, n, m - 1), tag_at(tags, at, n, m + 1)
    keys[0] = key_of(1, side, hf, 0, ht, 0)
    keys[1] = key_of(2, side, hf, 0, 0, 0)
    keys[2] = key_of(3, side, 0, 0, ht, 0)
    keys[3] = key_of(4, side, 0, mf, 0, mt)
    keys[4] = key_of(5, side, 0, mf, 0, 0)
    keys[5] = key_of(6, side, 0, 0, 0, mt)
    keys[BOTH_FORMS] = key_of(7, side, hf, mf, 0, 0)
    keys[7] = key_of(8, side, hf, mf, 0, mt)
    keys[8] = key_of(9, side, hf, mf, ht, 0)
    keys[LAST_OF_BOTH_FORMS] = key_of(10, side, hf, mf, ht, mt)
    keys[10] = key_of(11, side, 0, mf, ht, mt)
    keys[11] = key_of(12, side, hf, 0, ht, mt)
    keys[12] = key_of(13, side, 0, 0, ht, mt)
    keys[13] = key_of(14, side, h_after, m_before, ht, mt)
    keys[14] = key_of(15, side, h_before, m_before, ht, mt)
    keys[15] = key_of(16, side, h_after, m_after, ht, mt)
    keys[16] = key_of(17, side, h_before, m_after, ht, mt)
    keys[17] = key_of(18, side, 0, m_before, ht, mt)
    keys[18] = key_of(19, side, 0, m_after, ht, mt)
    keys[19] = key_of(20, side, h_before, 0, ht, mt)
    keys[20] = key_of(21, side, h_after, 0, ht, mt)


@kernel
def fine_keys(forms, tags, fine, at, n, h, m, side, keys):
    """Append the keys of fine tags for the same arc."""
    hf, mf, ht, mt = forms[at + h], forms[at + m], tags[at + h], tags[at + m]
    h_fine, m_fine = fine[at + h], fine[at + m]
    keys[21] = key_of(23, side, 0, 0, h_fine, 0)
    keys[22] = key_of(24, side, 0, 0, 0, m_fine)
    keys[23] = key_of(25, side, 0, 0, h_fine, m_fine)
    keys[24] = key_of(26, side, 0, 0, h_fine, mt)
    keys[25] = key_of(27, side, 0, 0, ht, m_fine)
    keys[26] = key_of(28, side, hf, 0, 0, m_fine)
    keys[27] = key_of(29, side, 0, mf, h_fine, 0)
    keys[28] = key_of(30, side, tag_at(fine, at, n, m - 1), tag_at(fine, at, n, m + 1), h_fine, m_fine)
    keys[29] = key_of(31, side, tag_at(fine, at, n, h - 1), tag_at(fine, at, n, h + 1), h_fine, m_fine)


@kernel
def dependent_keys(forms, tags, fine, at, n, m, side, keys):
    """Write the keys for labels that depend on the dependent and the side of its head; return their number."""
    mf, mt = forms[at + m], tags[at + m]
    before, after = tag_at(tags, at, n, m - 1), tag_at(tags, at, n, m + 1)
    keys[0] = key_of(FIRST_LABEL_TEMPLATE, side, 0, mf, 0, 0)
    keys[1] = key_of(FIRST_LABEL_TEMPLATE + 1, side, 0, 0, 0, mt)
    keys[2] = key_of(FIRST_LABEL_TEMPLATE + 2, side, 0, mf, 0, mt)
    keys[3] = key_of(FIRST_LABEL_TEMPLATE + 3, side, before, 0, 0, mt)
    keys[4] = key_of(FIRST_LABEL_TEMPLATE + 4, side, 0, after, 0, mt)
    keys[5] = key_of(FIRST_LABEL_TEMPLATE + 5, side, before, after, 0, mt)
    if len(fine) == 0:
        return DEPENDENT_KEYS - 1
    keys[6] = key_of(FIRST_LABEL_TEMPLATE + 14, side, 0, mf, 0, fine[at + m])
    return DEPENDENT_KEYS


@kernel
def head_keys(forms, tags, at, h, side, keys):
    """Write the keys for labels that depend on the head and its side."""
    hf, ht = forms[at + h], tags[at + h]
    keys[0] = key_of(FIRST_LABEL_TEMPLATE + 6, side, hf, 0, 0, 0)
    keys[1] = key_of(FIRST_LABEL_TEMPLATE + 7, side, 0, 0, ht, 0)
    keys[2] = key_of(FIRST_LABEL_TEMPLATE + 8, side, hf, 0, ht, 0)


@kernel
def pair_keys(forms, tags, fine, at, h, m, keys):
    """Write the keys for labels that depend on both ends of an arc; return their number."""
    hf, mf, ht, mt = forms[at + h], forms[at + m], tags[at + h], tags[at + m]
    side = side_of(h, m)
    keys[0] = key_of(FIRST_LABEL_TEMPLATE + 9, side, 0, 0, ht, mt)
    keys[1] = key_of(FIRST_LABEL_TEMPLATE + 10, side, hf, 0, 0, mt)
    keys[2] = key_of(FIRST_LABEL_TEMPLATE + 11, side, 0, mf, ht, 0)
    keys[3] = key_of(FIRST_LABEL_TEMPLATE + 12, side, hf, mf, 0, 0)
    count = 4
    if h > 0:  # the root has no distance
        keys[count] = key_of(FIRST_LABEL_TEMPLATE + 9, near_side_of(h, m), 0, 0, ht, mt)
        count += 1
    if len(fine) > 0:
        keys[count] = key_of(FIRST_LABEL_TEMPLATE + 13, side, 0, 0, fine[at + h], fine[at + m])
        count += 1
    return count


@kernel
def collect_between(tags, at, h, m, between):
    """Write the different tags of the words between h and m, from h on; return their number."""
    count = 0
    step = 1 if h < m else -1
    k = h + step
    while k != m and count < MOST_BETWEEN:
        count = with_tag(between, count, tags[at + k])
        k += step
    return count


@kernel
def with_tag(between, count, tag):
    """Add a tag, unless it is present or the list is full; return the number of tags."""
    for j in range(count):
        if between[j] == tag:
            return count
    if count < MOST_BETWEEN:
        between[count] = tag
        count += 1
    return count
