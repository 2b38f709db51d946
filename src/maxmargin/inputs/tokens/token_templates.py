"""TokenTemplates: features of tokens, described by a short list of texts.

    columns = ["word", "pos"]
    features = ["word[-1..1]", "pos[-1] | pos", "suffix(word, 3)", "in(word, city)"]

A feature is a column, or a function of one, of the token itself or of a token nearby: "word[-1]" is the previous word.
"word[-1..1]" stands for one feature at each of these offsets. Several terms joined by | make one feature. Beyond the
ends of a sentence the values are <s1>, <s2>, … and </s1>, </s2>, …
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from maxmargin.base.files.fields import Mapped, OneOf, Part, Text, Texts
from maxmargin.base.files.objects import Fields, Sometimes
from maxmargin.inputs.readers.text_file import TextFile, reading
from maxmargin.inputs.tokens.tokeniser import Tokeniser
from maxmargin.inputs.tokens.words import word_shape

Value = Callable[[str], str]

FUNCTIONS: dict[str, Value] = {  # "" makes no attribute
    "lower": str.lower,
    "shape": word_shape,
    "capital": lambda word: "yes" if word[:1].isupper() else "",
    "capitals": lambda word: "yes" if word.isupper() else "",
    "digit": lambda word: "yes" if any(map(str.isdigit, word)) else "",
    "number": lambda word: "yes" if word.isdigit() else "",
    "hyphen": lambda word: "yes" if "-" in word else "",
}
AFFIXES: dict[str, Callable[[int], Value]] = {  # with a number of letters
    "prefix": lambda k: lambda word: word[:k].lower(),
    "suffix": lambda k: lambda word: word[-k:].lower(),
}
BIAS = "bias"
TERM = re.compile(r"(?:(\w+)\(\s*)?(\w+)(?:\s*,\s*(\w+))?\s*(\))?(?:\[([+-]?\d+)(?:\.\.([+-]?\d+))?\])?")
FARTHEST = 9  # the largest offset to either side
REMEMBERED = 2**16  # values of a column whose attributes are cached


class Term(NamedTuple):
    """A column of a token, or a function of the column, at an offset from the current token."""

    column: int
    place: int  # the offset
    function: str = ""  # the name of the function; "" for the column itself
    argument: str = ""  # an argument of the function

    def text(self, columns: Sequence[str]) -> str:
        """Return the name of the term."""
        name = columns[self.column]
        if self.function:
            name = f"{self.function}({', '.join(filter(None, (name, self.argument)))})"
        return name + (f"[{self.place}]" if self.place else "")

    def value(self) -> Value:
        """Return the function from the text in the column to the value of the attribute."""
        if self.function in AFFIXES:
            return AFFIXES[self.function](int(self.argument))
        return FUNCTIONS.get(self.function, str)


class TokenTemplates:
    """Feature templates for `SequenceLabeler(features=…)`: tokens are tuples of columns, from which features are made.

    Parameters
    ----------
    features : list of str
        Such as "word", "word[-2..2]", "pos[-1] | pos", "lower(word)". Functions of a column are lower, shape (London:
        Xxx), prefix and suffix (with a length, in lower case), capital (the first letter is one), capitals (all are),
        digit (some character is one), number (all are), hyphen, and in (with a gazetteer). "bias" is a feature of all
        tokens.
    columns : list of str
        Names of the columns of a token. If there is only one, a token may be a string.
    gazetteers : dict or None
        Lists of phrases by name, with a blank between words: in(word, city) says that a token begins a phrase of the
        list "city" (B) or continues one (I); the longest phrases from the left match, with the same spelling.
    tokeniser : Tokeniser or None
        Splits raw texts into words, the only column, for `SequenceLabeler.predict_spans`.

    Notes
    -----
    Fitted models and their files contain the templates, with their tokeniser.

    Examples
    --------
    >>> from maxmargin import TokenTemplates
    >>> TokenTemplates(["word", "word[-1]", "suffix(word, 2)"], columns=["word"]).attributes(["the", "cat"])[1]
    ['word=cat', 'suffix(word, 2)=at', 'word[-1]=the']

    See Also
    --------
    SequenceLabeler, SegmentLabeler : the estimators that take templates.
    """

    saved: ClassVar[Fields] = {
        "features": Texts(),
        "columns": Texts(different=True),
        "gazetteers": Mapped(Text(), Texts()),
        "tokeniser": Sometimes(OneOf(None, Part(Tokeniser))),  # missing in older files
    }
    saved_as: ClassVar[str] = "__init__"

    def __init__(
        self,
        features: Iterable[str],
        columns: Iterable[str] = ("word",),
        gazetteers: Mapping[str, Iterable[str]] | None = None,
        tokeniser: Tokeniser | None = None,
    ):
        self.features, self.columns = _texts("features", features), _texts("columns", columns)
        self.gazetteers = {name: _texts(name, phrases) for name, phrases in (gazetteers or {}).items()}
        if not self.features:
            raise ValueError("features is an empty list; expected at least one feature")
        wrong = [name for name in self.columns if not re.fullmatch(r"[^\W\d]\w*", name)]
        if wrong or not self.columns or len(set(self.columns)) < len(self.columns) or BIAS in self.columns:
            raise ValueError(
                f"columns are {self.columns}; expected different names made of letters, digits and _, none "
                "of them 'bias'"
            )
        self.tokeniser = tokeniser
        if tokeniser is not None and (not isinstance(tokeniser, Tokeniser) or len(self.columns) > 1):
            raise ValueError(
                f"tokeniser is {tokeniser!r:.60} and columns are {self.columns}; expected None, or a Tokeniser with "
                "one column, which holds its words"
            )
        parsed = [self._parsed(feature) for feature in self.features]
        self._plan = _Plan([terms for alternatives in parsed for terms in alternatives], self.columns, self.gazetteers)

    @classmethod
    def usual(
        cls, n_columns: int, names: Sequence[str] | None = None, tokeniser: Tokeniser | None = None
    ) -> TokenTemplates:
        """Return templates to begin with: the window and spelling of a word, and further columns, the first a tag.

        names : the names of the columns; None: "word", "tag", "column3", …
        """
        columns = ["word", "tag", *(f"column{k}" for k in range(3, n_columns + 1))][:n_columns]
        features = [BIAS, "word[-2..2]", "word[-1] | word", "word | word[1]", "lower(word)", "shape(word)"]
        features += ["shape(word)[-1]", "shape(word)[1]"]
        features += [*(f"prefix(word, {k})" for k in (2, 3)), *(f"suffix(word, {k})" for k in (2, 3, 4))]
        features += [f"{name}(word)" for name in ("capital", "capitals", "digit", "number", "hyphen")]
        if n_columns > 1:
            features += ["tag[-2..2]", "tag[-2] | tag[-1]", "tag[-1] | tag", "tag | tag[1]", "tag[1] | tag[2]"]
            features += ["tag[-2] | tag[-1] | tag", "tag[-1] | tag | tag[1]", "tag | tag[1] | tag[2]"]
        features += [f"{name}[-1..1]" for name in columns[2:]]
        if names is not None:
            called = dict(zip(columns, names, strict=True))
            features = [re.sub(r"\w+", lambda found: called.get(found[0], found[0]), feature) for feature in features]
        return cls(features, columns if names is None else names, tokeniser=tokeniser)

    @classmethod
    def read(cls, source: TextFile) -> TokenTemplates:
        """Read templates from a TOML file with `features`, `columns` and optionally a table [gazetteers].

        `tokeniser` may give the regular expression of the words of a text. A gazetteer is a list of phrases, or the
        name of a file in the same folder with one phrase per line.
        """
        import tomllib

        with reading(source) as lines:
            try:
                given = tomllib.loads("\n".join(lines))
            except tomllib.TOMLDecodeError as error:
                raise ValueError(f"{lines.name} is not a TOML file: {error}") from None
            folder = Path(source).parent if isinstance(source, str | os.PathLike) else Path()
            try:
                unknown = set(given) - set(cls.saved)
                if (
                    unknown
                    or not {"features", "columns"} <= set(given)
                    or type(given.get("gazetteers", {})) is not dict
                ):
                    raise ValueError(
                        f"found the keys {', '.join(sorted(given))}; expected features, columns and perhaps tokeniser "
                        "and [gazetteers]"
                    )
                lists = {name: _phrases(name, each, folder) for name, each in given.get("gazetteers", {}).items()}
                tokeniser = Tokeniser(given["tokeniser"]) if "tokeniser" in given else None
                return cls(given["features"], given["columns"], lists, tokeniser)
            except ValueError as error:
                raise ValueError(f"{lines.name}: {error}") from None

    def attributes(self, sentence: Sequence[Any]) -> list[list[str]]:
        """Return the attributes of every token of a sentence."""
        if len(self.columns) == 1:
            sentence = [(token,) if isinstance(token, str) else token for token in sentence]
        if not sentence:
            return []
        try:
            if not set(map(type, sentence)) <= {tuple, list} or set(map(len, sentence)) != {len(self.columns)}:
                raise TypeError
            columns = list(zip(*sentence, strict=True))
            for column in columns:
                "".join(column)  # the fastest check that all are texts
        except TypeError:
            raise self._wrong_token(sentence) from None
        return self._plan.attributes(columns)

    def _wrong_token(self, sentence: Sequence[Any]) -> ValueError:
        n = len(self.columns)
        for t, token in enumerate(sentence):
            right = isinstance(token, tuple | list) and len(token) == n
            if not right or not all(isinstance(column, str) for column in token):
                names = ", ".join(self.columns)
                return ValueError(f"position {t}: the token is {token!r}; expected a tuple of texts, ({names})")
        return ValueError(f"tokens are of {len(set(map(type, sentence)))} types; expected tuples or lists of texts")

    def attributes_of_all(self, X: Iterable[Sequence[Any]]) -> Iterator[list[list[str]]]:
        """Yield the attributes of every sentence; errors name the sentence."""
        for i, sentence in enumerate(X):
            try:
                yield self.attributes(sentence)
            except ValueError as error:
                raise ValueError(f"sequence {i}, {error}") from None

    def __repr__(self) -> str:
        lists = f", gazetteers={self.gazetteers!r}" if self.gazetteers else ""
        words = f", tokeniser={self.tokeniser!r}" if self.tokeniser is not None else ""
        return f"TokenTemplates(features={self.features!r}, columns={self.columns!r}{lists}{words})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TokenTemplates) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __reduce__(self) -> Any:
        return TokenTemplates, (self.features, self.columns, self.gazetteers, self.tokeniser)

    def _parsed(self, feature: str) -> list[list[Term]]:
        """Return the features that a text stands for, each a conjunction of terms; no term means bias."""
        if feature.strip() == BIAS:
            return [[]]
        each = [self._terms(text.strip(), feature) for text in feature.split("|")]
        if len(each) == 1:
            return [[term] for term in each[0]]
        if any(len(terms) > 1 for terms in each):
            raise ValueError(
                f"the feature {feature!r} combines a range with |; expected a single offset on each side of |"
            )
        return [[terms[0] for terms in each]]

    def _terms(self, text: str, feature: str) -> list[Term]:
        match = TERM.fullmatch(text)
        function, column, argument, closing, first, last = match.groups() if match else [None] * 6
        if match is None or (function is None) != (closing is None) or (argument is not None and function is None):
            raise ValueError(
                f"the feature {feature!r} has {text!r}; expected column[-1..1] or function(column)[offset]"
            )
        if column not in self.columns:
            raise ValueError(
                f"the feature {feature!r} names the column {column!r}; columns are {', '.join(self.columns)}"
            )
        self._check_function(feature, function, argument)
        begin = int(first or 0)
        end = int(last) if last else begin
        if not -FARTHEST <= begin <= end <= FARTHEST:
            raise ValueError(f"the feature {feature!r} looks at {begin} to {end}; expected offsets from -9 to 9")
        at = self.columns.index(column)
        return [Term(at, place, function or "", argument or "") for place in range(begin, end + 1)]

    def _check_function(self, feature: str, function: str | None, argument: str | None) -> None:
        if function in AFFIXES:
            if argument is None or not argument.isdecimal() or not 1 <= int(argument) <= 20:
                raise ValueError(f"the feature {feature!r} needs a length of 1 to 20, as in {function}(word, 3)")
        elif function == "in":
            if argument not in self.gazetteers:
                known = ", ".join(self.gazetteers) or "none"
                raise ValueError(f"the feature {feature!r} names the gazetteer {argument!r}; expected {known}")
        elif function is not None and (function not in FUNCTIONS or argument is not None):
            known = ", ".join([*FUNCTIONS, *AFFIXES, "in"])
            raise ValueError(f"the feature {feature!r} names the function {function!r}; expected one of {known}")


class _Plan:
    """A plan for making attributes: all attributes of a column and an offset at once, conjunctions one by one."""

    def __init__(self, features: list[list[Term]], columns: Sequence[str], gazetteers: Mapping[str, list[str]]):
        single = [terms[0] for terms in features if len(terms) == 1 and terms[0].function != "in"]
        self.joint = [
            (" | ".join(term.text(columns) for term in terms) + "=", terms)
            for terms in features
            if len(terms) > 1 or (terms and terms[0].function == "in")
        ]
        self.constant = [BIAS] if [] in features else []
        together: dict[tuple[int, int], list[tuple[str, Value]]] = {}
        for term in single:
            together.setdefault((term.column, term.place), []).append((f"{term.text(columns)}=", term.value()))
        self.several = {at: _Remembered(makers) for at, makers in together.items() if len(makers) > 1}
        self.one = {at: _RememberedValue(_named(*makers[0])) for at, makers in together.items() if len(makers) == 1}
        self.values = {term[2:]: _RememberedValue(term.value()) for _, terms in self.joint for term in terms}
        self.lists = {name: _Phrases(phrases) for name, phrases in gazetteers.items()}
        self.width = max((abs(term.place) for terms in features for term in terms), default=0)
        alone = [term for term in single if (term.column, term.place) in self.one]
        self.gaps = any(term.function for term in chain(alone, *(terms for _, terms in self.joint)))

    def attributes(self, columns: Sequence[Sequence[str]]) -> list[list[str]]:
        n, width = len(columns[0]), self.width
        before = [f"<s{k}>" for k in range(width, 0, -1)]
        after = [f"</s{k}>" for k in range(1, width + 1)]
        padded = [[*before, *column, *after] for column in columns]
        gaps = self.gaps or any("" in column for column in columns)  # some tokens may lack an attribute

        def looked_up(known: Any, column: int, place: int) -> Iterator[Any]:
            return map(known.__getitem__, padded[column][width + place : width + place + n])

        several = [looked_up(known, *at) for at, known in self.several.items()]
        single: list[Iterable[str]] = [looked_up(known, *at) for at, known in self.one.items()]
        single += [self._joint(name, terms, padded, n, gaps) for name, terms in self.joint]
        grouped = map(chain.from_iterable, zip(*several, strict=True)) if several else repeat((), n)
        others = zip(*single, strict=True) if single else repeat((), n)
        made = [[*self.constant, *group, *each] for group, each in zip(grouped, others, strict=True)]
        return [list(filter(None, token)) for token in made] if gaps else made

    def _joint(self, name: str, terms: list[Term], padded: list[list[str]], n: int, gaps: bool) -> list[str]:
        """Return the attribute of every token; "" if it has none."""
        values = []
        for term in terms:
            column = padded[term.column]
            if term.function == "in":
                column = self.lists[term.argument].marks(column)
            elif term.function:
                column = list(map(self.values[term[2:]].__getitem__, column))
            begin = self.width + term.place
            values.append(column[begin : begin + n])
        if len(values) == 1:
            return [name + value if value else "" for value in values[0]]
        if gaps:
            return [name + "|".join(each) if all(each) else "" for each in zip(*values, strict=True)]
        if len(values) == 2:
            return [f"{name}{a}|{b}" for a, b in zip(*values, strict=True)]
        return [name + "|".join(each) for each in zip(*values, strict=True)]


def _named(name: str, value: Value) -> Value:
    """Return the function from a text to the attribute of this name."""

    def attribute(word: str) -> str:
        text = value(word)
        return name + text if text else ""

    return attribute


class _Remembered(dict[str, tuple[str, ...]]):
    """A cache of the attributes of a value."""

    def __init__(self, makers: list[tuple[str, Value]]):
        self.makers = makers

    def __missing__(self, value: str) -> tuple[str, ...]:
        if len(self) >= REMEMBERED:
            self.clear()
        self[value] = found = tuple([name + text for name, maker in self.makers if (text := maker(value))])
        return found


class _RememberedValue(dict[str, str]):
    """A cache of a function of a value."""

    def __init__(self, function: Value):
        self.function = function

    def __missing__(self, value: str) -> str:
        if len(self) >= REMEMBERED:
            self.clear()
        self[value] = found = self.function(value)
        return found


class _Phrases:
    """A gazetteer: its phrases by their first words, long ones first."""

    def __init__(self, phrases: Iterable[str]):
        self.by_first: dict[str, list[list[str]]] = {}
        for words in sorted({tuple(phrase.split()) for phrase in phrases} - {()}, key=len, reverse=True):
            self.by_first.setdefault(words[0], []).append(list(words))

    def marks(self, words: list[str]) -> list[str]:
        """Return B at the first word of a phrase, I at its other words, "" elsewhere."""
        found, t = [""] * len(words), 0
        while t < len(words):
            phrases = self.by_first.get(words[t], ())
            length = next((len(phrase) for phrase in phrases if words[t : t + len(phrase)] == phrase), 0)
            found[t : t + length] = ["B", *["I"] * (length - 1)][:length]
            t += max(length, 1)
        return found


def _texts(name: str, given: Iterable[str]) -> list[str]:
    found = [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)
    if isinstance(given, str) or not all(isinstance(text, str) for text in found):
        raise ValueError(f"{name} is {given!r}; expected a list of texts")
    return found


def _phrases(name: str, given: Any, folder: Path) -> list[str]:
    if not isinstance(given, str):
        return _texts(name, given)
    with reading(folder / given) as lines:
        return [line for line in lines if line.strip()]
