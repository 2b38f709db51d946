"""Orders of documents without learning, as baselines for Diversifier.

Each function takes the candidate documents of one query and returns the numbers of the first n of them (all by
default). Ties keep the given order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from maxmargin.base.arrays import Array
from maxmargin.base.checks import is_real, is_whole
from maxmargin.structures.diversity.documents import WordCounts, read
from maxmargin.structures.diversity.word_coverage import entropy, greedy_order

Order = NDArray[np.int64]


def random_order(x: Any, n: int | None = None, random_state: int = 0, vectorizer: Any = None) -> Order:
    """Order documents at random.

    Parameters
    ----------
    x : list, sparse matrix or tasks.Documents
        The candidate documents of one query, as for Diversifier.
    n : int or None
        The number of documents to return; None for all.
    random_state : int
        Seed of the random order.
    vectorizer : object or None
        Counts the words of texts, as in Diversifier.

    Returns
    -------
    array of shape (n,)
        The numbers of the documents, in order.

    See Also
    --------
    maxmargin.Diversifier : Learns an order.

    Examples
    --------
    >>> from maxmargin import baselines
    >>> sorted(baselines.random_order(["red apple", "red", "blue"]).tolist())
    [0, 1, 2]
    """
    documents = read(x, vectorizer)
    drawn = np.random.default_rng(random_state).permutation(len(documents))
    return drawn[: _first(n, documents)].astype(np.int64)


def unweighted_words(x: Any, n: int | None = None, vectorizer: Any = None) -> Order:
    """Order documents greedily by the number of words that are not yet covered.

    Parameters
    ----------
    x, n, vectorizer
        As for `random_order`.

    Returns
    -------
    array of shape (n,)
        The numbers of the documents, in order.

    See Also
    --------
    essential_pages : The same with a fixed importance of words.

    Examples
    --------
    >>> from maxmargin import baselines
    >>> baselines.unweighted_words(["red", "red apple", "blue"]).tolist()
    [1, 2, 0]
    """
    return _greedy(read(x, vectorizer), n, np.ones_like)


def essential_pages(x: Any, n: int | None = None, vectorizer: Any = None) -> Order:
    """Order documents greedily by the importance -r log2 r of the words that are not yet covered.

    r is the share of the candidates that contain a word: words that all candidates contain do not distinguish them,
    and words of a single one are of little use. The idea is from Swaminathan, Mathew and Kirovski, "Essential Pages"
    (2008); the formula is an entropy with its maximum at r = 1/e, not theirs.

    Parameters
    ----------
    x, n, vectorizer
        As for `random_order`.

    Returns
    -------
    array of shape (n,)
        The numbers of the documents, in order.

    See Also
    --------
    unweighted_words : The same with equal importance of all words.

    Examples
    --------
    >>> from maxmargin import baselines
    >>> baselines.essential_pages(["red", "red apple", "blue", "green apple"]).tolist()
    [1, 2, 3, 0]
    """
    return _greedy(read(x, vectorizer), n, entropy)


def okapi(x: Any, n: int | None = None, k1: float = 1.2, b: float = 0.75, vectorizer: Any = None) -> Order:
    """Order documents by their Okapi BM25 scores for the query, which ignore the other documents.

        Σ_q log(1 + (N - n_q + ½) / (n_q + ½)) · f_q (k1 + 1) / (f_q + k1 (1 - b + b · length / mean length))

    for the words q of the query, where q occurs f_q times in the document and in n_q of the N candidates
    (Robertson et al. 1994).

    Parameters
    ----------
    x : tasks.Documents
        The candidate documents with their query: tasks.Documents(texts, query="…").
    n, vectorizer
        As for `random_order`.
    k1, b : float
        Saturation of f_q and normalisation of lengths.

    Returns
    -------
    array of shape (n,)
        The numbers of the documents, in order.

    See Also
    --------
    marginal_relevance : Takes their similarity into account too.

    Examples
    --------
    >>> from maxmargin import baselines, tasks
    >>> baselines.okapi(tasks.Documents(["red pear", "blue apple", "apple"], query="apple")).tolist()
    [2, 1, 0]
    """
    documents = read(x, vectorizer)
    scores = _okapi_scores(documents, k1, b)
    return np.argsort(-scores, kind="stable")[: _first(n, documents)].astype(np.int64)


def marginal_relevance(x: Any, n: int | None = None, balance: float = 0.5, vectorizer: Any = None) -> Order:
    """Order documents by maximal marginal relevance: relevant ones that differ from those before.

    The next document has the highest balance · relevance - (1 - balance) · similarity to the most similar one before
    it (Carbonell and Goldstein 1998). Relevance is the BM25 score divided by the highest one, similarity the cosine of
    vectors with the entries f_v log((1 + N) / (1 + n_v)).

    Parameters
    ----------
    x, n, vectorizer
        As for `okapi`.
    balance : float
        From 0 (diversity alone) to 1 (relevance alone).

    Returns
    -------
    array of shape (n,)
        The numbers of the documents, in order.

    See Also
    --------
    okapi : Relevance alone.

    Examples
    --------
    >>> from maxmargin import baselines, tasks
    >>> x = tasks.Documents(["red apple", "red apple", "green apple pie"], query="apple")
    >>> baselines.marginal_relevance(x).tolist()
    [0, 2, 1]
    """
    if not is_real(balance) or not 0 <= balance <= 1:
        raise ValueError(f"balance must be a number from 0 (diversity alone) to 1 (relevance alone), got {balance!r}")
    documents = read(x, vectorizer)
    scores = _okapi_scores(documents, 1.2, 0.75)
    relevance = scores / scores.max() if scores.max() > 0 else scores
    counts = documents.counts()
    n_documents = np.bincount(counts.indices, minlength=counts.shape[1])
    weighted = sparse.csr_array(counts.multiply(np.log((1 + len(documents)) / (1 + n_documents))[None, :]))
    lengths = np.sqrt(np.asarray(weighted.multiply(weighted).sum(axis=1)).reshape(-1))
    similar = np.asarray((weighted @ weighted.T).toarray())
    similar = np.divide(
        similar, np.outer(lengths, lengths), out=np.zeros_like(similar), where=np.outer(lengths, lengths) > 0
    )
    order: list[int] = []
    nearest, free = np.zeros(len(documents)), np.ones(len(documents), dtype=bool)
    for _ in range(_first(n, documents)):
        gains = np.where(free, balance * relevance - (1 - balance) * nearest, -np.inf)
        order.append(int(np.argmax(gains)))
        free[order[-1]] = False
        nearest = np.maximum(nearest, similar[order[-1]])
    return np.array(order, dtype=np.int64)


def _greedy(documents: WordCounts, n: int | None, importance: Callable[[Array], Array]) -> Order:
    counts = documents.counts()
    shares = np.bincount(counts.indices, minlength=counts.shape[1]) / len(documents)
    indptr, items = counts.indptr.astype(np.int64), counts.indices.astype(np.int32)
    values = np.ascontiguousarray(importance(shares), dtype=np.float64)
    return greedy_order(indptr, items, values, np.zeros(len(documents)), _first(n, documents))


def _okapi_scores(documents: WordCounts, k1: float, b: float) -> Array:
    if documents.query is None:
        raise ValueError("the query is not known; use tasks.Documents(documents, query=…) to pass documents and query")
    counts = documents.counts()
    n = len(documents)
    lengths = np.asarray(counts.sum(axis=1)).reshape(-1)
    damping = k1 * (1 - b + b * lengths / lengths.mean())
    n_documents = np.bincount(counts.indices, minlength=counts.shape[1])
    scores = np.zeros(n)
    for word in documents.query:
        times = counts[:, [word]].toarray()[:, 0]
        rarity = np.log1p((n - n_documents[word] + 0.5) / (n_documents[word] + 0.5))
        scores += np.divide(rarity * times * (k1 + 1), times + damping, out=np.zeros(n), where=times > 0)
    return scores


def _first(n: Any, documents: WordCounts) -> int:
    if n is None:
        return len(documents)
    if not is_whole(n) or not 1 <= int(n) <= len(documents):
        raise ValueError(f"n is {n!r}; expected a number of documents from 1 to {len(documents)}, or None for all")
    return int(n)
