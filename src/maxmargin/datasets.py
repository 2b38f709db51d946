"""Loaders of public data sets, and one small set that needs no download.

The public sets are not shipped: the environment variable ``MAXMARGIN_DATA`` names the folder that holds them,
one folder a set, and a loader that cannot find its set raises :class:`DataNotFound`. Every loader returns
plain Python lists and numpy arrays, so that any other library can be given the same data.
"""

from __future__ import annotations

import lzma
import os
import tarfile
from pathlib import Path

import numpy as np

ENVIRONMENT_VARIABLE = "MAXMARGIN_DATA"

Token = tuple[str, str]


class DataNotFound(FileNotFoundError):  # noqa: N818 - what happened is the better name
    """A data set was asked for that is not on this machine."""


def data_folder(name: str) -> Path:
    """The folder of the data set ``name`` inside the folder that ``MAXMARGIN_DATA`` names."""
    root = os.environ.get(ENVIRONMENT_VARIABLE)
    if not root:
        raise DataNotFound(
            f"The data set {name!r} was not found because the environment variable {ENVIRONMENT_VARIABLE}, "
            "which names the folder of data sets, is not set."
        )
    folder = Path(root) / name
    if not folder.is_dir():
        raise DataNotFound(
            f"The data set {name!r} was not found because the folder {root!r}, which {ENVIRONMENT_VARIABLE} "
            "names, does not contain it."
        )
    return folder


def _data_file(name: str, file: str) -> Path:
    path = data_folder(name) / file
    if not path.is_file():
        raise DataNotFound(f"The data set {name!r} is incomplete because its folder has no file {file!r}.")
    return path


def _check_split(split: str) -> None:
    if split not in ("train", "test"):
        raise ValueError(f"split must be 'train' or 'test', not {split!r}.")


def load_conll2000(split: str) -> tuple[list[list[Token]], list[list[str]]]:
    """CoNLL-2000 chunking: ``(sentences, tags)``, a token being ``(word, part of speech)`` and tags IOB2.

    8936 training and 2012 test sentences of the Wall Street Journal (Tjong Kim Sang and Buchholz,
    "Introduction to the CoNLL-2000 shared task: chunking", CoNLL 2000).
    """
    _check_split(split)
    sentences: list[list[Token]] = []
    tags: list[list[str]] = []
    with lzma.open(_data_file("conll2000_chunking", f"{split}.txt.xz"), "rt", encoding="utf-8") as lines:
        new_sentence = True
        for line in lines:
            columns = line.split()
            if not columns:
                new_sentence = True
                continue
            if new_sentence:
                sentences.append([])
                tags.append([])
                new_sentence = False
            word, pos, tag = columns
            sentences[-1].append((word, pos))
            tags[-1].append(tag)
    return sentences, tags


def word_shape(word: str) -> str:
    """Capitals as ``X``, small letters as ``x``, digits as ``d``, and runs of one kind cut to two.

    Cutting the runs keeps the number of shapes small: ``Microsoft`` and ``London`` are both ``Xxx``.
    """
    shape: list[str] = []
    for character in word:
        if character.isdigit():
            kind = "d"
        elif character.isalpha():
            kind = "X" if character.isupper() else "x"
        else:
            kind = character
        if shape[-2:] != [kind, kind]:
            shape.append(kind)
    return "".join(shape)


def chunk_features(sentence: list[Token]) -> list[list[str]]:
    """Attribute strings of every token of a sentence: about 30 a token, each either present or absent.

    The windows of words and parts of speech are those of the CRFsuite chunking tutorial (Okazaki, "CRFsuite:
    a fast implementation of Conditional Random Fields", 2007): words and tags from two before to two after,
    the two word bigrams that touch the token, all tag bigrams and trigrams. To these come the lower-cased
    word, prefixes and suffixes, the shape and the kind of characters of the word.
    """
    n = len(sentence)
    # Two pads on either side, so that every window is a plain slice.
    words = ["<s2>", "<s1>", *(word for word, _ in sentence), "</s1>", "</s2>"]
    poses = ["<s2>", "<s1>", *(pos for _, pos in sentence), "</s1>", "</s2>"]
    result: list[list[str]] = []
    for t in range(n):
        w = words[t : t + 5]
        p = poses[t : t + 5]
        word = w[2]
        lower = word.lower()
        attributes = ["bias"]
        attributes += [f"w[{k - 2}]={w[k]}" for k in range(5)]
        attributes += [f"w[{k - 2}]|w[{k - 1}]={w[k]}|{w[k + 1]}" for k in (1, 2)]
        attributes += [f"pos[{k - 2}]={p[k]}" for k in range(5)]
        attributes += [f"pos[{k - 2}]|pos[{k - 1}]={p[k]}|{p[k + 1]}" for k in range(4)]
        attributes += [f"pos[{k - 2}]|pos[{k - 1}]|pos[{k}]={p[k]}|{p[k + 1]}|{p[k + 2]}" for k in range(3)]
        attributes += [f"lower={lower}", f"shape={word_shape(word)}"]
        attributes += [f"prefix{k}={lower[:k]}" for k in (2, 3)]
        attributes += [f"suffix{k}={lower[-k:]}" for k in (2, 3, 4)]
        if word[0].isupper():
            attributes.append("capital-first")
        if word.isupper():
            attributes.append("capital-all")
        if any(character.isdigit() for character in word):
            attributes.append("digit-some")
        if word.isdigit():
            attributes.append("digit-all")
        if "-" in word:
            attributes.append("hyphen")
        if t == 0:
            attributes.append("first")
        if t == n - 1:
            attributes.append("last")
        result.append(attributes)
    return result


