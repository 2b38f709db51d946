"""Small data sets that need no download: strings of scikit-learn's handwritten digits, and mutated sequences."""

from __future__ import annotations

import numpy as np

from maxmargin.structures.alignment.alignments import PairwiseAlignment


def digit_strings(
    n_train: int = 100, n_test: int = 100, seed: int = 0
) -> tuple[list[np.ndarray], list[list[int]], list[np.ndarray], list[list[int]]]:
    """Generate strings of handwritten digits that mostly count upwards.

    A string has 5 to 9 digits; each is its predecessor plus one (modulo ten) four times out of five and any digit
    otherwise, so that a model of adjacent labels can do better than reading each digit alone. Every digit is shown by a
    real 8 x 8 image of that digit, scaled to [0, 1], drawn (with replacement) from scikit-learn's data set; no image is
    used both for training and for testing.

    Parameters
    ----------
    n_train, n_test : int
        The numbers of strings.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    (X_train, Y_train, X_test, Y_test) : lists of (digits, 64) arrays and of lists of digits.

    Examples
    --------
    >>> from maxmargin.datasets import digit_strings
    >>> X, Y, _, _ = digit_strings(n_train=2, n_test=1)
    >>> X[0].shape[1], len(X[0]) == len(Y[0])
    (64, True)
    """
    # Imported here because it is the one function that needs scikit-learn's data.
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    images = images / 16.0
    rng = np.random.default_rng(seed)
    in_train = rng.random(len(digits)) < 0.5

    def strings(count: int, usable: np.ndarray) -> tuple[list[np.ndarray], list[list[int]]]:
        pools = [np.flatnonzero(usable & (digits == digit)) for digit in range(10)]
        X: list[np.ndarray] = []
        Y: list[list[int]] = []
        for _ in range(count):
            string = [int(rng.integers(10))]
            for _ in range(int(rng.integers(4, 9))):
                counts_on = rng.random() < 0.8
                string.append((string[-1] + 1) % 10 if counts_on else int(rng.integers(10)))
            X.append(images[[rng.choice(pools[digit]) for digit in string]])
            Y.append(string)
        return X, Y

    X_train, Y_train = strings(n_train, in_train)
    X_test, Y_test = strings(n_test, ~in_train)
    return X_train, Y_train, X_test, Y_test


def mutated_pairs(
    n: int, length: int = 60, alphabet: str = "ACGT", keep: float = 0.5, gap: float = 0.05, seed: int = 0
) -> tuple[list[tuple[str, str]], list[PairwiseAlignment]]:
    """Generate pairs of a sequence and its mutated copy, with their alignments.

    The first sequence of a pair is random. Each of its residues is kept with probability ``keep``; otherwise it
    changes, three times out of four into its partner (A and G, C and T in DNA: the letter half an alphabet away) and
    otherwise into any letter. Before each residue, a piece of the sequence is deleted with probability ``gap``, and
    with the same probability random letters are inserted; these pieces have two residues on average.

    Parameters
    ----------
    n : int
        The number of pairs.
    length : int
        The length of the first sequences.
    alphabet : str
        The letters.
    keep, gap : float
        The probabilities of keeping a residue and of a gap.
    seed : int
        The seed of the random numbers.

    Returns
    -------
    (pairs, alignments) : a list of pairs of strings, and a list of PairwiseAlignment.

    Examples
    --------
    >>> from maxmargin.datasets import mutated_pairs
    >>> pairs, alignments = mutated_pairs(2, length=8)
    >>> len(pairs[0][0]), len(alignments)
    (8, 2)

    See Also
    --------
    maxmargin.Aligner : learns to align such pairs.
    """
    if n < 1 or length < 1 or len(set(alphabet)) != len(alphabet) or len(alphabet) < 2:
        raise ValueError(
            f"n={n} and length={length} must be at least 1, and alphabet={alphabet!r} two or more different letters"
        )
    if not (0 <= keep <= 1 and 0 <= gap < 0.5):
        raise ValueError(f"keep={keep} must be from 0 to 1, and gap={gap} from 0 to less than 0.5")
    rng = np.random.default_rng(seed)
    n_letters = len(alphabet)
    pairs: list[tuple[str, str]] = []
    alignments: list[PairwiseAlignment] = []
    while len(pairs) < n:
        first = rng.integers(n_letters, size=length)
        second: list[int] = []
        aligned = []
        i = 0
        while i < length:
            event = rng.random()
            if event < gap:
                i += int(rng.geometric(0.5))
            elif event < 2 * gap:
                second += rng.integers(n_letters, size=rng.geometric(0.5)).tolist()
            else:
                aligned.append((i, len(second)))
                kind = rng.random()
                if kind < keep:
                    second.append(int(first[i]))
                elif kind < keep + 0.75 * (1 - keep):
                    second.append(int(first[i] + n_letters // 2) % n_letters)
                else:
                    second.append(int(rng.integers(n_letters)))
                i += 1
        if aligned:  # a very short sequence may be deleted completely
            a, b = ("".join(alphabet[k] for k in codes) for codes in (first, second))
            pairs.append((a, b))
            alignments.append(PairwiseAlignment(np.array(aligned), (len(a), len(b))))
    return pairs, alignments
