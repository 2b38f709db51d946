"""Explanation: the contributions of single weights to a score, as data, text and HTML."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from math import floor, fsum, isfinite, log10
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.arrays import Array
from maxmargin.base.checks import check_whole, is_whole
from maxmargin.base.weight_names import WeightNames
from maxmargin.problem.contract.pieces import Pieces, Unit, UnitPlace
from maxmargin.report.findings import counted
from maxmargin.report.html import Element, plain, short
from maxmargin.report.sections import table
from maxmargin.report.style import STYLE

LONGEST = 100  # characters of an output or a name in text


class Contribution(NamedTuple):
    """The share of one weight in a score, at one unit of the output: contribution = weight · value.

    Attributes
    ----------
    unit : str
        The unit of the output in words, such as "position 3".
    place : int, tuple of int or None
        The number of the unit, or the numbers of the elements that it connects; None: the whole output.
    kind : str
        The kind of weight, a key of `weights_`.
    names : tuple
        The names of the weight, one for each axis of weights_[kind].
    name : str
        Kind and names in words, as `top_weights` writes them.
    value : float
        The value of the feature, or the difference of its values in two outputs.
    weight : float
        The weight.
    contribution : float
        weight · value.

    See Also
    --------
    Explanation : All contributions to a score.

    Examples
    --------
    >>> from maxmargin import SequenceLabeler
    >>> model = SequenceLabeler().fit([[["word=a"], ["word=b"]]], [["A", "B"]])
    >>> found = model.explain([["word=a"], ["word=b"]], at=(0, 1)).contributions[0]
    >>> found.unit, found.name, found.contribution == found.weight * found.value
    ('transition 0–1', 'transitions: before=A, after=B', True)
    """

    unit: str
    place: UnitPlace
    kind: str
    names: tuple[Hashable, ...]
    name: str
    value: float
    weight: float
    contribution: float


class Total(NamedTuple):
    """The sum of several contributions."""

    name: str
    total: float


class Explanation:
    """The score of an output, or the difference of two scores, as a sum of contributions of named weights.

    It prints as text, and notebooks show it as a table. Both list the `n` largest contributions and the sum of all
    others.

    Attributes
    ----------
    contributions : list of Contribution
        All contributions that are not 0, those farthest from 0 first.
    total : float
        Their sum.
    output, against : object
        The output that is explained, and the one that it is compared with, or None.

    See Also
    --------
    Contribution : One entry of the list.

    Examples
    --------
    >>> from maxmargin import SequenceLabeler
    >>> X, Y = [[["word=the"], ["word=dog"]], [["word=dog"], ["word=barks"]]], [["D", "N"], ["N", "V"]]
    >>> found = SequenceLabeler().fit(X, Y).explain(X[0], against=["D", "V"])
    >>> found.output, found.against, found.total > 0
    (['D', 'N'], ['D', 'V'], True)
    >>> found.by_unit()[0].name
    'position 1'
    """

    def __init__(self, terms: Terms, output: Any, against: Any, model: str, at: Any, n: int):
        self._terms, self._contributions = terms, list[Contribution]()
        self.output, self.against, self.n = output, against, n
        self.total = _sum(terms.products.tolist())
        said = f"score of {short(output, LONGEST)}"
        if against is not None:
            said += f" minus score of {short(against, LONGEST)}"
        self._about = plain(f"{model}: {said}{'' if at is None else f', at {at!r}'} = {self.total:.6g}")

    @property
    def contributions(self) -> list[Contribution]:
        """All contributions that are not 0, those farthest from 0 first."""
        return self.top(len(self._terms.products))

    def by_unit(self) -> list[Total]:
        """Return the sums of the contributions of all units, those farthest from 0 first."""
        return _totals([(each.unit, each.contribution) for each in self.contributions])

    def by_weight(self) -> list[Total]:
        """Return the sums of the contributions of all weights over the units, those farthest from 0 first."""
        return _totals([(each.name, each.contribution) for each in self.contributions])

    def top(self, n: int | None = None) -> list[Contribution]:
        """Return the n largest contributions; None: as many as are shown."""
        n = self.n if n is None else check_whole("n", n, least=0)
        known = self._contributions
        if len(known) < min(n, len(self._terms.products)):
            more = range(len(known), min(n, len(self._terms.products)))
            known = self._contributions = [*known, *map(self._terms.contribution, more)]  # threads share no list
        return known[:n]

    def __getstate__(self) -> dict[str, Any]:
        names = self.contributions  # the names of all other weights of the model are not part of an explanation
        return {**self.__dict__, "_terms": self._terms._replace(names=None), "_contributions": names}

    def __str__(self) -> str:
        said_number = self._written()
        rows = [(said_number(row.contribution), row.unit, row.name, _product(row)) for row in self.top()]
        rows += [(said_number(total), "", said, "") for said, total in self._rest()]
        widths = [max((len(row[k]) for row in rows), default=0) for k in range(2)]
        name_width = min(LONGEST, max((len(row[2]) for row in rows), default=0))
        lines = [
            f"  {number:>{widths[0]}}  {unit:<{widths[1]}}  {plain(short(name, LONGEST)):<{name_width}}  {product}"
            for number, unit, name, product in rows
        ]
        return "\n".join([self._about, *(line.rstrip() for line in lines)])

    def __repr__(self) -> str:
        return f"<Explanation: {counted(len(self._terms.products), 'contribution')}, total {self.total:.4g}>"

    def element(self) -> Element:
        """Return the table as an element of a page."""
        largest, written = max((abs(each.contribution) for each in self.top()), default=0.0), self._written()

        def shaded(number: float) -> Element:
            shade = number / largest if largest and isfinite(largest) else 0.0
            return Element("td", written(number), class_="number", shade=shade)

        rows: list[list[Any]] = [
            [shaded(row.contribution), row.unit, Element("bdi", short(row.name, 2 * LONGEST)), _product(row)]
            for row in self.top()
        ]
        rows += [[written(total), "", said, ""] for said, total in self._rest()]
        shown = table(["contribution", "where", "weight", "value × weight"], rows, numbers=[0, 3])
        return Element("div", Element("p", self._about), shown)

    def _repr_html_(self) -> str:
        page = Element("html", Element("head", Element("style", STYLE)), Element("body", self.element()), lang="en")
        height = 110 + 34 * min(self.n + 1, len(self._terms.products) + 1)
        frame = Element("iframe", srcdoc=str(page), sandbox="", width="100%", height=height, title="Explanation")
        return str(frame)

    def _written(self) -> Callable[[float], str]:
        """Return how to write numbers: all with the decimal places that show four digits of the largest one."""
        largest = max((abs(number) for number in self._terms.products[:1].tolist()), default=0.0)
        if not 1e-5 <= largest < 1e7:
            return "{:+.3e}".format
        return f"{{:+.{max(0, 3 - floor(log10(largest)))}f}}".format

    def _rest(self) -> list[tuple[str, float]]:
        others = self._terms.products[self.n :]
        return [(counted(len(others), "other contribution"), _sum(others.tolist()))] if len(others) else []


class Terms(NamedTuple):
    """The terms of a score, those farthest from 0 first, as arrays."""

    units: Sequence[Unit]
    names: WeightNames | None
    owners: NDArray[np.int64]  # numbers of units
    indices: NDArray[np.int64]  # numbers of weights
    values: Array
    weights: Array
    products: Array

    def contribution(self, e: int) -> Contribution:
        """Return term e with its names."""
        assert self.names is not None
        kind, names, text, sign = self.names[int(self.indices[e])]
        unit, (value, weight) = (
            self.units[self.owners[e]],
            (sign * float(self.values[e]), sign * float(self.weights[e])),
        )
        return Contribution(str(unit), unit.place, kind, names, text, value, weight, float(self.products[e]))


def terms_of(w: Array, names: WeightNames, of: Pieces, against: Pieces | None, at: Any) -> Terms:
    """Return the terms of ⟨w, Ψ⟩ of one output, or of the difference of two.

    at : the chosen elements or units of the output (see `chosen_units`), or None for all.
    """
    parts = [of] if against is None else [of, against]
    units = list(dict.fromkeys(unit for part in parts for unit in part.units))
    number = {unit: k for k, unit in enumerate(units)}
    codes = []
    for part in parts:
        own = np.array([number[unit] for unit in part.units], dtype=np.int64)
        codes.append(own[part.owners] * len(w) + part.indices)
    different, which = np.unique(np.concatenate(codes), return_inverse=True)
    sums = np.zeros((2, len(different)))
    split = len(codes[0])
    for total, part, own in zip(sums, parts, (which[:split], which[split:]), strict=False):
        np.add.at(total, own, part.values)
    values = sums[0] - sums[1]  # each summed alone, so that what both outputs have in common cancels exactly
    owners, indices = np.divmod(different, len(w))
    kept = (values != 0) & (w[indices] != 0)
    if at is not None:
        kept &= chosen_units(units, at)[owners]
    owners, indices, values = owners[kept], indices[kept], values[kept]
    products = w[indices] * values
    order = np.argsort(-np.abs(products), kind="stable")
    indices = indices[order]
    return Terms(units, names, owners[order], indices, values[order], w[indices], products[order])


def chosen_units(units: Sequence[Unit], at: Any) -> NDArray[np.bool_]:
    """Return a mask of the units that `at` chooses.

    A whole number chooses all units that touch this element, a range or list those that touch any of several, and a
    tuple the unit at exactly this place.
    """
    if isinstance(at, tuple):
        mask = [unit.place == at for unit in units]
    elif is_whole(at):
        mask = [unit.touches(int(at)) for unit in units]
    else:
        elements = _elements(at)
        mask = [any(map(unit.touches, elements)) for unit in units]
    if not any(mask):
        if all(unit.place is None for unit in units):
            raise ValueError(f"at is {at!r}, but this output has no parts; leave `at` out")
        some = ", ".join(str(unit) for unit in units[:4])
        raise ValueError(f"at is {at!r}, but no part of the output is there; its parts are {some}, …")
    return np.array(mask, dtype=bool)


def _elements(at: Any) -> Sequence[int]:
    if isinstance(at, Sequence | np.ndarray | set | frozenset) and not isinstance(at, str) and all(map(is_whole, at)):
        return [int(each) for each in at]
    raise ValueError(
        f"at is {at!r}; expected the number of an element of the output, a range or list of numbers, or a tuple that "
        "names one unit"
    )


def _totals(pairs: Sequence[tuple[str, float]]) -> list[Total]:
    members: dict[str, list[float]] = {}
    for key, number in pairs:
        members.setdefault(key, []).append(number)
    totals = [Total(key, _sum(numbers)) for key, numbers in members.items()]
    return sorted(totals, key=lambda each: -abs(each.total))


def _product(row: Contribution) -> str:
    return f"{row.value:.4g} × {row.weight:.4g}"


def _sum(numbers: Sequence[float]) -> float:
    """Return the sum, rounded once; with infinite numbers as floating point defines it."""
    try:
        return fsum(numbers)
    except (OverflowError, ValueError):
        with np.errstate(all="ignore"):
            return float(np.sum(numbers))