def load_ocr_letters() -> tuple[list[np.ndarray], list[list[str]], np.ndarray]:
    """Handwritten words: ``(X, Y, folds)``, a word being a ``(letters, 128)`` array of 0/1 and its letters.

    6877 words in ten folds, numbered 0 to 9 (Kassel 1995; Taskar, Guestrin and Koller, "Max-margin Markov
    networks", NIPS 2003). The first letter of every word, a capital, was left out by the collectors.
    """
    with np.load(_data_file("ocr_letters", "letters.npz"), allow_pickle=False) as file:
        pixels = file["pixels"].astype(np.float64)
        letters = file["letters"]
        offsets = file["word_offsets"]
        folds = file["folds"].astype(np.intp)
    names = [chr(ord("a") + int(letter)) for letter in letters]
    words = list(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True))
    return [pixels[a:b] for a, b in words], [names[a:b] for a, b in words], folds


def load_mnist(split: str) -> tuple[np.ndarray, np.ndarray]:
    """MNIST: ``(X, y)``, 60,000 or 10,000 images of 28 x 28 grey values scaled to [0, 1], and their digits.

    LeCun, Bottou, Bengio and Haffner, "Gradient-based learning applied to document recognition", Proc. IEEE
    1998.
    """
    _check_split(split)
    prefix = {"train": "train", "test": "t10k"}[split]
    # The idx headers are of known length: magic number, count (and rows, columns), four bytes each.
    with lzma.open(_data_file("mnist", f"{prefix}-images-idx3-ubyte.xz")) as file:
        images = np.frombuffer(file.read(), dtype=np.uint8, offset=16).reshape(-1, 28 * 28)
    with lzma.open(_data_file("mnist", f"{prefix}-labels-idx1-ubyte.xz")) as file:
        digits = np.frombuffer(file.read(), dtype=np.uint8, offset=8)
    return images / 255.0, digits.astype(np.intp)


def load_usps(split: str) -> tuple[np.ndarray, np.ndarray]:
    """USPS digits: ``(X, y)``, 7291 or 2007 images of 16 x 16 grey values in [-1, 1], and their digits.

    Le Cun et al., "Handwritten digit recognition with a back-propagation network", NIPS 1990; the files are
    those of Hastie, Tibshirani and Friedman, *The Elements of Statistical Learning*.
    """
    _check_split(split)
    with lzma.open(_data_file("usps", f"zip.{split}.txt.xz"), "rt", encoding="ascii") as file:
        table = np.loadtxt(file)
    return np.ascontiguousarray(table[:, 1:]), table[:, 0].astype(np.intp)


def load_20newsgroups(split: str) -> tuple[list[str], list[str]]:
    """20 Newsgroups, split by date: ``(texts, labels)``, posts with headers and the names of their groups.

    11314 training and 7532 test posts (Lang, "NewsWeeder: learning to filter netnews", ICML 1995).
    """
    _check_split(split)
    texts: list[str] = []
    labels: list[str] = []
    with tarfile.open(_data_file("20newsgroups", "20news-bydate.tar.xz"), "r:xz") as archive:
        for member in archive:
            parts = member.name.split("/")
            if not member.isfile() or parts[0] != f"20news-bydate-{split}":
                continue
            file = archive.extractfile(member)
            assert file is not None  # isfile() above
            texts.append(file.read().decode("latin-1"))
            labels.append(parts[1])
    return texts, labels


def digit_strings(
    n_train: int = 100, n_test: int = 100, seed: int = 0
) -> tuple[list[np.ndarray], list[list[int]], list[np.ndarray], list[list[int]]]:
    """Strings of handwritten digits that mostly count upwards: ``(X_train, Y_train, X_test, Y_test)``.

    A string has 5 to 9 digits; each is its predecessor plus one (modulo ten) four times out of five and any
    digit otherwise, so that a model of neighbouring labels can do better than reading each digit alone. Every
    digit is shown by a real 8 x 8 image of that digit, scaled to [0, 1], drawn (with replacement) from the
    set that scikit-learn brings along; no image is used both for training and for testing. Needs no
    ``MAXMARGIN_DATA``.
    """
    # Imported here because it is the one loader that needs scikit-learn.
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
