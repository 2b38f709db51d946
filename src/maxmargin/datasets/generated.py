"""Small sets that need no download: strings of the digits that scikit-learn brings along, and sequences that mutate."""

from __future__ import annotations

import numpy as np

from maxmargin.structures.alignment.alignments import PairwiseAlignment


def digit_strings(
    n_train: int = 100, n_test: int = 100, seed: int = 0
) -> tuple[list[np.ndarray], list[list[int]], list[np.ndarray], list[list[int]]]:
    """Strings of handwritten digits that mostly count upwards: ``(X_train, Y_train, X_test, Y_test)``.

    A string has 5 to 9 digits; each is its predecessor plus one (modulo ten) four times out of five and any
    digit otherwise, so that a model of neighbouring labels can do better than reading each digit alone. Every
    digit is shown by a real 8 x 8 image of that digit, scaled to [0, 1], drawn (with replacement) from the
    set that scikit-learn brings along; no image is used both for training and for testing.
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
    """Sequences beside what has become of them, and which residues correspond: ``(pairs, alignments)``.

    The first sequence of a pair is random. Every residue of it stays with probability ``keep``; otherwise it changes,
    three times out of four into its partner (A and G, C and T in DNA: the letter half an alphabet away) and else into
    any letter. Before each residue, a piece of the sequence is lost with probability ``gap``, and with the same
    probability random letters come in; these pieces have two residues on average.
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
        if aligned:  # a very short sequence may be lost altogether
            a, b = ("".join(alphabet[k] for k in codes) for codes in (first, second))
            pairs.append((a, b))
            alignments.append(PairwiseAlignment(np.array(aligned), (len(a), len(b))))
    return pairs, alignments
