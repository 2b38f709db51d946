"""Productions: a context-free grammar in the form that CKY reads, and the derivations of trees in it.

Nodes with more than two children are split from the left: A → B C D E becomes

    A → B A⟨B⟩,   A⟨B⟩ → C A⟨B C⟩,   A⟨B C⟩ → D E

with a *part* A⟨…⟩ that remembers the children before it. With horizontal=None it remembers all of them; then exactly
the rules that were read can be derived. Otherwise it remembers the last few; then other rules can be derived as well,
so that a small treebank suffices to parse new sentences. Chains of unary nodes S → VP → VB over one span are sequences
of unary rules that are applied in one step, so that parsing needs no fixed point. A tree has exactly one derivation,
and a derivation stands for exactly one tree: `tree` undoes both changes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from maxmargin.base.files.fields import Each, Mapped, OneOf, Part, Text, Whole
from maxmargin.base.files.objects import Fields, declare
from maxmargin.structures.parsing.trees import Tree

Rows = NDArray[np.int32]  # (nodes, 5): chain, rule, begin, split, end of every node, a parent before its children
# The chain is -1 where there are no unary rules. Words have the rule -1, and the symbol of their tag as their split.
CHAIN, RULE, BEGIN, SPLIT, END = range(5)


class Symbol(NamedTuple):
    """A symbol of the grammar: a label, a tag, or a part of a phrase that a binary rule leaves over."""

    kind: str  # "label", "tag" or "part"
    name: str  # the label or tag
    above: tuple[str, ...] = ()  # labels of the ancestors that it remembers, nearest first
    before: tuple[tuple[str, str], ...] = ()  # kind and name of the children to the left that a part remembers

    def __str__(self) -> str:
        return self.written(())

    def written(self, quoted: Collection[str]) -> str:
        """Return the symbol as people write it, with quotes around tags of these names."""
        before = [_quoted(name, kind == "tag" and name in quoted) for kind, name in self.before]
        name = _quoted("^".join((self.name, *self.above)), self.kind == "tag" and self.name in quoted)
        return f"{name}⟨{' '.join(before)}⟩" if self.kind == "part" else name


declare(
    Symbol,
    {
        "kind": Text("label", "tag", "part"),
        "name": Text(),
        "above": Each(Text(), kind=tuple),
        "before": Each(Each(Text(), size=2, kind=tuple), kind=tuple),
    },
)


class Constituent(NamedTuple):
    """The chain of nodes over the words begin:end, and the children of the lowest node."""

    chain: tuple[Symbol, ...]  # from top to bottom
    begin: int
    end: int
    children: list[tuple[Symbol, int]]  # the highest symbol and the first word of each child; empty for a word


class NoDerivation(ValueError):  # noqa: N818 - what happened is the better name
    """The error that a tree uses a rule that the grammar does not have."""


class Productions:
    """A grammar: binary rules, unary rules, the chains in which unary rules occur, and roots.

    Order of calls: `read` or `read_rules`, then `sort`; then the other methods.

    horizontal : the number of children to the left that a part remembers; None: all
    vertical : 1 for plain labels; with v > 1 a label remembers its v - 1 nearest ancestors (Johnson 1998)
    """

    saved: ClassVar[Fields] = {
        "horizontal": OneOf(None, Whole()),
        "vertical": Whole(1),
        "symbols": Mapped(Part(Symbol), Whole()),
        "binary": Mapped(Each(Whole(), size=3, kind=tuple), Whole()),
        "unary": Mapped(Each(Whole(), size=2, kind=tuple), Whole()),
        "chains": Mapped(Each(Whole(), kind=tuple), Whole()),
        "roots": Mapped(Whole(), Whole(1)),
    }

    def __init__(self, horizontal: int | None = None, vertical: int = 1):
        self.horizontal, self.vertical = horizontal, vertical
        self.symbols: dict[Symbol, int] = {}
        self.binary: dict[tuple[int, int, int], int] = {}  # parent, left, right
        self.unary: dict[tuple[int, int], int] = {}  # parent, child
        self.chains: dict[tuple[int, ...], int] = {}  # symbols from top to bottom
        self.roots: Counter[int] = Counter()

    def _check_saved(self) -> None:
        """Check the numbers of symbols and rules, which charts trust."""
        for numbered in (self.symbols, self.binary, self.unary, self.chains):
            if list(numbered.values()) != list(range(len(numbered))):
                raise ValueError("rules or symbols are not numbered in order")
        n = len(self.symbols)
        if any(s >= n for rule in (*self.binary, *self.unary, *self.chains) for s in rule) or any(
            root >= n for root in self.roots
        ):
            raise ValueError("a rule has an unknown symbol")
        lefts = [left for _, left, _ in self.binary]
        if lefts != sorted(lefts) or not self.roots:
            raise ValueError("there is no root, or rules are not in the order of their left children")
        if any(len(chain) < 2 or any(pair not in self.unary for pair in pairwise(chain)) for chain in self.chains):
            raise ValueError("a unary chain contains a rule that is not unary")
        self.roots = Counter(self.roots)

    def read(self, trees: Iterable[Tree]) -> Productions:
        """Add the rules of these trees."""
        for i, tree in enumerate(trees):
            for node in self._constituents(tree, f"tree {i}"):
                self.add(node)
            self.roots[self._number(node.chain[0])] += 1  # the last constituent is the whole tree
        return self

    def read_rules(self, rules: str | Iterable[str]) -> Productions:
        """Add rules like "NP -> DT NN | NNP".

        The parent of the first rule is the root, and whatever is never on the left is a tag. Nothing else may be
        derived, so parts remember all siblings. All chains of the unary rules are added, so these may have no cycle.
        """
        if self.vertical > 1:
            raise ValueError(
                f"given rules do not contain the ancestors of labels; expected vertical=1, got {self.vertical}"
            )
        self.horizontal = None
        lines = rules.splitlines() if isinstance(rules, str) else rules
        if not isinstance(lines, Iterable):
            raise ValueError(f"rules are {rules!r}; expected strings like 'NP -> DT NN | NNP'")
        parsed = [rule for line in lines for rule in _rules_of_line(line)]
        if not parsed:
            raise ValueError("no rules given; expected strings like 'NP -> DT NN | NNP'")
        labels = {parent for parent, _ in parsed}
        names = [name for parent, children in parsed for name in (parent, *children)]
        symbols = {name: Symbol("label" if name in labels else "tag", name) for name in names}
        only_children: dict[str, list[str]] = {name: [] for name in symbols}
        for parent, children in parsed:
            if len(children) == 1:
                only_children[parent].append(children[0])
            else:
                begins = [(symbols[child], t) for t, child in enumerate(children)]
                self.add(Constituent((symbols[parent],), 0, len(children), begins))
        for chain in _chains(only_children):
            self.add(Constituent(tuple(symbols[name] for name in chain), 0, 1, []))
        self.roots[self._number(symbols[parsed[0][0]])] += 1
        return self

    def sort(self) -> Productions:
        """Number the binary rules by their left child, the order in which charts use them."""
        in_order = sorted(self.binary, key=lambda rule: (rule[1], rule[0], rule[2]))
        self.binary = {rule: number for number, rule in enumerate(in_order)}
        return self

    def add(self, node: Constituent) -> None:
        """Add the rules of one constituent."""
        chain = tuple(map(self._number, node.chain))
        if len(chain) > 1:
            self.chains.setdefault(chain, len(self.chains))
            for pair in pairwise(chain):
                self.unary.setdefault(pair, len(self.unary))
        for parent, left, right, *_ in self._split(node):
            rule = (self._number(parent), self._number(left), self._number(right))
            self.binary.setdefault(rule, len(self.binary))

    def derivation(self, tree: Tree, name: str) -> Rows:
        """Return the rows of the derivation of a tree; raise NoDerivation, which names the rule that is missing."""
        finished: list[list[list[int]]] = []  # rows of the constituents that wait for their parent
        for node in self._constituents(tree, name):
            chain = tuple(self._known(symbol, name) for symbol in node.chain)
            number = -1
            if len(chain) > 1:
                number = self.chains.get(chain, -1)
                if number < 0:
                    arrows = " → ".join(map(str, node.chain))
                    raise NoDerivation(f"{name}: the grammar has no unary rules {arrows}")
            if not node.children:
                finished.append([[number, -1, node.begin, chain[-1], node.end]])
                continue
            rows: list[list[int]] = []
            parts = finished[len(finished) - len(node.children) :]
            del finished[len(finished) - len(node.children) :]
            for t, (parent, left, right, begin, split) in enumerate(self._split(node)):
                rule = self.binary.get((self._known(parent, name), self._known(left, name), self._known(right, name)))
                if rule is None:
                    raise NoDerivation(f"{name}: the grammar has no rule {parent} → {left} {right}")
                rows.append([number if t == 0 else -1, rule, begin, split, node.end])
                rows.extend(parts[t])
            rows.extend(parts[-1])
            finished.append(rows)
        root = self._known(node.chain[0], name)
        if root not in self.roots:
            raise NoDerivation(f"{name}: {node.chain[0]} is not a root of the grammar")
        return np.array(finished[0], dtype=np.int32)

    def tree(self, rows: Rows, words: Sequence[str]) -> Tree:
        """Return the tree of a derivation."""
        symbols, binary, chains = list(self.symbols), list(self.binary), list(self.chains)
        waiting: list[list[Tree]] = []  # the trees of each finished span: several if its symbol is a part
        for chain, rule, begin, split, _ in rows[::-1].tolist():  # children before their parents, the left one on top
            if rule < 0:
                nodes = [Tree(symbols[split].name, [words[begin]])]
            else:
                parent = symbols[binary[rule][0]]
                nodes = waiting.pop() + waiting.pop()
                if parent.kind == "label":
                    nodes = [Tree(parent.name, nodes)]
            if chain >= 0:
                for symbol in chains[chain][-2::-1]:
                    nodes = [Tree(symbols[symbol].name, nodes)]
            waiting.append(nodes)
        return waiting[0][0]

    @property
    def tags(self) -> dict[str, int]:
        """The symbol of every tag."""
        return {symbol.name: s for symbol, s in self.symbols.items() if symbol.kind == "tag"}

    def names(self) -> tuple[list[str], list[str]]:
        """Return the rules, binary ones first, and the roots, as people write them, in the order of their weights.

        No two are written alike: a tag that has the name of a label stands in quotes.
        """
        labels = {symbol.name for symbol in self.symbols if symbol.kind == "label"}
        symbols = [symbol.written(labels) for symbol in self.symbols]
        binary = (f"{symbols[a]} → {symbols[b]} {symbols[c]}" for a, b, c in self.binary)
        unary = (f"{symbols[a]} → {symbols[b]}" for a, b in self.unary)
        return [*binary, *unary], [symbols[root] for root in self.roots]

    def _number(self, symbol: Symbol) -> int:
        return self.symbols.setdefault(symbol, len(self.symbols))

    def _known(self, symbol: Symbol, name: str) -> int:
        try:
            return self.symbols[symbol]
        except KeyError:
            raise NoDerivation(f"{name}: the grammar has no {symbol.kind} {symbol}") from None

    def _split(self, node: Constituent) -> Iterator[tuple[Symbol, Symbol, Symbol, int, int]]:
        """Yield the binary rules of a constituent, from the left: parent, left and right child, begin and split."""
        parent = lowest = node.chain[-1]
        names = [(symbol.kind, symbol.name) for symbol, _ in node.children]
        for t, (child, begin) in enumerate(node.children[:-1]):
            if t == len(node.children) - 2:
                right = node.children[-1][0]
            else:
                memory = names[: t + 1] if self.horizontal is None else names[max(t + 1 - self.horizontal, 0) : t + 1]
                right = Symbol("part", lowest.name, lowest.above, tuple(memory))
            yield parent, child, right, begin, node.children[t + 1][1]
            parent = right

    def _constituents(self, tree: Tree, name: str) -> Iterator[Constituent]:
        """Yield all constituents, children before their parents, without recursion, because trees may be deep."""
        position = 0  # the number of words read
        ancestors: list[str] = []
        stack: list[tuple[Constituent, Iterator[Tree]]] = []  # with the children that are still to be read
        following: Tree | None = tree
        while True:
            if following is not None:
                chain, lowest = self._chain(following, ancestors, name)
                ancestors.extend(symbol.name for symbol in chain)
                node = Constituent(chain, position, position, [])
                position += lowest.is_preterminal
                stack.append((node, iter(lowest.branches)))
            node, rest = stack[-1]
            following = next(rest, None)
            if following is not None:
                continue
            stack.pop()
            del ancestors[len(ancestors) - len(node.chain) :]
            yield node._replace(end=position)
            if not stack:
                return
            stack[-1][0].children.append((node.chain[0], node.begin))

    def _chain(self, tree: Tree, ancestors: list[str], name: str) -> tuple[tuple[Symbol, ...], Tree]:
        """Return the symbols from a node down to the first one that branches or is a preterminal, and that node."""
        chain: list[Symbol] = []
        names: list[str] = []
        while not tree.is_preterminal:
            if tree.label in names:
                cycle = " → ".join((*names[names.index(tree.label) :], tree.label))
                raise ValueError(
                    f"{name} has the unary cycle {cycle}; a label may stand only once over the same words "
                    "(Tree.cleaned() removes nodes that repeat their only child)"
                )
            near = (ancestors + names)[::-1][: self.vertical - 1]
            chain.append(Symbol("label", tree.label, tuple(near)))
            names.append(tree.label)
            if len(tree.branches) > 1:
                return tuple(chain), tree
            tree = tree.branches[0]
        chain.append(Symbol("tag", tree.label))
        return tuple(chain), tree


def _quoted(name: str, needed: bool) -> str:
    return f"'{name}'" if needed else name


def _rules_of_line(line: str) -> list[tuple[str, list[str]]]:
    """Return the rules (parent, children) on one line."""
    if isinstance(line, str) and not line.strip():
        return []
    parent, arrow, right = line.replace("→", "->").partition("->") if isinstance(line, str) else ("", "", "")
    choices = [choice.split() for choice in right.split("|")]
    if not arrow or len(parent.split()) != 1 or not all(choices) or "->" in right:
        raise ValueError(f"the rule {line!r} cannot be read; expected something like 'NP -> DT NN | NNP'")
    return [(parent.strip(), children) for children in choices]


def _chains(only_children: dict[str, list[str]]) -> Iterator[tuple[str, ...]]:
    """Yield all paths along one or more unary rules; raise a ValueError if one of them has a cycle."""
    waiting: list[tuple[str, ...]] = [(name,) for name in only_children]
    while waiting:
        path = waiting.pop()
        for name in only_children[path[-1]]:
            if name in path:
                cycle = " → ".join((*path[path.index(name) :], name))
                raise ValueError(f"the rules have the unary cycle {cycle}, so sentences have infinitely many trees")
            waiting.append((*path, name))
            yield waiting[-1]
