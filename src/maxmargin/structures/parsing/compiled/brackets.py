"""Count the brackets of derivations, and those of them that are true."""

from maxmargin.base.compiled.kernel import kernel
from maxmargin.structures.parsing.compiled.cky import cell

TRUE, FOUND = 1, 2  # bits of a labelled span


@kernel
def mark_brackets(rows, n, rules, bit, table):
    """Set a bit at every labelled span of a derivation of n words."""
    for x in range(len(rows)):
        chain, rule = rows[x, 0], rows[x, 1]
        c = cell(rows[x, 2], rows[x, 4], n)
        if rule >= 0 and rules.label[rules.parent[rule]] >= 0:
            table[c, rules.label[rules.parent[rule]]] |= bit
        if chain >= 0:
            for e in range(rules.step[chain], rules.step[chain + 1]):
                table[c, rules.step_label[e]] |= bit


@kernel
def count_brackets(true_rows, rows, ends, rules, table, counts):
    """Count, for sentences with concatenated rows, the labelled spans that are true, that are found, and that are both.

    `ends` are the ends of their rows, 2n - 1 for n words. `table` is memory that is large enough for the longest.
    """
    first = 0
    for x in range(len(ends)):
        n = (ends[x] - first + 1) // 2
        here = table[: n * (n + 1) // 2]
        here[:] = 0
        mark_brackets(true_rows[first : ends[x]], n, rules, TRUE, here)
        mark_brackets(rows[first : ends[x]], n, rules, FOUND, here)
        for c in range(len(here)):
            for label in range(here.shape[1]):
                bits = here[c, label]
                counts[x, 0] += bits & TRUE
                counts[x, 1] += bits // FOUND
                counts[x, 2] += bits // (TRUE + FOUND)
        first = ends[x]
