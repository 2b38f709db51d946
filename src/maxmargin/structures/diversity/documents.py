"""Documents: the input of diversification, the candidate documents of a query and the words they contain."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from maxmargin.base.arrays import Array
from maxmargin.base.checks import refuse_complex
from maxmargin.inputs.matrices import bad_number, table_columns, without_duplicates

ANY = "any"  # the name of all fields together
ONLY = "text"  # the only field of documents that are plain texts


class Documents:
    """The candidate documents of one query, optionally with the query and features of documents.

    Parameters
    ----------
    documents : list, sparse matrix or dict
        Texts, or dicts {field: text} such as {"title": …, "body": …}; or word counts, a sparse matrix
        (documents, words) or {field: matrix} with the same words in the same columns.
    query : str or sequence of int, optional
        The text of the query or, with word counts, the column numbers of its words. The words of the query do not count
        as covered. Give the query both for training and prediction, or for neither. The relevance orders of
        maxmargin.baselines need it.
    features : array or table of shape (documents, F), optional
        Features of single documents, such as their rank by a search engine. A trained model names its weights by the
        columns of a table.

    See Also
    --------
    maxmargin.Diversifier : The estimator, which takes lists of Documents.

    Examples
    --------
    >>> from maxmargin import tasks
    >>> tasks.Documents(["red apple", "green apple"], query="apple")
    Documents(2 documents, query='apple')
    """

    def __init__(self, documents: Any, query: Any = None, features: Any = None):
        self.documents, self.query, self.features = documents, query, features

    def __len__(self) -> int:
        first = next(iter(self.documents.values())) if isinstance(self.documents, Mapping) else self.documents
        return int(first.shape[0]) if sparse.issparse(first) else len(first)

    def __repr__(self) -> str:
        return f"Documents({len(self)} documents, query={self.query!r})"


class WordCounts:
    """Word counts per field of the documents of one query, the input of all searches.

    Every query has its own numbering of words, because no weight belongs to a single word.
    """

    fields: dict[str, sparse.csr_array]  # an (n, words) matrix for each field
    query: NDArray[np.int64] | None  # word numbers of the query, repeated as often as they occur
    features: Array  # (n, F) features of the documents
    feature_names: list[str] | None  # F names, if the features were given as a table

    def __init__(self, fields: dict[str, Any], query: Any = None, features: Any = None):
        self.fields = {name: _checked_counts(fields[name], name) for name in sorted(fields)}
        shapes = {name: counts.shape for name, counts in self.fields.items()}
        first = next(iter(shapes))
        for name, shape in shapes.items():
            if shape != shapes[first]:
                raise ValueError(
                    f"the counts of field {name!r} have shape {shape} but the counts of field {first!r} have shape "
                    f"{shapes[first]}; expected the same documents and words"
                )
        if ANY in shapes:
            raise ValueError(f"a field is called {ANY!r}, which means all fields together; rename the field")
        if not shapes[first][0]:
            raise ValueError("there are no documents; expected at least one")
        self.query = _checked_query(query, shapes[first][1])
        self.feature_names = table_columns(features)
        self.features = _checked_features(features, shapes[first][0])

    def __len__(self) -> int:
        """Return the number of documents."""
        return int(next(iter(self.fields.values())).shape[0])

    def counts(self, field: str = ANY) -> sparse.csr_array:
        """Return the (documents, words) counts of a field, or of all fields together."""
        if field != ANY:
            return self.fields[field]
        total = None
        for counts in self.fields.values():
            total = counts if total is None else total + counts
        return sparse.csr_array(total)


def read_all(X: Any, vectorizer: Any = None, wordless: bool = False) -> list[WordCounts]:
    """Read queries given as Documents, WordCounts, lists of texts or dicts, sparse matrices, or dicts of matrices.

    wordless : whether queries without any words are allowed, as in prediction; training cannot use them.
    """
    single = isinstance(X, str | Documents | WordCounts | Mapping) or sparse.issparse(X) or not isinstance(X, Iterable)
    if single:
        raise ValueError(f"X is of type {type(X).__name__}; expected a list of queries, each a list of documents")
    queries = []
    for i, x in enumerate(X):
        try:
            queries.append(read(x, vectorizer))
            if not wordless and not any(counts.nnz for counts in queries[-1].fields.values()):
                raise ValueError("no document contains a word; expected at least one document with words")
        except ValueError as error:
            raise ValueError(f"query {i}: {error}") from None
    return queries


def read(x: Any, vectorizer: Any = None) -> WordCounts:
    """Count the words of one query's documents.

    Texts are counted by a copy of the vectorizer that is fitted to this query's documents, so that words that do not
    occur in training matter as much as others. All fields share one vocabulary.
    """
    if isinstance(x, WordCounts):
        return x
    given = x if isinstance(x, Documents) else Documents(x)
    documents = given.documents
    if sparse.issparse(documents):
        return WordCounts({ONLY: documents}, given.query, given.features)
    if isinstance(documents, Mapping):
        if not documents:
            raise ValueError("there are no fields; expected a sparse matrix of word counts for at least one field")
        for name, counts in documents.items():
            if not sparse.issparse(counts):
                raise ValueError(
                    f"field {name!r} is of type {type(counts).__name__}; expected a sparse matrix of counts of words"
                )
        return WordCounts(dict(documents), given.query, given.features)
    return _count(_texts(documents), given.query, given.features, vectorizer)


def _texts(documents: Any) -> dict[str, list[str]]:
    """Return, for every field, the texts of all documents."""
    if isinstance(documents, str) or not isinstance(documents, Sequence | np.ndarray):
        raise ValueError(
            f"the documents are of type {type(documents).__name__}; expected a list of texts, a list of dicts of texts "
            "(one for each field), or a sparse matrix of counts of words"
        )
    if not len(documents):
        raise ValueError("there are no documents; expected at least one")
    first = documents[0]
    names = sorted(first) if isinstance(first, Mapping) else [ONLY]
    for d, document in enumerate(documents):
        texts = [document[name] for name in sorted(document)] if isinstance(document, Mapping) else [document]
        if isinstance(document, Mapping) != isinstance(first, Mapping) or (
            isinstance(document, Mapping) and sorted(document) != names
        ):
            found = f"the fields {', '.join(sorted(document))}" if isinstance(document, Mapping) else "no fields"
            wanted = f"the fields {', '.join(names)}" if isinstance(first, Mapping) else "none"
            raise ValueError(f"document {d} has {found}; expected {wanted} as in document 0 (a field may be '')")
        for text in texts:
            if not isinstance(text, str):
                raise ValueError(f"document {d} contains {text!r}; expected a text (an empty document is '')")
    if not names:
        raise ValueError("document 0 has no fields; expected texts, or dicts with a text for each field")
    if isinstance(first, Mapping):
        return {name: [document[name] for document in documents] for name in names}
    return {ONLY: list(documents)}


def _count(texts: dict[str, list[str]], query: Any, features: Any, vectorizer: Any) -> WordCounts:
    if query is not None and not isinstance(query, str):
        raise ValueError(f"the query is {query!r}; expected a text, as the documents are texts")
    if vectorizer is None:
        from sklearn.feature_extraction.text import CountVectorizer

        vectorizer = CountVectorizer()
    if not hasattr(vectorizer, "fit") or not hasattr(vectorizer, "transform"):
        raise ValueError(f"vectorizer is {vectorizer!r}; expected one of scikit-learn's, such as CountVectorizer()")
    counter = clone(vectorizer) if hasattr(vectorizer, "get_params") else deepcopy(vectorizer)
    try:
        counter.fit([text for field in texts.values() for text in field])
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        none = {name: sparse.csr_array((len(each), 0)) for name, each in texts.items()}
        return WordCounts(none, None, features)
    fields = {name: counter.transform(field) for name, field in texts.items()}
    numbers = None
    if query is not None:
        row = sparse.csr_array(counter.transform([query]))
        numbers = np.repeat(row.indices, np.maximum(np.rint(row.data), 1).astype(np.int64))
    return WordCounts(fields, numbers, features)


def _checked_counts(counts: Any, field: str) -> sparse.csr_array:
    matrix = without_duplicates(sparse.csr_array(counts, dtype=np.float64, copy=True))
    bad = bad_number(matrix)
    if bad is not None:
        raise ValueError(
            f"the count of word {bad[1]} in field {field!r} of document {bad[0]} is {bad[2]}; expected a finite number"
        )
    matrix.eliminate_zeros()
    negative = np.flatnonzero(matrix.data < 0)
    if len(negative):
        d = int(np.searchsorted(matrix.indptr, negative[0], side="right")) - 1
        raise ValueError(
            f"the count of word {matrix.indices[negative[0]]} in field {field!r} of document {d} is "
            f"{matrix.data[negative[0]]:g}; expected counts >= 0 (use HashingVectorizer with alternate_sign=False)"
        )
    return matrix


def _checked_query(query: Any, n_words: int) -> NDArray[np.int64] | None:
    if query is None:
        return None
    try:
        numbers = np.asarray(query)
    except ValueError:
        numbers = np.empty((0, 0))
    good = numbers.ndim == 1 and (numbers.dtype.kind in "iu" or not len(numbers))
    if not good or (len(numbers) and not (numbers.min() >= 0 and numbers.max() < n_words)):
        raise ValueError(
            f"the query is {query!r}; expected the numbers of its words, from 0 to {n_words - 1}, as the documents are "
            "counts of words"
        )
    return numbers.astype(np.int64)


def _checked_features(features: Any, n: int) -> Array:
    if features is None:
        return np.empty((n, 0))
    refuse_complex("the matrix of document features", features)
    try:
        matrix = np.ascontiguousarray(features, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"the features of documents must be a ({n}, F) array of numbers") from None
    if matrix.ndim != 2 or len(matrix) != n:
        raise ValueError(f"the features of documents have shape {matrix.shape}; expected ({n}, F), a row per document")
    bad = bad_number(matrix)
    if bad is not None:
        raise ValueError(f"feature {bad[1]} of document {bad[0]} is {bad[2]}; expected a finite number")
    return matrix
