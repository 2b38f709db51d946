"""Search for the best window of a motif, and features of windows as sparse rows.

A window of `length` letters that begins at h gains Σ_j motif[s, j, x[h + j]] - Σ_j background[contexts[h + j]] over the
string without a motif, on strand s. The first sum is looked up in tables of words (several letters at once): the words
that begin at h + offsets[q] cover the window.
"""

from __future__ import annotations

from numba import uint64

from maxmargin.base.compiled.kernel import kernel


@kernel
def fill_tables(motif, offsets, width, tables):
    """Set tables[q, word, s] = Σ motif[s, j, letter] over the positions j >= q · width of the word at offsets[q].

    The last word may overlap the one before it, whose positions it leaves out.
    """
    n_strands, _, size = motif.shape
    for q in range(len(offsets)):
        for word in range(tables.shape[1]):
            for s in range(n_strands):
                rest, total = word, 0.0
                for back in range(width):
                    j = offsets[q] + width - 1 - back
                    if j < q * width:
                        break
                    total += motif[s, j, rest % size]
                    rest //= size
                tables[q, word, s] = total


@kernel
def best_windows(ids, runs, run_bounds, words, contexts, tables, offsets, background, length, starts, strands, gains):
    """Find the window of every string ids[e] with the highest gain; ties go to the first.

    starts are positions in the flat arrays; -1 (with a gain of -inf) if no run is long enough. Both strands are
    searched at once, because they use the same words. Indices are unsigned, because numba checks whether signed ones
    are negative.
    """
    n_words, both = tables.shape[0], tables.shape[2] == 2
    for e in range(len(ids)):
        best, start, strand = -float("inf"), -1, 0
        for r in range(run_bounds[ids[e]], run_bounds[ids[e] + 1]):
            begin, end = runs[r, 0], runs[r, 1]
            if end - begin < length:
                continue
            ground = 0.0
            for t in range(begin, begin + length - 1):
                ground += background[contexts[t]]
            for h in range(begin, end - length + 1):
                ground += background[contexts[uint64(h + length - 1)]]
                gain, reverse_gain = -ground, -ground
                for q in range(n_words):
                    word = words[uint64(h + offsets[uint64(q)])]
                    gain += tables[uint64(q), word, uint64(0)]
                    if both:
                        reverse_gain += tables[uint64(q), word, uint64(1)]
                if gain > best:
                    best, start, strand = gain, h, 0
                if both and reverse_gain > best:
                    best, start, strand = reverse_gain, h, 1
                ground -= background[contexts[uint64(h)]]
        starts[e], strands[e], gains[e] = start, strand, best


@kernel
def add_window(start, strand, sign, letters, size, length, no_background, indices, values, top):
    """Append sign · (features of a motif at this window - those of the background there), and return the new length.

    `letters` are the codes and contexts of all letters, and the complement of every code.
    """
    codes, contexts, complement = letters
    for j in range(length):
        code = codes[start + j]
        if strand == 0:
            indices[top] = j * size + code
        else:
            indices[top] = (length - 1 - j) * size + complement[code]
        values[top] = sign
        top += 1
        if contexts[start + j] != no_background:
            indices[top], values[top] = length * size + contexts[start + j], -sign
            top += 1
    return top


@kernel
def window_differences(first, second, letters, size, length, no_background, indptr, indices, values):
    """Write rows of Ψ with motifs at the ChosenWindows `first` minus Ψ with motifs at `second`; -1 means no motif."""
    top = 0
    for e in range(len(first.starts)):
        start, strand = first.starts[e], first.strands[e]
        other, other_strand = second.starts[e], second.strands[e]
        if start != other or strand != other_strand:
            if start >= 0:
                top = add_window(start, strand, 1.0, letters, size, length, no_background, indices, values, top)
            if other >= 0:
                top = add_window(other, other_strand, -1.0, letters, size, length, no_background, indices, values, top)
        indptr[e + 1] = top
