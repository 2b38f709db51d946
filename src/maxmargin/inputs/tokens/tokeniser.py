"""Tokeniser: tokens of a text by a regular expression, with their offsets, and their labels by labelled spans."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any, ClassVar, Literal, NamedTuple

from maxmargin.base.errors import InvalidLabels, warn_caller
from maxmargin.base.files.fields import Text
from maxmargin.base.files.objects import Fields
from maxmargin.inputs.spans.span import AnnotatedText, Span, as_document, in_order
from maxmargin.inputs.tokens.chunk_schemes import ANY, ChunkScheme, named_scheme

WORDS_AND_SIGNS = r"\w+|[^\w\s]"
MisfitChoice = Literal["error", "repair", "drop"]


class Misfit(NamedTuple):
    """A span that token labels cannot express, or a text without tokens (then the span is None)."""

    document: int  # the number of the document
    span: Span | None
    problem: str  # a sentence that names the document, the offsets, and what was found


class LabelledTexts(NamedTuple):
    """Texts as lists of words with chunk labels, as `SequenceLabeler` takes them."""

    X: list[list[str]]
    Y: list[list[str | None]]  # None at all positions of a text that nobody has annotated
    documents: list[int]  # the number of the document of every element of X
    misfits: list[Misfit]  # all that was repaired or dropped; empty unless asked for


class Tokeniser:
    r"""Split texts into tokens by a regular expression, and keep the offsets of the tokens.

    Parameters
    ----------
    pattern : str
        A regular expression of the module `re`; its matches, from left to right, are the tokens. What lies between them
        belongs to no token. The default makes a token of every run of letters and digits, and of every other character
        that is no blank, so that annotated spans rarely cut tokens.

    Examples
    --------
    >>> from maxmargin import Tokeniser
    >>> tokeniser = Tokeniser()
    >>> tokeniser.words("Ada's book."), tokeniser.offsets("Ada's book.")[:2]
    (['Ada', "'", 's', 'book', '.'], [(0, 3), (3, 4)])
    >>> from maxmargin.formats import AnnotatedText, Span
    >>> tokeniser.labelled([AnnotatedText("Ada slept.", [Span(0, 3, "PER")])]).Y
    [['B-PER', 'O', 'O']]

    See Also
    --------
    TokenTemplates : keeps a tokeniser, so that a model takes texts.   maxmargin.formats.read_spans : reads spans.
    """

    saved: ClassVar[Fields] = {"pattern": Text()}
    saved_as: ClassVar[str] = "__init__"

    def __init__(self, pattern: str = WORDS_AND_SIGNS):
        try:
            self._expression = re.compile(pattern)
        except (re.error, TypeError, OverflowError, RecursionError) as error:
            raise ValueError(f"pattern is {pattern!r:.60}, which is no regular expression: {error}") from None
        if not isinstance(pattern, str) or self._expression.fullmatch(""):
            raise ValueError(f"pattern is {pattern!r:.60}; expected a text that does not match an empty text")
        self.pattern = pattern

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Return the first character of every token, and the one after its last."""
        if not isinstance(text, str):
            raise ValueError(f"the text is {text!r:.60}; expected a string")
        found = (match.span() for match in self._expression.finditer(text))
        return [(start, end) for start, end in found if start < end]

    def words(self, text: str) -> list[str]:
        """Return the tokens of a text."""
        return [text[start:end] for start, end in self.offsets(text)]

    def spans(self, text: str, labels: Sequence[str]) -> list[Span]:
        """Return the spans of a text whose tokens have these chunk labels, in any chunk scheme."""
        at = self.offsets(text)
        if len(labels) != len(at):
            raise ValueError(f"there are {len(labels)} labels for {len(at)} tokens")
        return [Span(at[a][0], at[b - 1][1], kind) for a, b, kind in ANY.chunks(labels)]

    def labelled(
        self, documents: Iterable[AnnotatedText], scheme: str = "BIO", invalid: MisfitChoice = "error"
    ) -> LabelledTexts:
        """Return the words of annotated texts with chunk labels for their spans.

        Parameters
        ----------
        documents : iterable of AnnotatedText
            Texts with spans, such as `formats.read_spans` returns.
        scheme : "BIO", "BILOU" or "IOBES"
            The chunk scheme of the labels.
        invalid : "error", "repair" or "drop"
            The treatment of spans that overlap an earlier one, cut a token, contain none or lie outside of the text,
            and of texts without any token; blanks at the ends of a span do not matter. "error" raises a ValueError that
            names the first. "drop" leaves all of them out, and "repair" as well, except that spans that cut tokens are
            widened to whole tokens. `misfits` lists what was changed, and a warning counts it.

        Returns
        -------
        LabelledTexts, with X, Y, documents and misfits.
        """
        if invalid not in ("error", "repair", "drop"):
            raise ValueError(f"invalid must be 'error', 'repair' or 'drop', got {invalid!r}")
        chosen, result = named_scheme(scheme), LabelledTexts([], [], [], [])
        n = 0
        for i, given in enumerate(documents):
            n += 1
            document = as_document(i, given)
            labels, misfits = self._labels(i, document, chosen, invalid == "repair")
            if misfits and invalid == "error":
                raise ValueError(f"{misfits[0].problem}; correct it, or give invalid='repair' or invalid='drop'")
            result.misfits.extend(misfits)
            if labels:
                result.X.append(self.words(document.text))
                result.Y.append(labels)
                result.documents.append(i)
        if result.misfits:
            warn_caller(
                f"{len(result.misfits)} spans or texts of {n} documents do not fit the tokens and were changed or left "
                f"out; misfits lists them (the first: {result.misfits[0].problem})",
                InvalidLabels,
            )
        return result

    def _labels(
        self, i: int, document: AnnotatedText, scheme: ChunkScheme, widen: bool
    ) -> tuple[list[str | None], list[Misfit]]:
        """Return the labels of a text, and what its labels do not express."""
        text, where = document.text, f"document {i}" + (f" ({document.name!r})" if document.name else "")
        at = self.offsets(text)
        if not at:
            return [], [Misfit(i, None, f"{where}: the text {text!r:.40} has no token")]
        if document.spans is None:
            return [None] * len(at), []
        chunks: list[tuple[int, int, str]] = []
        misfits: list[Misfit] = []
        taken: Span | None = None  # the last span that has got labels
        for span in in_order(document.spans):
            first, end = _tokens_of(span, at)
            problem, hopeless = _problem(span, text, at[first:end], taken)
            if problem:
                said = f"the span {span.start}:{span.end} {span.label!r} ({text[span.start : span.end]!r:.40})"
                misfits.append(Misfit(i, span, f"{where}: {said} {problem}"))
            if problem and (hopeless or not widen or (chunks and first < chunks[-1][1])):
                continue
            chunks.append((first, end, span.label))
            taken = span
        return scheme.labels(len(at), chunks), misfits

    def __repr__(self) -> str:
        return f"Tokeniser({self.pattern!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokeniser) and self.pattern == other.pattern

    def __hash__(self) -> int:
        return hash((Tokeniser, self.pattern))

    def __reduce__(self) -> Any:
        return Tokeniser, (self.pattern,)


def _tokens_of(span: Span, at: Sequence[tuple[int, int]]) -> tuple[int, int]:
    """Return the first of the tokens that a span touches, and the one after the last."""
    return bisect_right(at, span.start, key=itemgetter(1)), bisect_left(at, span.end, key=itemgetter(0))


def _problem(span: Span, text: str, tokens: Sequence[tuple[int, int]], taken: Span | None) -> tuple[str, bool]:
    """Return why labels cannot express a span, "" if they can, and whether widening it to whole tokens is no remedy.

    tokens : the offsets of the tokens that the span touches. Blanks at its ends do not matter.
    taken : the last span that has labels.
    """
    if not 0 <= span.start < span.end <= len(text):
        return f"does not fit the text, which has {len(text)} characters", True
    if taken is not None and span.start < taken.end:
        return f"overlaps the span {taken.start}:{taken.end} {taken.label!r}", True
    if not tokens:
        return "contains no token", True
    start, end = tokens[0][0], tokens[-1][1]
    if start < span.start or span.end < end or (text[span.start : start] + text[end : span.end]).strip():
        return f"does not begin and end with a token; whole tokens are {start}:{end} ({text[start:end]!r:.40})", False
    return "", False
